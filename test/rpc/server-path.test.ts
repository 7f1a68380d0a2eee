import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import { LateController } from '../../src/scheduling/deadline.js';

/*
 * What a server does for each request. A signal takes longer to make than a small answer, and a kernel longer than a small execution.
 */

const FROM = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
const TO = '0x70997970c51812dc3a010c7d01b50e0d17dc79c8';
const word = (hex: string) => hex.slice(2).padStart(64, '0');
const CALLS = {
  eth_chainId: [],
  eth_getBlockByNumber: ['latest', true],
  eth_getBalance: [FROM, 'latest'],
  eth_call: [{ to: TEST_TOKEN, data: `0x70a08231${word(FROM)}` }, 'latest'],
  eth_estimateGas: [{ from: FROM, to: TO, value: '0x1' }],
  linea_estimateGas: [{ from: FROM, to: TEST_TOKEN, data: `0xa9059cbb${word(TO)}${word('0x1')}` }],
};

let node: PlumblineNode;
beforeAll(async () => {
  node = await createInlineNode();
});
afterAll(() => node.close());

async function ask(method: string, params: readonly unknown[], left = new LateController()) {
  const text = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const answer = await node.handleBody(() => Promise.resolve(text), { signal: left, unreported: true });
  return { status: answer.status, ...(JSON.parse(answer.text) as { result?: unknown; error?: { message: string } }) };
}

/** No request uses up its slice of time: on a busy machine it would have to wait for its turn, and others would begin. */
async function stopTheClock(): Promise<void> {
  vi.spyOn(performance, 'now').mockReturnValue(performance.now());
  // The slice that began before has ended.
  await new Promise(setImmediate);
}

test.each(Object.entries(CALLS))('%s makes no signal where nothing waits', async (method, params) => {
  expect((await ask(method, params)).error).toBeUndefined();
  const made = vi.fn();
  const Original = globalThis.AbortController;
  vi.stubGlobal(
    'AbortController',
    class extends Original {
      constructor() {
        super();
        made();
      }
    },
  );
  await stopTheClock();
  try {
    expect(await ask(method, params)).toMatchObject({ status: 200, result: expect.anything() });
    expect(made).not.toHaveBeenCalled();
  } finally {
    vi.unstubAllGlobals();
    vi.restoreAllMocks();
  }
});

test('executions that begin at once share a few kernels, and answer as one alone', async () => {
  const params = CALLS.eth_call;
  const alone = await ask('eth_call', params);
  const instantiated = [vi.spyOn(WebAssembly, 'Instance'), vi.spyOn(WebAssembly, 'instantiate')];
  await stopTheClock();
  try {
    const many = await Promise.all(Array.from({ length: 64 }, () => ask('eth_call', params)));
    expect(many).toEqual(many.map(() => alone));
    expect(instantiated.reduce((sum, { mock }) => sum + mock.calls.length, 0)).toBeLessThanOrEqual(4);
  } finally {
    vi.restoreAllMocks();
  }
});

test('a client that leaves ends its request, before and while it runs', async () => {
  // JUMPDEST PUSH1 0 JUMP: it goes on until its gas is spent.
  const endless = [{ to: TO, gas: '0x2540be400' }, 'latest', { [TO]: { code: '0x5b600056' } }];
  const gone = new LateController();
  gone.abort();
  expect(await ask('eth_call', endless, gone)).toMatchObject({ error: { message: 'Request aborted' } });
  const leaving = new LateController();
  const began = ask('eth_call', endless, leaving);
  setTimeout(() => leaving.abort(), 20);
  expect(await began).toMatchObject({ error: { message: 'Request aborted' } });
});

test('a client that has left changes nothing more, alone and in a batch', async () => {
  const balance = () => ask('eth_getBalance', [TO, 'latest']);
  const before = await balance();
  const gone = new LateController();
  gone.abort();
  await ask('anvil_setBalance', [TO, '0x1'], gone);
  const batch = [0, 1].map((id) => ({ jsonrpc: '2.0', id, method: 'anvil_setBalance', params: [TO, '0x2'] }));
  await node.handleBody(() => Promise.resolve(JSON.stringify(batch)), { signal: gone, unreported: true });
  expect(await balance()).toEqual(before);
});
