import {
  DataPacket,
  DataPacket_Kind,
  DataStream_Chunk,
  DataStream_Header,
  DataStream_OperationType,
  DataStream_TextHeader,
  DataStream_Trailer,
  RpcAck,
  RpcError,
  RpcResponse,
  UserPacket,
} from '@livekit/protocol';

/** Longest content of one stream chunk, in bytes: with its envelope it stays below what every SCTP stack takes. */
export const MAX_CHUNK_BYTES = 15_000;

const encoder = new TextEncoder();

/** A message on a topic, from the participant `identity`. */
export function userPacket(identity: string, topic: string, payload: string): Uint8Array {
  return packet(identity, {
    case: 'user',
    value: new UserPacket({ topic, payload: encoder.encode(payload), participantIdentity: identity }),
  });
}

export interface StreamHead {
  readonly streamId: string;
  readonly topic: string;
  readonly atMs: number;
  readonly attributes: Record<string, string>;
  /** Byte length of the whole text where it is known from the start. */
  readonly totalBytes: number | null;
}

export function streamHeader(identity: string, head: StreamHead): Uint8Array {
  return packet(identity, {
    case: 'streamHeader',
    value: new DataStream_Header({
      streamId: head.streamId,
      timestamp: BigInt(Math.floor(head.atMs)),
      topic: head.topic,
      mimeType: 'text/plain',
      attributes: head.attributes,
      ...(head.totalBytes === null ? {} : { totalLength: BigInt(head.totalBytes) }),
      contentHeader: {
        case: 'textHeader',
        value: new DataStream_TextHeader({
          operationType: DataStream_OperationType.CREATE,
          generated: true,
        }),
      },
    }),
  });
}

export function streamChunk(
  identity: string,
  streamId: string,
  index: number,
  content: Uint8Array,
): Uint8Array {
  return packet(identity, {
    case: 'streamChunk',
    value: new DataStream_Chunk({ streamId, chunkIndex: BigInt(index), content }),
  });
}

/** Ends a stream. Attributes given here are merged into those of the header. */
export function streamTrailer(
  identity: string,
  streamId: string,
  attributes: Record<string, string>,
): Uint8Array {
  return packet(identity, { case: 'streamTrailer', value: new DataStream_Trailer({ streamId, attributes }) });
}

/**
 * The answer to a remote call that nobody here serves: an acknowledgement, without which callers wait on, and
 * LiveKit's error code for an unknown method.
 */
export function unsupportedRpc(identity: string, requestId: string): Uint8Array[] {
  const error = new RpcError({ code: 1400, message: 'Method not supported at destination' });
  return [
    packet(identity, { case: 'rpcAck', value: new RpcAck({ requestId }) }),
    packet(identity, {
      case: 'rpcResponse',
      value: new RpcResponse({ requestId, value: { case: 'error', value: error } }),
    }),
  ];
}

/** Splits text into chunks without cutting a character. */
export function chunksOf(text: string): Uint8Array[] {
  const bytes = encoder.encode(text);
  const chunks: Uint8Array[] = [];
  for (let start = 0; start < bytes.length; ) {
    let end = Math.min(bytes.length, start + MAX_CHUNK_BYTES);
    while (end < bytes.length && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
    chunks.push(bytes.subarray(start, end));
    start = end;
  }
  return chunks;
}

/** A data packet of the client's, or null when it is garbage. */
export function parsePacket(bytes: Uint8Array): DataPacket | null {
  try {
    return DataPacket.fromBinary(bytes);
  } catch {
    return null;
  }
}

function packet(identity: string, value: DataPacket['value']): Uint8Array {
  return new DataPacket({ kind: DataPacket_Kind.RELIABLE, participantIdentity: identity, value }).toBinary();
}
