import { expect, onTestFinished, test } from 'vitest';
import { openInline } from '../../src/hosts/opening/open-inline.js';
import type { NodeTransport } from '../../src/hosts/provider/transport.js';
import { createNode } from '../../src/hosts/worker/client.js';
import { installErrorTransfer } from '../../src/hosts/worker/worker-api.js';
import { CommonNode, servePort } from '../../src/hosts/worker/worker-port.js';
import { sepolia } from '../../src/networks/ethereum.js';
import { eventually } from '../support/eventually.js';

installErrorTransfer();

/** A worker in this thread, over a channel. It ends when it is terminated, and says what it did. */
function workerHere(closing: Promise<void> = Promise.resolve()) {
  const { port1, port2 } = new MessageChannel();
  const log: string[] = [];
  let node: NodeTransport | undefined;
  const common = new CommonNode(async (options, extras) => {
    node = await openInline(options, extras);
    const close = node.close.bind(node);
    node.close = async () => {
      log.push('closes');
      await closing;
      await close();
      log.push('closed');
    };
    return node;
  });
  port1.start();
  port2.start();
  servePort(port2 as never, common, Promise.resolve(undefined));
  const terminate = () => {
    log.push('terminated');
    port1.close();
    port2.close();
  };
  return { worker: Object.assign(port1, { terminate }) as unknown as Worker, log };
}

test('two calls of close wait for the same end: the worker is not terminated while it stores', async () => {
  let stored = () => {};
  const { worker, log } = workerHere(
    new Promise((resolve) => {
      stored = resolve;
    }),
  );
  const node = await createNode({ worker });
  const closings = [node.close(), node.close()];
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(log).toEqual(['closes']);
  stored();
  await Promise.all(closings);
  expect(log).toEqual(['closes', 'closed', 'terminated']);
});

test('a request that is aborted before it is sent is not carried out', async () => {
  const node = await createNode({ worker: workerHere().worker });
  onTestFinished(() => node.close());
  const stop = new AbortController();
  const body = new ReadableStream<Uint8Array>({
    async start(to) {
      to.enqueue(new TextEncoder().encode('{"jsonrpc":"2.0","id":1,"method":"evm_mine",'));
      await new Promise((resolve) => setTimeout(resolve, 20));
      stop.abort();
      to.enqueue(new TextEncoder().encode('"params":[]}'));
      to.close();
    },
  });
  const init = {
    method: 'POST',
    body,
    signal: stop.signal,
    duplex: 'half',
    headers: { 'content-type': 'application/json' },
  };
  await node.handle(new Request('http://node/', init as RequestInit)).catch(() => {});
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(await node.request({ method: 'eth_blockNumber' })).toBe('0x0');
});

test('a parameter that cannot be copied is an invalid one', async () => {
  const node = await createNode({ worker: workerHere().worker });
  onTestFinished(() => node.close());
  const params = [() => 1, 'latest'] as never;
  await expect(node.request({ method: 'eth_getBalance', params })).rejects.toMatchObject({
    code: -32602,
    message: 'params: must be plain data for a worker: no providers, no functions',
  });
});

test('a request by the fetch of the page ends with the request that it is for', async () => {
  let asked = 0;
  const reasons: unknown[] = [];
  const hanging: typeof fetch = (_, init) =>
    new Promise((_resolve, reject) => {
      asked++;
      init?.signal?.addEventListener('abort', () => {
        reasons.push(init.signal!.reason);
        reject(init.signal!.reason as Error);
      });
    });
  const chain = { kind: 'light', network: sepolia, endpoints: ['http://127.0.0.1:1/'] } as const;
  const node = await createNode({ worker: workerHere().worker, chain, fetch: hanging });
  onTestFinished(() => node.close());
  const stop = new AbortController();
  const answer = node.request({ method: 'eth_blockNumber' }, { signal: stop.signal });
  answer.catch(() => {});
  await eventually(() => expect(asked).toBeGreaterThan(0));
  stop.abort();
  await expect(answer).rejects.toMatchObject({ name: 'AbortError' });
  await eventually(() => expect(reasons).toHaveLength(asked));
});

test('a worker that pages come to and leave keeps nothing of them', async () => {
  let listening = 0;
  const common = new CommonNode(async (options, extras) => {
    const node = await openInline(options, extras);
    const counted = () => {
      listening++;
      return () => void listening--;
    };
    return Object.assign(node, { onFailure: counted, onStoreStatus: counted });
  });
  const page = () => {
    const { port1, port2 } = new MessageChannel();
    port1.start();
    port2.start();
    servePort(port2 as never, common, Promise.resolve(undefined));
    return createNode({ worker: Object.assign(port1, { terminate: () => port1.close() }) as unknown as Worker });
  };
  const first = await page();
  onTestFinished(() => first.close());
  const alone = listening;
  for (let n = 0; n < 5; n++) await (await page()).close();
  expect(listening).toBe(alone);
});
