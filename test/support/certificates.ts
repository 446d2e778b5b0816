import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

export interface TestCertificate {
  readonly caPem: string;
  readonly certPem: string;
  readonly keyPem: string;
}

export interface TestAuthority {
  /** A certificate for both ends of a connection, valid for the names (`DNS:…`, `IP:…`) for one day. */
  issue(name: string, altNames?: string): Promise<TestCertificate>;
  remove(): Promise<void>;
}

/** A certificate authority of its own, made by the openssl command line in a temporary directory. */
export async function createTestAuthority(): Promise<TestAuthority> {
  const dir = await mkdtemp(join(tmpdir(), 'parley-ca-'));
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '1'];
  const [caKey, caCert] = [join(dir, 'ca.key'), join(dir, 'ca.pem')];
  await run('openssl', [
    'req',
    '-x509',
    ...newKey,
    '-keyout',
    caKey,
    '-out',
    caCert,
    '-subj',
    '/CN=test authority',
  ]);
  const caPem = await readFile(caCert, 'utf8');
  let count = 0;

  async function issue(name: string, altNames = 'DNS:localhost,IP:127.0.0.1'): Promise<TestCertificate> {
    const stem = join(dir, String(count++));
    const [key, request, cert] = [`${stem}.key`, `${stem}.csr`, `${stem}.pem`];
    await run('openssl', [
      'req',
      ...newKey.slice(0, 5),
      '-keyout',
      key,
      '-out',
      request,
      '-subj',
      `/CN=${name}`,
      '-addext',
      `subjectAltName=${altNames}`,
    ]);
    await run('openssl', [
      'x509',
      '-req',
      '-in',
      request,
      '-CA',
      caCert,
      '-CAkey',
      caKey,
      '-CAcreateserial',
      '-copy_extensions',
      'copy',
      '-days',
      '1',
      '-out',
      cert,
    ]);
    return { caPem, certPem: await readFile(cert, 'utf8'), keyPem: await readFile(key, 'utf8') };
  }

  return { issue, remove: () => rm(dir, { recursive: true, force: true }) };
}
