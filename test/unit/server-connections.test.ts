import { EventEmitter } from 'node:events';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { describe, expect, test } from 'vitest';
import { type ConnectionLimits, clientOf, followConnections } from '../../src/hosts/cli/connections.js';

/** A server without a network: its sockets and requests are events. */
class Scene {
  readonly server = new EventEmitter();
  readonly connections;

  constructor(limits: ConnectionLimits) {
    this.connections = followConnections(this.server as Server, limits);
  }

  connect(remoteAddress = '10.0.0.1') {
    const socket = Object.assign(new EventEmitter(), {
      remoteAddress,
      destroyed: false,
      destroy() {
        socket.destroyed = true;
        socket.emit('close');
      },
    });
    this.server.emit('connection', socket);
    return socket;
  }

  request(socket: EventEmitter, complete: boolean, isEndless = false) {
    const request = { socket, complete } as unknown as IncomingMessage;
    const response = Object.assign(new EventEmitter(), { writableEnded: false });
    this.connections.begin(request, response as unknown as ServerResponse);
    if (isEndless) this.connections.endless(request);
    return response;
  }
}

const states = (sockets: readonly { destroyed: boolean }[]) => sockets.map(({ destroyed }) => (destroyed ? '-' : 'x'));

describe('limits of connections', () => {
  test('of one client: the connection that has waited the longest gives way, and no other client is affected', () => {
    const scene = new Scene({ total: 100, perClient: 3 });
    const other = scene.connect('10.0.0.2');
    const idle = [0, 1, 2].map(() => scene.connect());
    const slow = scene.request(idle[0]!, false);
    const fourth = scene.connect();
    expect(states([other, ...idle, fourth]).join('')).toBe('xx-xx');
    slow.emit('close');
    scene.connect();
    expect(states([other, ...idle, fourth]).join('')).toBe('xx--x');
  });

  test('a connection whose request is being answered stays, and the new one is closed if all are', () => {
    const scene = new Scene({ total: 100, perClient: 2 });
    const busy = [scene.connect(), scene.connect()];
    const responses = busy.map((socket) => scene.request(socket, true));
    expect(scene.connect().destroyed).toBe(true);
    expect(states(busy).join('')).toBe('xx');
    // Its client does not read the answer.
    responses[1]!.writableEnded = true;
    expect(scene.connect().destroyed).toBe(false);
    expect(states(busy).join('')).toBe('x-');
  });

  test('of all clients: one of the client with the most gives way', () => {
    const scene = new Scene({ total: 5, perClient: 4 });
    const small = scene.connect('10.0.0.2');
    const large = [0, 1, 2, 3].map(() => scene.connect('10.0.0.1'));
    const late = scene.connect('10.0.0.3');
    expect(states([small, ...large, late]).join('')).toBe('x-xxxx');
    for (const socket of large) scene.request(socket, true);
    // No other client has more connections than this one.
    expect(scene.connect('10.0.0.4').destroyed).toBe(false);
    expect([small.destroyed, late.destroyed]).toEqual([true, false]);
  });

  test('a stream of events, which has no end, gives way', () => {
    const scene = new Scene({ total: 100, perClient: 2 });
    const sockets = [scene.connect(), scene.connect()];
    scene.request(sockets[0]!, true);
    scene.request(sockets[1]!, true, true);
    expect(scene.connect().destroyed).toBe(false);
    expect(states(sockets).join('')).toBe('x-');
  });

  test('half of the connections of a client may be WebSockets, and they do not give way', () => {
    const scene = new Scene({ total: 100, perClient: 4 });
    const sockets = [0, 1, 2].map(() => scene.connect());
    const opened = sockets.map((socket) => scene.connections.upgrade(socket as unknown as Socket));
    expect(opened).toEqual([true, true, false]);
    for (let i = 0; i < 4; i++) scene.connect();
    expect(states(sockets).join('')).toBe('xx-');
  });
});

test.each([
  ['127.0.0.1', '127.0.0.1'],
  ['::ffff:10.1.2.3', '10.1.2.3'],
  ['::1', '0:0:0:0::/64'],
  ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
  ['2001:db8:1:2::6', '2001:db8:1:2::/64'],
  ['2001:db8::6', '2001:db8:0:0::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  [undefined, ''],
])('the client behind %s is %s', (address, client) => {
  expect(clientOf(address)).toBe(client);
});
