import type { ChainOptions } from './encoding-chain.ts';

/** What the codec thread is told. Every job with a `job` number is answered once, in order. */
export type CodecJob =
  | { readonly type: 'open'; readonly stream: number; readonly options: ChainOptions }
  | {
      readonly type: 'push';
      readonly job: number;
      readonly stream: number;
      readonly samples: Int16Array;
      readonly sampleRateHz: number;
    }
  | { readonly type: 'settle' | 'finish'; readonly job: number; readonly stream: number }
  | { readonly type: 'close'; readonly stream: number };

export type CodecAnswer =
  | { readonly type: 'ready' }
  | { readonly type: 'bytes'; readonly job: number; readonly bytes: Uint8Array }
  | { readonly type: 'failed'; readonly job: number; readonly message: string };
