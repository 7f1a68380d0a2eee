import { describe, expect, test } from 'vitest';
import type { Block } from '../../src/chain/block.js';
import type { CallPlan, Chain, SimulationPlan } from '../../src/chain/chain.js';
import { forwardingChain } from '../../src/chain/forwarding-chain.js';
import type { LogQuery } from '../../src/chain/log-filter.js';
import type { Estimator } from '../../src/estimate/estimator.js';
import type { BlockHeader } from '../../src/ethereum/header.js';
import { devnet } from '../../src/networks/devnet.js';
import { noteRequest } from '../../src/rpc/answers/note-request.js';
import { METHOD_INFO } from '../../src/rpc/protocol/method-info.js';

const BLOCK: Block = {
  header: { number: 3 } as BlockHeader,
  hash: new Uint8Array(32).fill(3),
  transactions: [],
  size: 1,
};

/** A chain that records the arguments of each call, and calls each function among them. */
function recordingChain(calls: [member: string, args: unknown[]][]): Chain {
  const answers: Partial<Record<keyof Chain, unknown>> = { head: BLOCK, block: BLOCK, logs: [], blocks: [] };
  return new Proxy({} as Chain, {
    get(_, member: keyof Chain) {
      if (member === 'kind') return 'light';
      if (member === 'network') return devnet();
      return async (...args: unknown[]) => {
        calls.push([member, args]);
        if (member === 'stateAt') (args[2] as (block: Block) => void)(BLOCK);
        if (member === 'prepare') (args[0] as CallPlan).onBlock?.(BLOCK);
        if (member === 'prepareSimulation') (args[0] as SimulationPlan).onBlock?.(BLOCK);
        if (member === 'zkProof') (args[3] as (number: number) => void)(7);
        if (member === 'logs') (args[0] as LogQuery).onEnd?.(BLOCK);
        return answers[member] ?? (member === 'transaction' || member === 'receipt' ? undefined : { block: BLOCK });
      };
    },
  });
}

const wrapped: [string, (chain: Chain) => Chain][] = [
  ['one that forwards', (chain) => forwardingChain(() => chain)],
  [
    'one that notes what a request reads',
    (chain) => {
      const estimator = { on: () => estimator } as unknown as Estimator;
      const method = { name: 'linea_getProof', info: METHOD_INFO.l2.linea_getProof };
      return noteRequest({ chain, estimator }, method).context.chain;
    },
  ],
];

describe.each(wrapped)('a chain around another one: %s', (_, wrap) => {
  const address = new Uint8Array(20).fill(1);
  const keys = [new Uint8Array(32).fill(2)];
  const { signal } = new AbortController();
  const query = { from: 1, to: 3, filter: { addresses: [], topics: [] }, signal };
  // Every member with all its arguments: one that is missing here does not compile.
  const uses: { [Member in Exclude<keyof Chain, 'kind' | 'network'>]: Parameters<NonNullable<Chain[Member]>> } = {
    head: [],
    block: [{ number: 3 }, signal],
    blocks: [1, 3, signal],
    transaction: [keys[0]!],
    receipt: [keys[0]!],
    receipts: [BLOCK],
    logs: [query],
    pendingTransactions: [],
    forward: ['linea_sendForcedRawTransaction', [], signal],
    onRemoval: [() => {}],
    takenBack: [],
    announced: [keys[0]!, signal],
    exclusion: [keys[0]!],
    stateAt: [BLOCK, signal, () => {}],
    accountsAt: [{ number: 3 }, () => {}, signal],
    prepare: [{ call: {}, block: BLOCK, signal, onBlock: () => {} }],
    withBody: [BLOCK],
    contextOf: [BLOCK],
    pendingContext: [BLOCK],
    trust: [BLOCK],
    layerOneEvidence: [],
    collectEvidence: [{ block: 1 }],
    prices: [BLOCK],
    proof: [address, keys, BLOCK, signal],
    prepareSimulation: [{ block: BLOCK, requests: [], validation: true, traceTransfers: false, onBlock: () => {} }],
    zkProof: [address, keys, { number: 3 }, () => {}],
    submit: [address, { signal }],
    onHead: [() => {}],
    onPendingTransaction: [() => {}],
    close: [],
  };

  test.each(Object.entries(uses))('passes on all arguments of %s', async (member, args) => {
    const calls: [string, unknown[]][] = [];
    const chain = wrap(recordingChain(calls));
    await (chain[member as keyof Chain] as (...args: unknown[]) => unknown)(...args);
    const functions = args.map((arg) => (typeof arg === 'function' ? expect.any(Function) : arg));
    const withFunction = ([plan]: readonly object[]) => [{ ...plan, onBlock: expect.any(Function) }];
    const objects: Record<string, unknown[]> = {
      logs: [expect.objectContaining(query)],
      prepare: withFunction(uses.prepare),
      prepareSimulation: withFunction(uses.prepareSimulation),
    };
    const expected = objects[member] ?? functions;
    expect(calls).toContainEqual([member, expected]);
  });

  test('a caller hears of the block of a proof, of the blocks at the ends of a search, and of that below a state', async () => {
    const chain = wrap(recordingChain([]));
    const heard: unknown[] = [];
    await chain.zkProof(address, keys, { number: 3 }, (number) => heard.push(number));
    await chain.logs({ ...query, onEnd: (block) => heard.push(block) });
    await chain.stateAt(BLOCK, signal, (block) => heard.push(block));
    await chain.prepare!({ ...uses.prepare[0], onBlock: (block) => heard.push(block) });
    await chain.prepareSimulation({ ...uses.prepareSimulation[0], onBlock: (block) => heard.push(block) });
    expect(heard).toEqual([7, BLOCK, BLOCK, BLOCK, BLOCK]);
  });
});
