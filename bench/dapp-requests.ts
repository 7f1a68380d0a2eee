import { Anvil } from '../test/support/anvil.js';
import { RECORDED_CHAIN, type RecordedRequest, replay } from '../test/support/recorded-requests.js';
import { withDevnet } from './devnet-transfers.js';

/** A replay of recorded requests against a node of its own process, fresh. */
export interface Replay {
  readonly wallMs: number;
  /** Processor time of the node meanwhile, ms; Linux only. */
  readonly cpuMs: number;
  /** Requests that failed where the recorded one did not, or the other way round. */
  readonly otherKind: number;
}

const { chainId, accounts } = RECORDED_CHAIN;

/** On a devnet with the options that it had when they were recorded. */
export const replayOnDevnet = (requests: readonly RecordedRequest[]): Promise<Replay> =>
  withDevnet(
    ['--quiet', '--tool', 'hardhat', '--chain-id', String(chainId), '--accounts', String(accounts)],
    (url, cpu) => measured(url, requests, cpu),
  );

/** With the base fee of the devnet, which the prices of the recorded transactions were made for. */
export async function replayOnAnvil(requests: readonly RecordedRequest[]): Promise<Replay> {
  const anvil = await Anvil.start('osaka', ['--base-fee', '7'], RECORDED_CHAIN);
  try {
    return await measured(anvil.url, requests, () => anvil.cpuMs());
  } finally {
    await anvil.close();
  }
}

async function measured(url: string, requests: readonly RecordedRequest[], cpu: () => number): Promise<Replay> {
  const cpuBefore = cpu();
  const started = performance.now();
  const others = await replay(requests, async (method, params) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
    return (await response.json()) as { result?: unknown; error?: object };
  });
  return { wallMs: performance.now() - started, cpuMs: cpu() - cpuBefore, otherKind: others.length };
}
