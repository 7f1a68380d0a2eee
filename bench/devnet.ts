import { blockWithHash } from '../src/chain/devnet/records/block-record.js';
import { Ledger } from '../src/chain/devnet/records/ledger.js';
import { searchLogs } from '../src/chain/log-search.js';
import { EMPTY_TRIE_ROOT, EMPTY_UNCLES_HASH } from '../src/ethereum/constants.js';
import type { BlockHeader } from '../src/ethereum/header.js';
import { createInlineNode } from '../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../src/hosts/provider/provider.js';
import { bigIntToBytes, ZERO_ADDRESS, ZERO_WORD } from '../src/primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../src/primitives/hex.js';
import { anvilPath } from '../test/support/anvil.js';
import { recordedRequests } from '../test/support/recorded-requests.js';
import { alternateAsync, type BenchArea, type Figure, median, medianRatio } from './area.js';
import { type Replay, replayOnAnvil, replayOnDevnet } from './dapp-requests.js';
import { blockYardstick, joinedHex, searchByBlocks } from './devnet-before.js';
import { onAnvil, onDevnet, signedTransfers, type TransferRun } from './devnet-transfers.js';

const TRANSFERS = 500;
const TRANSFER_ROUNDS = 3;
const REPLAY_ROUNDS = 3;
const DEVNET_CHAIN = 59_139;
const ANVIL_CHAIN = 1;

const EMPTY_BLOCKS = 20;
/**
 * CPU of an empty block at b9d6299, in yardsticks: three runs that took turns with the yardstick on a Xeon at 2.1 GHz gave
 * 1.00, 1.03 and 1.21. The least is taken. Its state did not change. Since then each block writes two slots of system contracts
 * (EIP-2935, EIP-4788), in the trie and in the zk state: about 1.1 ms of the time of a block.
 */
const YARDSTICKS_BEFORE = 1;

const PROOF_KEYS = 1024;
const PROVED: Hex = `0x${'22'.repeat(20)}`;

const LOG_BLOCKS = 5000;
/** Newer blocks, so that all that are searched are packed. */
const LATER_BLOCKS = 300;

const quantity = (value: number): Hex => `0x${value.toString(16)}`;
const word = (value: number): Hex => bytesToHex(bigIntToBytes(BigInt(value), 32));

/** Runs that took turns, as a figure: the wall time of the devnet over that of anvil. */
function besideAnvil<Run extends { readonly wallMs: number; readonly cpuMs: number }>(
  runs: readonly { readonly devnet: Run; readonly anvil: Run }[],
  { name, atMost, note }: { readonly name: string; readonly atMost: number; readonly note: (run: Run) => string },
): Figure {
  const of = (node: 'devnet' | 'anvil', what: 'wallMs' | 'cpuMs') => runs.map((run) => run[node][what]);
  const shown = (what: 'wallMs' | 'cpuMs') =>
    [of('devnet', what), of('anvil', what)].map((all) => Math.round(median(all))).join(' and ');
  const [{ devnet, anvil }] = runs as [(typeof runs)[0]];
  return {
    name: `${name}, over anvil`,
    value: medianRatio(of('devnet', 'wallMs'), of('anvil', 'wallMs')),
    unit: 'x',
    bar: { atMost },
    note: `wall ${shown('wallMs')} ms, CPU ${shown('cpuMs')} ms, ${note(devnet)} and ${note(anvil)}`,
  };
}

async function anvilFigures(): Promise<Figure[]> {
  if (anvilPath() === undefined) {
    console.warn('  there is no anvil for this system: transfers and recorded requests were not measured');
    return [];
  }
  const [ours, theirs] = [signedTransfers(TRANSFERS, DEVNET_CHAIN), signedTransfers(TRANSFERS, ANVIL_CHAIN)];
  const transfers: { devnet: TransferRun; anvil: TransferRun }[] = [];
  for (let round = 0; round < TRANSFER_ROUNDS; round++)
    transfers.push({ devnet: await onDevnet(ours), anvil: await onAnvil(theirs) });
  const requests = recordedRequests();
  const replays: { devnet: Replay; anvil: Replay }[] = [];
  for (let round = 0; round < REPLAY_ROUNDS; round++)
    replays.push({ devnet: await replayOnDevnet(requests), anvil: await replayOnAnvil(requests) });
  return [
    besideAnvil(transfers, {
      name: `${TRANSFERS} token transfers, a block each`,
      atMost: 1.5,
      note: ({ blocks }) => `blocks ${blocks}`,
    }),
    besideAnvil(replays, {
      name: `${requests.length} requests of a test suite`,
      atMost: 1.5,
      note: ({ otherKind }) => `${otherKind} answers of another kind`,
    }),
  ];
}

/** EIP-4788 and EIP-2935. */
const SYSTEM_CONTRACTS = ['0x000f3df6d732807ef1319fb7b8bb8522d0beac02', '0x0000f90827f1c53a10cb7a02335b175320002935'];

/** The chain before had no system contracts, so it is compared with one without them; what they add is printed. */
async function emptyBlocks(node: PlumblineNode): Promise<Figure[]> {
  const mine = () => node.request({ method: 'anvil_mine', params: [quantity(EMPTY_BLOCKS)] });
  const measured = async (name: string, bar: Figure['bar']): Promise<Figure> => {
    const times = await alternateAsync({ before: blockYardstick, now: mine });
    return {
      name: `${name}, as before over now`,
      value: (YARDSTICKS_BEFORE * EMPTY_BLOCKS) / medianRatio(times.now!, times.before!),
      unit: 'x',
      ...(bar !== undefined && { bar }),
      note: `${((1000 * median(times.now!)) / EMPTY_BLOCKS).toFixed(0)} us; a yardstick ${(1000 * median(times.before!)).toFixed(0)} us, ${YARDSTICKS_BEFORE} to a block at b9d6299`,
    };
  };
  const withContracts = await measured('empty block with system contracts', { atLeast: 2 });
  for (const address of SYSTEM_CONTRACTS)
    await node.request<UntypedMethod>({ method: 'anvil_setCode', params: [address, '0x'] });
  return [await measured('empty block', { atLeast: 5 }), withContracts];
}

/**
 * Half of the slots are set. The way before is only the hex of the same bytes; the rest of its work, that of today, is left
 * out, so the figure is below the true one.
 */
async function proofs(node: PlumblineNode): Promise<Figure> {
  const keys = Array.from({ length: PROOF_KEYS }, (_, i) => word(i));
  await node.request({ method: 'anvil_setCode', params: [PROVED, '0x00'] });
  for (const [i, key] of keys.entries()) {
    if (i % 2 === 0) await node.request({ method: 'anvil_setStorageAt', params: [PROVED, key, word(i + 1)] });
  }
  await node.request({ method: 'anvil_mine', params: ['0x5'] });
  const ask = () => node.request({ method: 'linea_getProof', params: [PROVED, keys, 'latest'] });
  const parts: Uint8Array[] = [];
  JSON.stringify(await ask(), (_, value: unknown) => {
    if (typeof value === 'string') parts.push(hexToBytes(value));
    return value;
  });
  const before = async () => parts.map(joinedHex);
  const times = await alternateAsync({ before, now: ask }, { rounds: 15, turnMs: 150 });
  return {
    name: `linea_getProof of ${PROOF_KEYS} keys: its hex as before over all of it now`,
    value: medianRatio(times.before!, times.now!),
    unit: 'x',
    bar: { atLeast: 3 },
    note: `${median(times.before!).toFixed(0)} and ${median(times.now!).toFixed(0)} ms`,
  };
}

function emptyHeader(number: number, parentHash: Uint8Array): BlockHeader {
  return {
    parentHash,
    sha3Uncles: EMPTY_UNCLES_HASH,
    miner: ZERO_ADDRESS,
    stateRoot: EMPTY_TRIE_ROOT,
    transactionsRoot: EMPTY_TRIE_ROOT,
    receiptsRoot: EMPTY_TRIE_ROOT,
    logsBloom: new Uint8Array(256),
    difficulty: 0n,
    number,
    gasLimit: 2_000_000_000n,
    gasUsed: 0n,
    timestamp: 1_767_225_600 + number,
    extraData: new Uint8Array(32),
    mixHash: ZERO_WORD,
    nonce: new Uint8Array(8),
    baseFeePerGas: 7n,
  };
}

async function logs(): Promise<Figure> {
  const ledger = new Ledger(DEVNET_CHAIN);
  let parent: Uint8Array = ZERO_WORD;
  for (let number = 0; number <= LOG_BLOCKS + LATER_BLOCKS; number++) {
    const header = emptyHeader(number, parent);
    const block = blockWithHash({ header, transactions: [], uncles: [], withdrawals: [] });
    ledger.append(block, []);
    parent = block.hash;
  }
  const filter = { addresses: [hexToBytes(PROVED)], topics: [] };
  const source = {
    bloom: (number: number) => ledger.bloomOf(number),
    block: async () => undefined,
    receipts: async () => [],
  };
  const times = await alternateAsync({
    before: () => searchByBlocks(ledger, LOG_BLOCKS, filter),
    now: () => searchLogs(source, { from: 1, to: LOG_BLOCKS, filter }),
  });
  return {
    name: `eth_getLogs over ${LOG_BLOCKS} empty blocks, by reading each over by blooms`,
    value: medianRatio(times.before!, times.now!),
    unit: 'x',
    bar: { atLeast: 4 },
    note: `${median(times.before!).toFixed(1)} and ${median(times.now!).toFixed(1)} ms`,
  };
}

/**
 * Transfers and the requests of a test suite (`bench/recorded`) are measured against anvil, each node in a fresh process and asked over
 * HTTP by the same client. The other rows
 * are about what this library did before: of the old ways only what could be kept small is there to be run
 * (`devnet-before.ts`), and for the rest a yardstick, of which the old devnet was measured to take so many.
 */
export const devnetCosts: BenchArea = {
  name: 'devnet',
  question: 'What does a transaction cost on a devnet besides its execution, beside anvil and beside what it was?',
  async run() {
    const found = await anvilFigures();
    const node = await createInlineNode({ chain: { kind: 'devnet' } });
    try {
      return [...found, ...(await emptyBlocks(node)), await proofs(node), await logs()];
    } finally {
      await node.close();
    }
  },
};
