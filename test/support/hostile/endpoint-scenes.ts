import fc from 'fast-check';
import { TEST_TOKEN as token } from '../../../src/chain/devnet/state/dev-accounts.js';
import { createInlineNode } from '../../../src/hosts/opening/inline.js';
import type { UntypedMethod } from '../../../src/hosts/provider/provider.js';
import { devnet } from '../../../src/networks/devnet.js';
import type { Hex } from '../../../src/primitives/hex.js';
import type { Json } from '../damage.js';
import { accountAt, stranger } from '../dev-node.js';
import { transferCalldata } from '../sign.js';
import { TurnClock } from '../turn-clock.js';
import { damage, textDamage } from './mutations.js';
import { history } from './requests.js';
import { type HostileScene, isUntyped, post } from './run.js';
import { EMPTY_DICTIONARY as dictionary } from './target.js';

/** What one endpoint does to its answers, counted from 0, and what the node is asked. */
export interface Lie {
  readonly question: number;
  readonly liar: 'l2' | 'l1';
  /** Whether an honest endpoint of layer 2 is beside it; the two must then agree on heads. */
  readonly beside: boolean;
  readonly first: number;
  readonly isRepeated: boolean;
  /** Damages the text of an answer. */
  readonly tell: (text: string) => string;
}

const lie: fc.Arbitrary<Lie> = fc.record({
  question: fc.nat(99),
  liar: fc.constantFrom('l2', 'l2', 'l2', 'l1'),
  beside: fc.boolean(),
  first: fc.nat(5),
  isRepeated: fc.boolean(),
  tell: fc.oneof(
    {
      arbitrary: damage.map((change) => (text: string) => JSON.stringify(change(JSON.parse(text) as Json))),
      weight: 5,
    },
    textDamage,
  ),
});

/**
 * Light nodes, a fresh one for each input, whose endpoint damages its answers: the right answer comes, or a typed error. The
 * endpoints are in this thread, behind `fetch`.
 */
export async function endpointScene(): Promise<HostileScene<Lie>> {
  const dev = await createInlineNode({ dictionary, chain: { kind: 'devnet', mining: 'manual' } });
  const ask = <T>(method: string, ...params: unknown[]) => dev.request<UntypedMethod>({ method, params }) as Promise<T>;
  await history(ask);
  const block = await ask<{ hash: Hex; transactions: Hex[] }>('eth_getBlockByNumber', '0x3', false);
  const { hash } = block;
  const transaction = block.transactions[0] ?? hash;
  const call = { from: accountAt(0), to: token, data: transferCalldata(stranger('77'), 5n), gas: '0x186a0' };
  const questions: [method: string, ...params: unknown[]][] = [
    ['eth_blockNumber'],
    ['eth_getBalance', accountAt(0), 'latest'],
    ['eth_getStorageAt', token, '0x2', 'latest'],
    ['eth_getCode', token, '0x2'],
    ['eth_call', call, 'latest'],
    ['eth_estimateGas', call],
    ['linea_estimateGas', call],
    ['eth_getBlockByNumber', '0x3', true],
    ['eth_getBlockReceipts', '0x3'],
    ['eth_getLogs', { fromBlock: '0x1', toBlock: 'latest', address: token }],
    ['eth_feeHistory', '0x3', 'latest', [50]],
    ['eth_getProof', token, ['0x2'], 'latest'],
    ['linea_getProof', accountAt(0), [], '0x1'],
    ['eth_getTransactionReceipt', transaction],
    ['eth_getTransactionByHash', transaction],
    ['eth_getBlockByHash', hash, false],
  ];
  const truths = await Promise.all(questions.map(([method, ...params]) => ask(method, ...params)));
  const before = globalThis.fetch;
  return {
    inputs: lie,
    async check({ question, liar, beside, first, isRepeated, tell }) {
      const at = question % questions.length;
      const [method, ...params] = questions[at]!;
      let count = 0;
      globalThis.fetch = async (input, init) => {
        const request = new Request(input, init);
        const { hostname } = new URL(request.url);
        const { status, text } = await post(dev, await request.text(), hostname.startsWith('l1') ? 'l1' : 'l2');
        const n = hostname.startsWith(liar) ? count++ : -1;
        const lies = isRepeated ? n >= first : n === first;
        return new Response(lies ? tell(text) : text, { status, headers: { 'content-type': 'application/json' } });
      };
      const thrown: unknown[] = [];
      const clock = new TurnClock();
      const endpoints = ['http://l2.invalid/', ...(beside ? ['http://honest.invalid/'] : [])];
      const chain = { kind: 'light', network: devnet(), endpoints, layerOne: ['http://l1.invalid/'] } as const;
      const node = await createInlineNode({ clock, chain, dictionary, onError: (error) => thrown.push(error) });
      try {
        const answer = await node.request<UntypedMethod>({ method, params }).then(
          (value) => ({ value }),
          () => undefined,
        );
        const untyped = thrown.find(isUntyped);
        if (untyped !== undefined) throw untyped;
        if (answer === undefined && count <= first)
          throw new Error(`${method} failed though no answer was damaged: ${thrown}`);
        if (answer === undefined || JSON.stringify(answer.value) === JSON.stringify(truths[at])) return;
        // That nothing has a hash is a word of the endpoint, believed where it is the only one.
        if (!beside && answer.value === null && /ByHash|TransactionReceipt/.test(method)) return;
        throw new Error(`${method} ${JSON.stringify(params)} was answered ${JSON.stringify(answer.value)}`);
      } finally {
        await node.close();
      }
    },
    async close() {
      globalThis.fetch = before;
      await dev.close();
    },
  };
}
