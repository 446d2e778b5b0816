import { describe, expect, test } from 'vitest';
import { readSdp } from '../../test/conformance/sdp-fixture.ts';
import { hasMedia, withCandidates, withOpusBitrate, withTrackName } from './sdp.ts';

const CLIENTS = ['rtc-node-subscriber-answer', 'livekit-client-subscriber-answer', 'aiortc-offer'];

describe.each(CLIENTS)('the description of %s', (name) => {
  test('asks for the bitrate once per Opus payload type and changes nothing else', async () => {
    const sdp = await readSdp(name);

    const asked = withOpusBitrate(sdp, 80_000);

    const opusTypes = new Set([...sdp.matchAll(/^a=rtpmap:(\d+) opus\//gim)].map((match) => match[1]));
    const opusSections = [...sdp.matchAll(/^a=rtpmap:\d+ opus\//gim)].length;
    expect(asked.match(/maxaveragebitrate=80000/g)).toHaveLength(opusSections);
    for (const line of asked.split('\r\n').filter((one) => one.includes('maxaveragebitrate'))) {
      expect(opusTypes).toContain(/^a=fmtp:(\d+) /.exec(line)?.[1]);
    }
    const withoutIt = (text: string) =>
      text
        .split(/\r\n/)
        .filter((line) => !/^a=fmtp:/.test(line) || !opusTypes.has(/^a=fmtp:(\d+)/.exec(line)?.[1]));
    expect(withoutIt(asked)).toEqual(withoutIt(sdp));
  });

  test('asking twice asks for the last value', async () => {
    const asked = withOpusBitrate(withOpusBitrate(await readSdp(name), 20_000), 80_000);

    expect(asked).not.toContain('20000');
  });

  test('has audio', async () => {
    expect(hasMedia(await readSdp(name), 'audio')).toBe(true);
  });
});

test('a rejected section is no media', () => {
  expect(hasMedia('m=audio 0 UDP/TLS/RTP/SAVPF 111\r\n', 'audio')).toBe(false);
  expect(hasMedia('m=audio 9 UDP/TLS/RTP/SAVPF 111\r\n', 'video')).toBe(false);
});

test('the sent track gets its name in both places', () => {
  const sdp = 'a=msid:- abc\r\na=ssrc:1 cname:x\r\na=ssrc:1 msid:- abc\r\na=msid-semantic: WMS\r\n';

  expect(withTrackName(sdp, 'PA_1|TR_1', 'TR_1')).toBe(
    'a=msid:PA_1|TR_1 TR_1\r\na=ssrc:1 cname:x\r\na=ssrc:1 msid:PA_1|TR_1 TR_1\r\na=msid-semantic: WMS\r\n',
  );
});

test('candidates are dropped, kept and doubled', () => {
  const sdp = 'v=0\r\na=candidate:1\r\na=candidate:2\r\na=end-of-candidates\r\n';

  const edited = withCandidates(sdp, (candidate) =>
    candidate === 'candidate:1' ? [] : [candidate, 'candidate:3'],
  );

  expect(edited).toBe('v=0\r\na=candidate:2\r\na=candidate:3\r\na=end-of-candidates\r\n');
});
