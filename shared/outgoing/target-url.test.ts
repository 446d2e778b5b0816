import { expect, test } from 'vitest';
import type { OutgoingErrorCode } from './outgoing-error.ts';
import { readAllowedHosts, readTargetUrl } from './target-url.ts';

const none = readAllowedHosts([]);

test.each<[string, OutgoingErrorCode]>([
  ['http://127.0.0.1/', 'forbidden_address'],
  ['http://2130706433/', 'forbidden_address'],
  ['http://017700000001/', 'forbidden_address'],
  ['http://0177.0.0.1/', 'forbidden_address'],
  ['http://0x7f000001/', 'forbidden_address'],
  ['http://0x7f.0.0.1/', 'forbidden_address'],
  ['http://127.1/', 'forbidden_address'],
  ['http://127.0.1/', 'forbidden_address'],
  ['http://0/', 'forbidden_address'],
  ['http://127.0.0.1./', 'forbidden_address'],
  ['http://①②⑦.⓪.⓪.①/', 'forbidden_address'],
  ['http://127。0。0。1/', 'forbidden_address'],
  ['http://%31%32%37.0.0.1/', 'forbidden_address'],
  ['http:127.0.0.1/', 'forbidden_address'],
  ['http:\\\\127.0.0.1\\', 'forbidden_address'],
  ['http://2852039166/latest/meta-data', 'forbidden_address'],
  ['http://[::1]/', 'forbidden_address'],
  ['http://[::]/', 'forbidden_address'],
  ['http://[::ffff:127.0.0.1]/', 'forbidden_address'],
  ['http://[0:0:0:0:0:ffff:7f00:0001]/', 'forbidden_address'],
  ['http://[::127.0.0.1]/', 'forbidden_address'],
  ['http://[64:ff9b::127.0.0.1]/', 'forbidden_address'],
  ['http://[2002:7f00:0001::]/', 'forbidden_address'],
  ['http://[fd00:ec2::254]/', 'forbidden_address'],
  ['https://10.0.0.8:8443/hook', 'forbidden_address'],
  ['http://localhost/', 'forbidden_address'],
  ['http://LOCALHOST./', 'forbidden_address'],
  ['http://a.localhost/', 'forbidden_address'],
  ['http://printer.local/', 'forbidden_address'],
  ['http://metadata.google.internal/', 'forbidden_address'],
  ['http://user@example.com/', 'has_credentials'],
  ['http://:secret@example.com/', 'has_credentials'],
  ['http://127.0.0.1%2f@example.com/', 'has_credentials'],
  ['ftp://example.com/', 'unsupported_scheme'],
  ['file:///etc/passwd', 'unsupported_scheme'],
  ['gopher://example.com/', 'unsupported_scheme'],
  ['javascript:alert(1)', 'unsupported_scheme'],
  ['ws://example.com/', 'unsupported_scheme'],
  ['http://{{host}}/', 'invalid_url'],
  ['http://{{host}}.example.com/', 'invalid_url'],
  ['http://a..example.com/', 'invalid_url'],
  ['http://4294967297/', 'invalid_url'],
  ['http://[fe80::1%25eth0]/', 'invalid_url'],
  ['http://', 'invalid_url'],
  ['/hook', 'invalid_url'],
  [`http://example.com/${'x'.repeat(4_000)}`, 'invalid_url'],
])('%s is refused as %s', (url, code) => {
  expect(() => readTargetUrl(url, none)).toThrow(expect.objectContaining({ code }));
});

test.each([
  ['https://example.com/hook?x=1'],
  ['http://example.com:8080/'],
  ['https://8.8.8.8/'],
  ['https://[2001:4860:4860::8888]/'],
  ['https://münchen.example/'],
  ['https://my_host.example.com/'],
  ['https://example.com/{{dynamic}}'],
])('%s is accepted', (url) => {
  expect(readTargetUrl(url, none).isOpened).toBe(false);
});

test('the list opens exactly the named host and port', () => {
  const allowed = readAllowedHosts(['127.0.0.1:9000', 'hooks.test:443', '[::1]:8080', 'LOCALHOST:3000']);

  expect(readTargetUrl('http://127.0.0.1:9000/x', allowed).isOpened).toBe(true);
  expect(readTargetUrl('http://2130706433:9000/x', allowed).isOpened).toBe(true);
  expect(readTargetUrl('https://hooks.test/x', allowed).isOpened).toBe(true);
  expect(readTargetUrl('http://[::1]:8080/x', allowed).isOpened).toBe(true);
  expect(readTargetUrl('http://localhost:3000/', allowed).isOpened).toBe(true);
  expect(readTargetUrl('http://hooks.test/x', allowed).isOpened).toBe(false);
  expect(() => readTargetUrl('http://127.0.0.1:9001/x', allowed)).toThrow(
    'URL must point to a public address',
  );
});

test.each([
  ['127.0.0.1'],
  ['http://x:80'],
  ['x:port'],
  ['a b:80'],
  ['::1:80'],
  ['x:99999'],
  ['x:80/path'],
  [''],
])('%j is no entry of the list', (entry) => {
  expect(() => readAllowedHosts([entry])).toThrow('not a host:port entry');
});
