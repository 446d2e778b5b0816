import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { withOpusBitrate } from '../../media-worker/transport/sdp.ts';
import { DEFAULT_WEBRTC_SETTINGS } from '../../media-worker/transport/webrtc-settings.ts';
import {
  newAudioSink,
  newAudioSource,
  newPeerConnection,
  type PeerConnection,
} from '../../media-worker/transport/wrtc.ts';
import { systemClock } from '../../shared/time.ts';
import { answerQuestions } from '../support/worker-process-side.ts';
import { sampleProcess } from './process-sample.ts';

const GATHER_LIMIT_MS = 1_500;

/** The least a media server can do: every frame goes back as it came, on the addon and nothing else. */
async function answer(offer: string): Promise<string> {
  const pc = newPeerConnection({ iceServers: [], iceTransportPolicy: 'all', bundlePolicy: 'max-bundle' });
  const source = newAudioSource();
  pc.addTrack(source.createTrack());
  pc.ontrack = ({ track }) => {
    const sink = newAudioSink(track);
    sink.ondata = ({ samples, sampleRate }) => source.onData({ samples, sampleRate });
  };
  // The same encoder settings as the worker's, so that the difference is the pipeline alone.
  const sdp = withOpusBitrate(offer, DEFAULT_WEBRTC_SETTINGS.opusBitrateBps ?? 80_000);
  await pc.setRemoteDescription({ type: 'offer', sdp });
  await pc.setLocalDescription(await pc.createAnswer());
  await gathered(pc);
  return pc.localDescription?.sdp ?? '';
}

async function gathered(pc: PeerConnection): Promise<void> {
  const endMs = performance.now() + GATHER_LIMIT_MS;
  while (pc.iceGatheringState !== 'complete' && performance.now() < endMs) await systemClock.sleep(5);
}

async function readText(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces).toString('utf8');
}

const server = createServer((request, response) => {
  if (request.method !== 'POST') {
    response.end();
    return;
  }
  readText(request)
    .then(answer)
    .then(
      (sdp) => response.writeHead(201, { 'content-type': 'application/sdp', location: '/whip/1' }).end(sdp),
      () => response.writeHead(500).end(),
    );
});

const handlers = {
  start: async (_: null) => {
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return { port: (server.address() as AddressInfo).port };
  },
  sample: ({ collectsGarbage }: { collectsGarbage: boolean }) => sampleProcess(collectsGarbage),
};
export type EchoHandlers = typeof handlers;

answerQuestions(handlers);
