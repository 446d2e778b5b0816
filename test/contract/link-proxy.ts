import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface LinkProxy {
  readonly port: number;
  /** Connections in both directions stay open and carry nothing, as with a stopped process or a dead network. */
  freeze(): void;
  thaw(): void;
  /** Breaks every connection at once. */
  cut(): void;
  close(): Promise<void>;
}

/** A TCP relay to a loopback port that can freeze and cut. */
export async function createLinkProxy(targetPort: () => number): Promise<LinkProxy> {
  const pairs = new Set<readonly [Socket, Socket]>();
  let isFrozen = false;
  const server = createServer((inner) => {
    const outer = connect(targetPort(), '127.0.0.1');
    const pair = [inner, outer] as const;
    pairs.add(pair);
    for (const [from, to] of [pair, [outer, inner] as const]) {
      from.on('error', () => {});
      from.on('close', () => {
        to.destroy();
        pairs.delete(pair);
      });
      from.pipe(to);
      if (isFrozen) from.pause();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');

  const each = (act: (from: Socket, to: Socket) => void) => {
    for (const [inner, outer] of pairs) {
      act(inner, outer);
      act(outer, inner);
    }
  };
  return {
    port: (server.address() as AddressInfo).port,
    freeze() {
      isFrozen = true;
      each((from, to) => from.unpipe(to).pause());
    },
    thaw() {
      isFrozen = false;
      each((from, to) => from.pipe(to));
    },
    cut: () => each((from) => from.destroy()),
    async close() {
      each((from) => from.destroy());
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
