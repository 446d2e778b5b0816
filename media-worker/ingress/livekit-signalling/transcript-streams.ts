import { randomUUID } from 'node:crypto';
import { TRANSCRIPTION_TOPIC } from '../../../shared/livekit-events.ts';
import { chunksOf, streamChunk, streamHeader, streamTrailer } from './data-packets.ts';

export interface TranscriptStreamsDeps {
  readonly send: (packet: Uint8Array) => void;
  readonly nowMs: () => number;
}

interface Speaker {
  readonly identity: string;
  /** Sid of the audio track whose words these are; empty when there is none. */
  readonly trackSid: string;
}

interface OpenSegment {
  readonly streamId: string;
  nextChunk: number;
}

/** How many agent segments may be open at once; the oldest is closed for a further one. */
const MAX_OPEN_SEGMENTS = 8;

/**
 * Transcripts as text streams on `lk.transcription`. The agent's segment is one stream that grows by deltas and is
 * final when it closes; each update of the caller's segment is a whole stream of its own that replaces the text.
 */
export class TranscriptStreams {
  readonly #deps: TranscriptStreamsDeps;
  readonly #open = new Map<string, OpenSegment>();

  constructor(deps: TranscriptStreamsDeps) {
    this.#deps = deps;
  }

  append(speaker: Speaker, segmentId: string, delta: string, isFinal: boolean): void {
    const segment = this.#open.get(segmentId) ?? this.#begin(speaker, segmentId);
    for (const content of chunksOf(delta)) {
      this.#deps.send(streamChunk(speaker.identity, segment.streamId, segment.nextChunk, content));
      segment.nextChunk += 1;
    }
    if (isFinal) this.#end(speaker, segmentId, segment);
  }

  replace(speaker: Speaker, segmentId: string, text: string, isFinal: boolean): void {
    const streamId = randomUUID();
    const chunks = chunksOf(text);
    this.#deps.send(
      streamHeader(speaker.identity, {
        streamId,
        topic: TRANSCRIPTION_TOPIC,
        atMs: this.#deps.nowMs(),
        attributes: attributesOf(speaker, segmentId, isFinal),
        totalBytes: chunks.reduce((sum, chunk) => sum + chunk.length, 0),
      }),
    );
    for (const [index, content] of chunks.entries()) {
      this.#deps.send(streamChunk(speaker.identity, streamId, index, content));
    }
    this.#deps.send(streamTrailer(speaker.identity, streamId, {}));
  }

  #begin(speaker: Speaker, segmentId: string): OpenSegment {
    const oldest = this.#open.entries().next().value;
    if (this.#open.size >= MAX_OPEN_SEGMENTS && oldest) this.#end(speaker, ...oldest);
    const segment: OpenSegment = { streamId: randomUUID(), nextChunk: 0 };
    this.#open.set(segmentId, segment);
    this.#deps.send(
      streamHeader(speaker.identity, {
        streamId: segment.streamId,
        topic: TRANSCRIPTION_TOPIC,
        atMs: this.#deps.nowMs(),
        attributes: attributesOf(speaker, segmentId, false),
        totalBytes: null,
      }),
    );
    return segment;
  }

  #end(speaker: Speaker, segmentId: string, segment: OpenSegment): void {
    this.#open.delete(segmentId);
    this.#deps.send(streamTrailer(speaker.identity, segment.streamId, { 'lk.transcription_final': 'true' }));
  }
}

function attributesOf(speaker: Speaker, segmentId: string, isFinal: boolean): Record<string, string> {
  return {
    'lk.segment_id': segmentId,
    ...(isFinal ? { 'lk.transcription_final': 'true' } : {}),
    ...(speaker.trackSid === '' ? {} : { 'lk.transcribed_track_id': speaker.trackSid }),
  };
}
