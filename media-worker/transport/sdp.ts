/**
 * Small edits of session descriptions (RFC 8866). They work on lines, keep every line they don't know, and keep
 * the line endings.
 */

/** Whether a media section of `kind` is there and not rejected (port 0). */
export function hasMedia(sdp: string, kind: 'audio' | 'video' | 'application'): boolean {
  return lines(sdp).some((line) => {
    const [media, port] = line.split(' ');
    return media === `m=${kind}` && port !== undefined && port !== '0';
  });
}

/**
 * Asks for `bitrateBps` on every Opus payload type (RFC 7587 `maxaveragebitrate`). In a remote description this
 * sets what our own encoder sends.
 */
export function withOpusBitrate(sdp: string, bitrateBps: number): string {
  const all = lines(sdp);
  const opus = new Set(all.flatMap((line) => /^a=rtpmap:(\d+) opus\//i.exec(line)?.[1] ?? []));
  const described = new Set(all.flatMap((line) => /^a=fmtp:(\d+) /.exec(line)?.[1] ?? []));
  const asked = `maxaveragebitrate=${bitrateBps}`;
  const edited = all.flatMap((line) => {
    const fmtp = /^a=fmtp:(\d+) (.*)$/.exec(line);
    if (fmtp?.[1] !== undefined && opus.has(fmtp[1])) {
      const kept = (fmtp[2] ?? '').split(';').filter((p) => !/^\s*(maxaveragebitrate=|$)/.test(p));
      return [`a=fmtp:${fmtp[1]} ${[...kept, asked].join(';')}`];
    }
    const type = /^a=rtpmap:(\d+) opus\//i.exec(line)?.[1];
    if (type !== undefined && !described.has(type)) return [line, `a=fmtp:${type} ${asked}`];
    return [line];
  });
  return edited.join('\r\n');
}

/** Names the sent track: `streamId` and `trackId` are what the receiving side's events show. */
export function withTrackName(sdp: string, streamId: string, trackId: string): string {
  return lines(sdp)
    .map((line) =>
      line
        .replace(/^a=msid:\S+ \S+$/, `a=msid:${streamId} ${trackId}`)
        .replace(/^(a=ssrc:\d+ msid:)\S+ \S+$/, `$1${streamId} ${trackId}`),
    )
    .join('\r\n');
}

/** Replaces each candidate line by what `edit` makes of its value (`candidate:…`), none to drop it. */
export function withCandidates(sdp: string, edit: (candidate: string) => readonly string[]): string {
  return lines(sdp)
    .flatMap((line) =>
      line.startsWith('a=candidate:') ? edit(line.slice(2)).map((candidate) => `a=${candidate}`) : [line],
    )
    .join('\r\n');
}

function lines(sdp: string): string[] {
  return sdp.split(/\r\n|\n/);
}
