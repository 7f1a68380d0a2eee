import { once } from 'node:events';
import { WebSocket } from 'ws';
import { serve } from '../../../src/hosts/cli/server.js';
import { openNode } from '../../../src/hosts/opening/open-inline.js';
import { nodeHandle, type PlumblineNode } from '../../../src/hosts/provider/node-handle.js';
import { readPayload, writeReply } from '../../../src/rpc/envelope.js';
import type { Json } from '../damage.js';
import { hostileBodies } from './bodies.js';
import { history, validRequests } from './requests.js';
import type { HostileScene } from './run.js';
import { asking, bodiesFor, LIMITS, Target } from './target.js';

/** Makes the node count the calls that its sessions have under way. @returns a function that waits until there are none */
function countCalls(node: PlumblineNode): () => Promise<void> {
  const running = new Set<Promise<unknown>>();
  const open = node.openSession.bind(node);
  node.openSession = (listener, connection) => {
    const session = open(listener, connection);
    return {
      dispatch(payload, signal) {
        const reply = session.dispatch(payload, signal);
        running.add(reply);
        const done = () => void running.delete(reply);
        reply.then(done, done);
        return reply;
      },
      close: () => session.close(),
    };
  };
  return async () => {
    while (running.size > 0) await Promise.allSettled(running);
  };
}

/** A WebSocket that sends one text at a time. */
class SessionClient {
  private readonly received: string[] = [];
  private wake = () => {};
  private marks = 0;
  private closed: string | undefined;

  constructor(
    private readonly socket: WebSocket,
    private readonly callsDone: () => Promise<void>,
  ) {
    socket.on('message', (data) => {
      this.received.push(String(data));
      this.wake();
    });
    socket.on('close', (code, reason) => {
      this.closed = `${code} ${reason}`;
      this.wake();
    });
  }

  /** @returns the one message that answers the text, empty for none. @throws Error for more, or an event that is none */
  async send(text: string): Promise<string> {
    this.socket.send(text);
    // Frames are read in order, so the calls of the text have begun; when they are done, their answer is on its way.
    await this.mark();
    await this.callsDone();
    await this.mark();
    const answers = this.received.splice(0).filter((message) => !isEvent(message));
    if (answers.length > 1) throw new Error(`${answers.length} messages answer one text: ${answers}`);
    return answers[0] ?? '';
  }

  /** Sends a request of its own, waits for the answer and takes it out of what was received. */
  private async mark(): Promise<void> {
    const id = `mark ${++this.marks}`;
    this.socket.send(JSON.stringify({ jsonrpc: '2.0', id, method: 'net_version' }));
    for (;;) {
      const at = this.received.findIndex((message) => message.includes(`"${id}"`));
      if (at >= 0) return void this.received.splice(at, 1);
      if (this.closed !== undefined) throw new Error(`the socket was closed: ${this.closed}`);
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }
}

/** Whether a message is an event of a subscription. @throws Error for one that is not as docs/spec/json-rpc.md has it */
function isEvent(message: string): boolean {
  const { jsonrpc, method, params, ...rest } = JSON.parse(message) as Record<string, unknown>;
  if (method === undefined) return false;
  const { subscription, result } = params as Record<string, unknown>;
  const isSound = jsonrpc === '2.0' && method === 'eth_subscription' && Object.keys(rest).length === 0;
  if (isSound && typeof subscription === 'string' && result !== undefined) return true;
  throw new Error(`no event: ${message}`);
}

/** A devnet behind a server, sent requests over one WebSocket, which subscribes in between. */
export async function sessionScene(): Promise<HostileScene<string>> {
  const target = await new Target().open(LIMITS);
  const { node } = target;
  await history(asking(node));
  const callsDone = countCalls(node);
  const server = await serve(node, { port: 0 });
  const socket = new WebSocket(`ws://127.0.0.1:${server.port}`);
  const client = new SessionClient(socket, callsDone);
  await once(socket, 'open');
  const send = async (body: string) => ({ text: await client.send(body) });
  return {
    inputs: bodiesFor(await validRequests(asking(node))),
    check: (body) => target.check(body, { send }),
    async close() {
      socket.terminate();
      await server.close({ graceMs: 0 });
      await node.close();
    },
  };
}

/** What a devnet offers beside JSON-RPC, as a page's messages ask for it. Nothing that is sent as JSON changes the node. */
export async function inspectScene(): Promise<HostileScene<string>> {
  const target = new Target();
  const transport = await openNode(LIMITS, { onError: (error) => target.thrown.push(error) });
  target.node = nodeHandle(transport);
  await history(asking(target.node));
  const { linea_estimateGas: estimates = [], eth_sendRawTransaction: sent = [] } = await validRequests(
    asking(target.node),
  );
  const options: Json[] = [{ gasSearch: 'exact' }, { gasSearch: 'besu' }, { gasSearch: 'geth' }];
  const explained = options.flatMap((option) =>
    estimates.map(([call, second = null, third = null]): Json[] => [call!, second, third, option]),
  );
  const hash: Json[] = [`0x${'12'.repeat(32)}`];
  const calls = estimates.map(([call]): Json[] => [call!]);
  const examples = {
    diagnoseTransaction: [...calls, ...sent, hash],
    explainEstimate: [...estimates, ...explained],
    exportChain: [[]],
    importChain: [['0x706c'], [[112, 108]], [{ 0: 112, length: 1 }]],
    sharing: [[]],
    storage: [[]],
  };
  const send = async (body: string) => {
    const read = readPayload(body);
    return { text: writeReply('refused' in read ? read.refused : await transport.dispatch('inspect', read.payload)) };
  };
  return {
    inputs: hostileBodies(examples),
    check: (body) => target.check(body, { send, onlyReads: () => true }),
    close: () => target.node.close(),
  };
}
