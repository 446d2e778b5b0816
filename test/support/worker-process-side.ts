/** What a process answers, by name. */
export type Handlers = Readonly<Record<string, (input: never) => unknown>>;

export interface Question {
  readonly id: number;
  readonly name: string;
  readonly input: unknown;
}

export type Answer =
  | { readonly id: number; readonly value: unknown }
  | { readonly id: number; readonly error: string };

/**
 * The inner side of `WorkerProcess`: answers questions until the channel closes, then runs `onEnd` and exits. The
 * process always leaves through `process.exit`: the WebRTC addon crashes on the way out otherwise.
 */
export function answerQuestions(handlers: Handlers, onEnd: () => Promise<void> = async () => {}): void {
  const byName = new Map<string, (input: unknown) => unknown>(
    Object.entries(handlers) as [string, (input: unknown) => unknown][],
  );
  process.on('message', ({ id, name, input }: Question) => {
    const handler = byName.get(name);
    Promise.resolve()
      .then(() => {
        if (!handler) throw new Error('no such question');
        return handler(input);
      })
      .then(
        (value): Answer => ({ id, value }),
        (error: unknown): Answer => ({
          id,
          error: error instanceof Error ? (error.stack ?? error.message) : String(error),
        }),
      )
      .then((answer) => process.connected && process.send?.(answer));
  });
  process.once('disconnect', () => {
    onEnd().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  });
}
