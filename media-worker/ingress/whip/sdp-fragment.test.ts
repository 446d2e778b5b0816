import { expect, test } from 'vitest';
import { fragmentCandidates, iceUserFragments } from './sdp-fragment.ts';

test('each candidate carries the section it stands in', () => {
  const fragment = [
    'a=ice-ufrag:EsAw',
    'm=audio 9 RTP/AVP 0',
    'a=mid:a',
    'a=candidate:1',
    'm=application 9 UDP/DTLS/SCTP x',
    'a=mid:d',
    'a=candidate:2',
    'a=end-of-candidates',
  ].join('\r\n');

  expect(fragmentCandidates(fragment)).toEqual([
    { candidate: 'candidate:1', sdpMid: 'a', sdpMLineIndex: 0 },
    { candidate: 'candidate:2', sdpMid: 'd', sdpMLineIndex: 1 },
  ]);
  expect(iceUserFragments(fragment)).toEqual(['EsAw']);
});

test('no more than 64 candidates are read', () => {
  expect(fragmentCandidates('a=candidate:1\n'.repeat(500))).toHaveLength(64);
});
