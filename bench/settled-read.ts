import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { LineaProofJson } from '../src/accumulator/proof-shape.js';
import { HISTORY_CONTRACT } from '../src/ethereum/constants.js';
import type { EvidenceBundle } from '../src/evidence/evidence-bundle.js';
import { verifyEvidence } from '../src/evidence/verify-evidence.js';
import { createInlineNode } from '../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../src/hosts/provider/provider.js';
import { loadHasher } from '../src/kernel/hasher.js';
import { devnet } from '../src/networks/devnet.js';
import { type Hex, hexToBytes } from '../src/primitives/hex.js';
import { verifyLineaProof } from '../src/proof/linea-proof.js';
import { historySlot, verifySettledHeader } from '../src/proof/settled-header.js';
import { createStatistics, type UpstreamStatistics } from '../test/support/upstream-statistics.js';
import { alternate, type Figure, median, medianRatio } from './area.js';
import { addressOf, slotKeys } from './settled-alloc.js';

const ROUNDS = 7;
/** Reads of a round, each of another account. */
const READS = 24;
const SLOTS = 32;

/** A devnet with its layer 1 and beacon chain, in a process of its own. */
export interface SettledChain {
  /** Of its JSON-RPC; that of layer 1 and the beacon API are below `/l1`. */
  readonly url: string;
  /** Of a finalized beacon block. */
  readonly root: Hex;
}

/** Starts a chain with accounts (`addressOf`) of so many slots, and ends it after `use`. */
export async function withSettledChain<T>(
  accounts: number,
  slots: number,
  use: (chain: SettledChain) => Promise<T>,
): Promise<T> {
  const script = fileURLToPath(new URL('./processes/settled-chain.js', import.meta.url));
  const chain = spawn(process.execPath, [script, String(accounts), String(slots)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [line] = (await once(chain.stdout, 'data')) as [Buffer];
    return await use(JSON.parse(line.toString()) as SettledChain);
  } finally {
    const ended = once(chain, 'exit');
    chain.kill('SIGKILL');
    await ended;
  }
}

/** Reads at level `settled` once layer 1 is followed: requests, and processor time beside the verification of the zk proof. */
export const settledReads = (): Promise<Figure[]> => withSettledChain((ROUNDS + 2) * READS, SLOTS, measure);

async function measure({ url, root }: SettledChain): Promise<Figure[]> {
  const statistics = createStatistics();
  const node = await createInlineNode({
    upstreamObserver: statistics,
    chain: {
      kind: 'light',
      network: devnet(),
      endpoints: [url],
      layerOne: { consensus: [`${url}/l1`], execution: [`${url}/l1`], checkpoint: { root } },
      required: { finalized: 'settled' },
      finalityMaxAgeMs: 600_000,
    },
  });
  try {
    const first = await counted(statistics, () => ask(node, 'eth_getBalance', addressOf(0), 'finalized'));
    const balance = await counted(statistics, () => ask(node, 'eth_getBalance', addressOf(1), 'finalized'));
    const proof = await counted(statistics, () => ask(node, 'linea_getProof', addressOf(2), [], 'finalized'));
    const bundle = await node.exportEvidence({ block: 0 });
    const verdict = await verifyEvidence(bundle, { network: devnet(), checkpoint: hexToBytes(root) });
    if (!verdict.verified) throw new Error(verdict.message);
    const { stateRoot } = verdict.finalized;
    return [
      {
        name: 'a read at level settled, once layer 1 is followed: round trips',
        value: Math.max(balance.trips, proof.trips),
        unit: 'round trips',
        bar: { atMost: 2 },
        note: `a balance ${balance.note}; a zk proof ${proof.note}; the first read of a session ${first.note}`,
      },
      await headerFigure(bundle, stateRoot!),
      await processorTime(node, stateRoot!),
    ];
  } finally {
    await node.close();
  }
}

const ask = (node: PlumblineNode, method: string, ...params: unknown[]) =>
  node.request<UntypedMethod>({ method, params });

async function counted(statistics: UpstreamStatistics, read: () => Promise<unknown>) {
  statistics.reset();
  await read();
  const { roundTrips: trips, totals } = statistics;
  return { trips, note: `${trips} (${totals.requests} requests, ${(totals.bytesReceived / 1000).toFixed(1)} KB)` };
}

/** All checks of a header at level settled, over those of the zk proof of its hash alone. */
async function headerFigure({ finalized, state, header }: EvidenceBundle, stateRoot: Uint8Array): Promise<Figure> {
  const hasher = await loadHasher('poseidon2');
  const request = { address: HISTORY_CONTRACT, storageKeys: [historySlot(0, finalized)!], stateRoot };
  const times = alternate({
    settled: () => verifySettledHeader(hasher, { block: 0, finalized, stateRoot }, state, header),
    zk: () => verifyLineaProof(hasher, request, state),
  });
  return {
    name: 'checking a header at level settled over the verification of its zk proof alone',
    value: times.settled! / times.zk!,
    unit: 'x',
    bar: { atMost: 1.2 },
    note: `${(times.settled! / 1000).toFixed(0)} and ${(times.zk! / 1000).toFixed(0)} us`,
  };
}

async function milliseconds(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

/** Of this process, with the request over HTTP and the reading of its JSON. */
async function processorTime(node: PlumblineNode, stateRoot: Uint8Array): Promise<Figure> {
  const hasher = await loadHasher('poseidon2');
  const storageKeys = slotKeys(SLOTS);
  const keys = storageKeys.map((key) => hexToBytes(key));
  const [reads, verifications]: [number[], number[]] = [[], []];
  for (let round = -1; round < ROUNDS; round++) {
    const addresses = Array.from({ length: READS }, (_, i) => addressOf((round + 2) * READS + i));
    const answers: LineaProofJson[] = [];
    const read = await milliseconds(async () => {
      for (const address of addresses) {
        answers.push((await ask(node, 'linea_getProof', address, storageKeys, 'finalized')) as LineaProofJson);
      }
    });
    const verified = await milliseconds(async () => {
      for (const [i, answer] of answers.entries()) {
        const verdict = verifyLineaProof(
          hasher,
          { address: hexToBytes(addresses[i]!), storageKeys: keys, stateRoot },
          answer,
        );
        if (!verdict.verified) throw new Error(verdict.message);
      }
    });
    if (round < 0) continue;
    reads.push(read);
    verifications.push(verified);
  }
  return {
    name: `linea_getProof of ${SLOTS} slots at level settled: processor time over that of its verification`,
    value: medianRatio(reads, verifications),
    unit: 'x',
    note: `${(median(reads) / READS).toFixed(1)} and ${(median(verifications) / READS).toFixed(1)} ms`,
  };
}
