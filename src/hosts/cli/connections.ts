import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { AnswerReport } from '../../rpc/answer-report.js';
import type { Reply, RpcResponse } from '../../rpc/envelope.js';
import { LateController } from '../../scheduling/deadline.js';

/** How many connections are open at a time, WebSockets included. */
export interface ConnectionLimits {
  readonly total: number;
  /** Of one client. Half of them may be WebSockets. */
  readonly perClient: number;
}

/** The connections of a server. */
interface Connections {
  /** Notes a request. @returns undefined if its connection is closed already */
  begin(request: IncomingMessage, response: ServerResponse): HttpExchange | undefined;
  /** Counts a connection as a WebSocket, which closes itself. @returns false if its client has too many of them */
  upgrade(socket: Socket): boolean;
  /** Notes that a request has an answer without an end, whose client asks again if it is closed. */
  endless(request: IncomingMessage): void;
  /** Closes idle connections and answers without an end now, the others after their last answer, and all of them after `graceMs`. */
  close(graceMs: number): void;
}

/** One request and its answer. */
export interface HttpExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  isEndless: boolean;
  /** Of the connection. */
  readonly client: string;
  /** Aborted when the client leaves before its answer. */
  readonly left: LateController;
  /** Called when the answer is sent, or the client has left. */
  onClose: ((nothing?: undefined) => void) | undefined;
}

/** One connection. */
interface Followed {
  readonly client: string;
  /** Its last change, as a number that grows. */
  changed: number;
  isWebSocket: boolean;
  readonly running: HttpExchange[];
}

/**
 * Follows a server's connections and limits them. Above a limit, the connection is closed that waits the longest for its client:
 * for a request, the rest of one, or for the client to read an answer. So connections that do nothing shut out no one. For the
 * limit of all clients, it is one of the client with the most connections. When all are being answered, the new one is closed.
 *
 * Node's own `closeIdleConnections` does not close connections that have not sent a request yet, and keep-alive keeps the
 * others open.
 */
export function followConnections(server: Server, limits: ConnectionLimits): Connections {
  const followed = new Map<Socket, Followed>();
  let closing = false;
  let changes = 0;

  function countOf(client: string): number {
    let count = 0;
    for (const one of followed.values()) if (one.client === client) count++;
    return count;
  }

  /** Closes the connection of a client that waits the longest. @returns whether there was one */
  function closeWaiting(client: string): boolean {
    const waiting = [...followed].filter(([, one]) => one.client === client && isWaiting(one));
    const [oldest] = waiting.sort(([, a], [, b]) => a.changed - b.changed);
    if (oldest === undefined) return false;
    followed.delete(oldest[0]);
    oldest[0].destroy();
    return true;
  }

  /** Makes room for a connection of a client. @returns whether there is room */
  function makeRoom(client: string): boolean {
    if (countOf(client) >= limits.perClient) return closeWaiting(client);
    if (followed.size < limits.total) return true;
    const clients = [...new Set([...followed.values()].map((one) => one.client))];
    const byCount = clients.map((one) => ({ one, count: countOf(one) })).sort((a, b) => b.count - a.count);
    const own = countOf(client);
    return byCount.some(({ one, count }) => (count > own || one === client) && closeWaiting(one));
  }

  server.on('connection', (socket: Socket) => {
    const client = clientOf(socket.remoteAddress);
    if (!makeRoom(client)) return void socket.destroy();
    followed.set(socket, { client, changed: changes++, isWebSocket: false, running: [] });
    socket.on('close', () => followed.delete(socket));
  });
  return {
    begin(request, response) {
      const { socket } = request;
      const connection = followed.get(socket);
      if (connection === undefined) return undefined;
      const exchange: HttpExchange = {
        request,
        response,
        isEndless: false,
        client: connection.client,
        left: new LateController(),
        onClose: undefined,
      };
      connection.running.push(exchange);
      connection.changed = changes++;
      response.on('close', () => {
        if (!response.writableFinished) exchange.left.abort();
        connection.running.splice(connection.running.indexOf(exchange), 1);
        connection.changed = changes++;
        exchange.onClose?.();
        if (closing && connection.running.length === 0) socket.end();
      });
      return exchange;
    },
    upgrade(socket) {
      const connection = followed.get(socket);
      if (connection === undefined) return false;
      const own = [...followed.values()].filter((one) => one.isWebSocket && one.client === connection.client);
      connection.isWebSocket = own.length < Math.max(1, Math.floor(limits.perClient / 2));
      return connection.isWebSocket;
    },
    endless(request) {
      for (const exchange of followed.get(request.socket)?.running ?? [])
        if (exchange.request === request) exchange.isEndless = true;
    },
    close(graceMs) {
      closing = true;
      const others = () => [...followed].filter(([, { isWebSocket }]) => !isWebSocket);
      for (const [socket, { running }] of others()) if (running.every(({ isEndless }) => isEndless)) socket.destroy();
      const timer = setTimeout(() => {
        for (const [socket] of others()) socket.destroy();
      }, graceMs);
      server.on('close', () => clearTimeout(timer));
    },
  };
}

/** Whether the node has nothing to do for a connection until its client sends or reads something. */
function isWaiting({ isWebSocket, running }: Followed): boolean {
  if (isWebSocket) return false;
  return running.every(({ request, response, isEndless }) => isEndless || !request.complete || response.writableEnded);
}

/** A part of a body counts as at least so many bytes: to read a part of one byte is work, too. */
const PART_BYTES = 64;

/** Clients without a body under way that are kept: an entry that comes and goes with each request makes a new table again and again. */
const KEPT_CLIENTS = 1024;

/** The bytes of one body or message, from their arrival until it is answered. */
export interface BodyBytes {
  /** Counts a part. @returns false if its client has too many bytes under way */
  mayTake(length: number): boolean;
  /** It is answered. @param ifAtMost - releases no more than so many bytes, or none */
  release(ifAtMost?: number): void;
}

/**
 * Counts the bytes of request bodies and of messages by client.
 *
 * @param limit - bytes of all bodies of a client together
 * @returns a function that begins a body of a client
 */
export function bodyMeter(limit: number): (client: string) => BodyBytes {
  const underWay = new Map<string, number>();
  return (client) => {
    let own = 0;
    return {
      mayTake(length) {
        const counted = Math.max(length, PART_BYTES);
        own += counted;
        const all = (underWay.get(client) ?? 0) + counted;
        underWay.set(client, all);
        return all <= limit;
      },
      release(ifAtMost = own) {
        if (own > ifAtMost) return;
        const left = (underWay.get(client) ?? 0) - own;
        own = 0;
        if (left > 0 || underWay.size <= KEPT_CLIENTS) underWay.set(client, left);
        else underWay.delete(client);
      },
    };
  };
}

/** Whether a request has two `Host` lines, of which two programs on its way may read another (RFC 9112, section 3.2: 400). */
export function hasTwoHosts({ rawHeaders }: IncomingMessage): boolean {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i]!;
    if (name.length === 4 && name.toLowerCase() === 'host') hosts++;
  }
  return hosts > 1;
}

/**
 * The client behind an address: the address itself, for IPv6 the network of 64 bits, because one client has all of its addresses.
 *
 * @param address - as `Socket.remoteAddress`
 */
export function clientOf(address = ''): string {
  const mapped = /^::ffff:(\d+(?:\.\d+){3})$/i.exec(address);
  if (mapped !== null) return mapped[1]!;
  if (!address.includes(':')) return address;
  const [head, tail] = address.replace(/%.*/, '').split('::');
  const groups = head === '' ? [] : head!.split(':');
  const rest = tail === undefined || tail === '' ? [] : tail.split(':');
  const all = [...groups, ...Array<string>(Math.max(0, 8 - groups.length - rest.length)).fill('0'), ...rest];
  return `${all.slice(0, 4).join(':')}::/64`;
}

/** A request that a server has answered. */
export interface ServedRequest extends Pick<Partial<AnswerReport>, 'class' | 'level'> {
  /** As the client wrote it: any text. Undefined for a request that names none. */
  readonly method?: string;
  readonly transport: 'http' | 'websocket';
  /** `l1`: the simulated layer 1 of a devnet. */
  readonly layer: 'l2' | 'l1';
  /** Time until it was answered, ms. The requests of a batch share one time. */
  readonly ms: number;
  /** Number of requests of its batch. */
  readonly batch?: number;
  /** Of an answer that is an error. */
  readonly error?: { readonly code: number; readonly message: string };
}

/** How a payload came. `began`: when, by `performance.now()`. */
interface Arrival extends Pick<ServedRequest, 'transport' | 'layer'> {
  readonly began: number;
}

/** Called with each payload and its reply. The payload is undefined where it is not JSON. */
export type ReplyListener = (how: Arrival, payload: unknown, reply: Reply) => void;

/** The requests of a payload, in its order, each with what the reply says of it. */
export function servedRequests({ transport, layer, began }: Arrival, payload: unknown, reply: Reply): ServedRequest[] {
  const { body, reports = [] } = reply;
  const ms = performance.now() - began;
  const isBatch = Array.isArray(payload) && Array.isArray(body);
  const requests: readonly unknown[] = isBatch ? payload : [payload];
  const answers = new Map((isBatch ? body : []).map((response) => [response.id, response]));
  let reported = 0;
  return requests.map((request) => {
    const { method, id } = (request ?? {}) as { method?: unknown; id?: RpcResponse['id'] };
    // Reports have the order of the requests. Notifications and unknown methods have none.
    const report = reports[reported]?.method === method ? reports[reported++] : undefined;
    const response = isBatch ? answers.get(id ?? null) : (body as RpcResponse | undefined);
    const error = response !== undefined && 'error' in response ? response.error : undefined;
    return {
      ...(typeof method === 'string' && { method }),
      ...{ transport, layer, ms },
      ...(isBatch && { batch: requests.length }),
      ...(error === undefined && report && { class: report.class, ...(report.level && { level: report.level }) }),
      ...(error && { error: { code: error.code, message: error.message } }),
    };
  });
}
