import type { Server } from 'node:http';
import type { Socket } from 'node:net';

/** The connections of a server, closed one by one as they have nothing under way. */
export interface Connections {
  /** Leaves a connection to another protocol. */
  release(socket: Socket): void;
  /** Closes those that wait for a request now, each of the others with its last answer, and all of them after `graceMs`. */
  close(graceMs: number): void;
}

/**
 * Follows a server's connections. Node's own `closeIdleConnections` leaves those alone that have not sent a request yet,
 * and keep-alive holds the others open.
 */
export function followConnections(server: Server): Connections {
  /** Requests under way on each. */
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
      const impatient = setTimeout(() => {
        for (const socket of running.keys()) socket.destroy();
      }, graceMs);
      server.on('close', () => clearTimeout(impatient));
    },
  };
}
