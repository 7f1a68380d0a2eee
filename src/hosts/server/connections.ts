import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** The connections of a server, which are closed when they have no requests under way. */
export interface Connections {
  /** Stops following a connection that another protocol takes over. */
  release(socket: Socket): void;
  /** Closes idle connections now, the others after their last answer, and all of them after `graceMs`. */
  close(graceMs: number): void;
}

/**
 * Follows a server's connections. Node's own `closeIdleConnections` does not close connections that have not sent a request yet,
 * and keep-alive keeps the others open.
 */
export function followConnections(server: Server): Connections {
  /** Number of requests under way, by connection. */
  const running = new Map<Socket, number>();
  let closing = false;
  server.on('connection', (socket: Socket) => {
    running.set(socket, 0);
    socket.on('close', () => running.delete(socket));
  });
  server.on('request', ({ socket }, response) => {
    running.set(socket, (running.get(socket) ?? 0) + 1);
    response.on('close', () => {
      const left = (running.get(socket) ?? 1) - 1;
      if (running.has(socket)) running.set(socket, left);
      if (closing && left === 0) socket.end();
    });
  });
  return {
    release: (socket) => void running.delete(socket),
    close(graceMs) {
      closing = true;
      for (const [socket, requests] of running) if (requests === 0) socket.destroy();
      const timer = setTimeout(() => {
        for (const socket of running.keys()) socket.destroy();
      }, graceMs);
      server.on('close', () => clearTimeout(timer));
    },
  };
}
