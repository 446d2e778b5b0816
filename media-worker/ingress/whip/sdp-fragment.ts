import type { CandidateInit } from '../../transport/wrtc.ts';

/** More candidates than this in one fragment are not read. */
const MAX_CANDIDATES = 64;

/** Candidates of a trickle-ice-sdpfrag (RFC 8840), each with the media section it stands in. */
export function fragmentCandidates(fragment: string): CandidateInit[] {
  const candidates: CandidateInit[] = [];
  let sdpMid: string | null = null;
  let sdpMLineIndex = -1;
  for (const line of fragment.split(/\r\n|\n/)) {
    if (line.startsWith('m=')) {
      sdpMLineIndex += 1;
      sdpMid = null;
    } else if (line.startsWith('a=mid:')) sdpMid = line.slice('a=mid:'.length);
    else if (line.startsWith('a=candidate:') && candidates.length < MAX_CANDIDATES) {
      candidates.push({ candidate: line.slice(2), sdpMid, sdpMLineIndex: Math.max(0, sdpMLineIndex) });
    }
  }
  return candidates;
}

/** The ICE user fragments that a description or fragment names: another one than before is an ICE restart. */
export function iceUserFragments(sdp: string): string[] {
  return [...sdp.matchAll(/^a=ice-ufrag:(\S+)/gm)].map((match) => match[1] ?? '');
}
