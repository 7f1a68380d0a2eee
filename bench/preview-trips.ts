import { DEV_ACCOUNTS } from '../src/chain/devnet/state/dev-accounts.js';
import { createInlineNode } from '../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../src/hosts/provider/node-handle.js';
import { devnet } from '../src/networks/devnet.js';
import type { Hex } from '../src/primitives/hex.js';
import type { PreviewCall, TransactionPreview } from '../src/rpc/schema/transaction-preview.js';
import { contracts } from '../test/support/contracts.js';
import { type MockEndpoint, serveMock } from '../test/support/mock-chain.js';
import { DOMAINS, PERMIT2, TAKER, TOKEN, typed } from '../test/support/signatures.js';
import { swapScene } from '../test/support/swap-scene.js';
import { createStatistics } from '../test/support/upstream-statistics.js';
import type { Figure } from './area.js';

/** Time before an endpoint answers. */
export const LATENCY_MS = 50;

/** Round trips of the first preview of a light node that knows nothing but a fresh head, of two endpoints. */
export async function previewTrips(): Promise<Figure[]> {
  const trader = DEV_ACCOUNTS[0]!.address;
  const compiled = await contracts();
  const { alloc: ofSwaps, transfer, swap } = swapScene(compiled, trader);
  const signed = (name: string) => ({ nonce: 1n, code: compiled[name]!.runtimeCode });
  const alloc = { ...ofSwaps, [TOKEN]: signed('SignedToken'), [PERMIT2]: signed('Permits') };
  const full = await createInlineNode({ chain: { kind: 'devnet', network: devnet(), alloc } });
  const mocks = await Promise.all([0, 1].map(() => serveMock(full, { latencyMs: LATENCY_MS })));
  try {
    // Once before anything counts: what has to be compiled first takes time that its speculation then lacks.
    await trips(full, mocks, '', swap, { accessLists: false, atMost: 4 });
    return [
      await trips(full, mocks, 'ERC-20 transfer', transfer, { accessLists: true, atMost: 2 }),
      await trips(full, mocks, 'ERC-20 transfer', transfer, { accessLists: false, atMost: 3 }),
      await trips(full, mocks, 'two-hop swap', swap, { accessLists: true, atMost: 3 }),
      await trips(full, mocks, 'two-hop swap', swap, { accessLists: false, atMost: 4 }),
      ...(await signatureTrips(mocks, trader)),
    ];
  } finally {
    for (const mock of mocks) await mock.close();
    await full.close();
  }
}

/** Round trips of the preview of a signature, on a node of its own for each. */
async function signatureTrips(mocks: readonly MockEndpoint[], account: Hex): Promise<Figure[]> {
  const figures: Figure[] = [];
  const deadline = 4_000_000_000n;
  const signatures = {
    'a permit': typed('permit', DOMAINS.token, { owner: account, spender: TAKER, value: 5n, nonce: 0n, deadline }),
    'a Permit2 approval': typed('permitSingle', DOMAINS.permit2, {
      details: { token: TOKEN, amount: 5n, expiration: deadline, nonce: 0n },
      spender: TAKER,
      sigDeadline: deadline,
    }),
  };
  for (const [name, typedData] of Object.entries(signatures)) {
    const statistics = createStatistics();
    const endpoints = mocks.map(({ url }) => url);
    const chain = { kind: 'light', network: devnet(), endpoints } as const;
    const node = await createInlineNode({ chain, upstreamObserver: statistics });
    try {
      await node.request({ method: 'eth_blockNumber' });
      statistics.reset();
      const began = performance.now();
      const { effects } = await node.previewSignature({ typedData: typedData as never }, { account });
      const ms = performance.now() - began;
      if (effects?.calls[0]?.status !== 'success') throw new Error(`${name} was not run`);
      const { roundTrips, totals } = statistics;
      const note = `${totals.requests} requests, ${ms.toFixed(0)} ms`;
      figures.push({ name: `${name}: round trips`, value: roundTrips, unit: 'trips', bar: { atMost: 2 }, note });
    } finally {
      await node.close();
    }
  }
  return figures;
}

async function trips(
  full: PlumblineNode,
  mocks: readonly MockEndpoint[],
  name: string,
  call: PreviewCall,
  { accessLists, atMost }: { readonly accessLists: boolean; readonly atMost: number },
): Promise<Figure> {
  const statistics = createStatistics();
  const endpoints = mocks.map(({ url }) => url);
  const node = await createInlineNode({
    chain: { kind: 'light', network: devnet(), endpoints },
    upstreamObserver: statistics,
  });
  try {
    await node.request({ method: 'eth_blockNumber' });
    statistics.reset();
    const began = performance.now();
    const preview = await node.previewTransaction(call, { accessLists });
    const ms = performance.now() - began;
    const { roundTrips, totals } = statistics;
    requireSame(preview, await full.previewTransaction(call));
    const bytes = `${(totals.bytesSent / 1000).toFixed(1)} KB sent, ${(totals.bytesReceived / 1000).toFixed(1)} KB received`;
    return {
      name: `${name}, ${accessLists ? 'with' : 'without'} access lists: round trips`,
      value: roundTrips,
      unit: 'trips',
      bar: { atMost },
      note: `${totals.requests} requests, ${bytes}, ${ms.toFixed(0)} ms`,
    };
  } finally {
    await node.close();
  }
}

/** The preview has to be that of the node which holds the state. */
function requireSame(found: TransactionPreview, expected: TransactionPreview): void {
  const changes = ({ trust: _, seen: __, ...rest }: TransactionPreview) => JSON.stringify(rest);
  if (changes(found) !== changes(expected)) throw new Error(`preview ${changes(found)}, expected ${changes(expected)}`);
}
