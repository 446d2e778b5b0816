import type { ServerSocket, SocketHandlers } from './socket-server.ts';

/**
 * The same handlers, whose errors are reported and close the socket with 1011: they are called from native code,
 * where an error would end the process.
 */
export function guardHandlers(
  handlers: SocketHandlers,
  report: (error: unknown) => void,
): Required<SocketHandlers> {
  const guard = (socket: ServerSocket | null, work: () => void) => {
    try {
      work();
    } catch (error) {
      report(error);
      socket?.close(1011, 'internal error');
    }
  };
  return {
    onOpen: (socket) => guard(socket, () => handlers.onOpen?.(socket)),
    onMessage: (socket, data, isText) => guard(socket, () => handlers.onMessage(socket, data, isText)),
    onDrain: (socket) => guard(socket, () => handlers.onDrain?.(socket)),
    onPong: (socket) => guard(socket, () => handlers.onPong?.(socket)),
    onClose: (code, reason) => guard(null, () => handlers.onClose?.(code, reason)),
  };
}
