import { RLP } from '@ethereumjs/rlp';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { isPlumblineError, PlumblineError } from '../src/errors.js';
import type { BlobSchedule } from '../src/ethereum/base-fee.js';
import type { Log } from '../src/ethereum/receipt.js';
import { loadSignerRecovery } from '../src/ethereum/signer.js';
import { parseSignedTransaction } from '../src/ethereum/transaction.js';
import type { BlockContext } from '../src/evm/block-context.js';
import { Machine } from '../src/evm/machine.js';
import { StateOverlay } from '../src/evm/state-overlay.js';
import { runTransaction } from '../src/evm/transaction.js';
import { requireTypeInForce } from '../src/evm/transaction-checks.js';
import type { RunOptions, TransactionOutcome } from '../src/evm/transaction-message.js';
import type { Hardfork } from '../src/networks/network.js';
import { bytesToHex, type Hex, hexToBytes } from '../src/primitives/hex.js';
import { AllocRoot } from './alloc-root.js';
import { type Alloc, AllocState } from './alloc-state.js';
import { type ArchivedFile, archiveFiles } from './archive.js';
import { type Area, differs, type Material, type Report } from './area.js';
import { contextOfFixture } from './fixture-context.js';

/** What is expected of one transaction under one fork. */
export interface Post {
  /** State root after it, without a reward for the block. */
  hash: Hex;
  /** keccak256 of the RLP of the logs. */
  logs: Hex;
  txbytes: Hex;
  indexes: { data: number; gas: number; value: number };
  /** The transaction has to be refused. */
  expectException?: string;
}

export interface StateTest {
  env: {
    currentCoinbase: Hex;
    currentGasLimit: Hex;
    currentNumber: Hex;
    currentTimestamp: Hex;
    currentDifficulty: Hex;
    currentBaseFee?: Hex;
    currentRandom?: Hex;
    currentExcessBlobGas?: Hex;
    slotNumber?: Hex;
  };
  pre: Alloc;
  post: Record<string, Post[]>;
  config?: { chainid?: Hex; blobSchedule?: Record<string, Record<keyof BlobSchedule, Hex>> };
}

const ARCHIVES = ['state-tests/general-state-tests.tar.gz', 'state-tests/osaka-state-tests.tar.gz'];
/** Tests in the same form that were generated for plumbline. */
const GENERATED = 'state-tests/generated.json';

/**
 * A creation at an address that has storage, and neither code nor a nonce, has to fail (EIP-7610). Nothing that execution
 * reads says whether an account has storage, and no network has such an account that a creation can reach.
 */
const STORAGE_COLLISIONS: ReadonlySet<string> = new Set([
  'stCreate2/RevertInCreateInInitCreate2Paris.json',
  'stCreate2/create2collisionStorageParis.json',
  'stExtCodeHash/dynamicAccountOverwriteEmpty_Paris.json',
  'stRevertTest/RevertInCreateInInit_Paris.json',
  'stSStoreTest/InitCollisionParis.json',
]);

/** Recursion with a megabyte of memory in each of 1024 frames; no block of a network has the gas for it. */
const LARGE_CASE = { name: 'stStaticCall/static_Call1MB1024Calldepth.json static_Call1MB1024Calldepth', data: 1 };

/** Forks by the names that the tests have for them. */
const FORKS: Readonly<Record<string, Hardfork>> = {
  Frontier: 'chainstart',
  Homestead: 'homestead',
  EIP150: 'tangerineWhistle',
  EIP158: 'spuriousDragon',
  Byzantium: 'byzantium',
  Constantinople: 'constantinople',
  ConstantinopleFix: 'petersburg',
  Istanbul: 'istanbul',
  Berlin: 'berlin',
  London: 'london',
  Paris: 'paris',
  Shanghai: 'shanghai',
  Cancun: 'cancun',
  Prague: 'prague',
  Osaka: 'osaka',
  Amsterdam: 'amsterdam',
};

/** Of Ethereum. @source EIP-4844, EIP-7691 */
const BLOBS: Readonly<Record<string, BlobSchedule>> = {
  Cancun: { target: 3, max: 6, baseFeeUpdateFraction: 3_338_477n },
  Prague: { target: 6, max: 9, baseFeeUpdateFraction: 5_007_716n },
  Osaka: { target: 6, max: 9, baseFeeUpdateFraction: 5_007_716n },
};

/** The official state tests: one transaction each on a small state. State root, logs and refusals. */
export const stateTestsArea: Area = {
  name: 'state-tests',
  usesKernel: true,
  showsEveryFailure: true,
  files: (material) => [...ARCHIVES, GENERATED].filter(material.has),
  async run(material, report) {
    for (const path of this.files(material)) {
      const total = { files: 0, cases: 0 };
      for (const { name, text } of filesOf(path, material)) {
        if (!material.wants(name)) continue;
        const count = { cases: 0, failed: 0 };
        for (const [title, test] of Object.entries(JSON.parse(text()) as Record<string, StateTest>)) {
          // Newer titles repeat the path of the file before `::`.
          if (STORAGE_COLLISIONS.has(name))
            report.skip(`${name} ${title}`, 'needs to know that an account has storage');
          else await checkTest(`${name} ${title.slice(title.lastIndexOf('::') + 1)}`, test, report, count);
        }
        if (count.failed > 0) report.note(`${name}: ${count.failed} of ${count.cases} cases failed`);
        total.files++;
        total.cases += count.cases;
      }
      report.note(`${path}: ${total.cases} cases in ${total.files} files`);
    }
  },
};

/** The JSON files of an archive, named without its first folder; a plain file as it is. */
function* filesOf(path: string, material: Material): Iterable<ArchivedFile> {
  if (path === GENERATED) {
    yield { name: path, text: () => new TextDecoder().decode(material.bytes(path)) };
    return;
  }
  for (const { name, text } of archiveFiles(material.place(path))) {
    if (name.endsWith('.json')) yield { name: name.slice(name.indexOf('/') + 1), text };
  }
}

/** Cases of a file, and those that failed. */
interface Count {
  cases: number;
  failed: number;
}

async function checkTest(name: string, test: StateTest, report: Report, count: Count): Promise<void> {
  const alloc = withWholeKeys(test.pre);
  const reader = new AllocState(alloc);
  const root = new AllocRoot(alloc);
  for (const [fork, posts] of Object.entries(test.post)) {
    const network = networkOf(test, fork);
    const block = contextOf(test, network);
    for (const post of posts) {
      const { data, gas, value } = post.indexes;
      const title = `${name} ${fork} data ${data} gas ${gas} value ${value}`;
      count.cases++;
      if (name === LARGE_CASE.name && data === LARGE_CASE.data) {
        report.skip(title, 'needs 1 GiB of memory, and a run gets 512 MiB');
        continue;
      }
      // Taken back when the check comes to its end without a difference: it can also throw.
      count.failed++;
      await report.check(title, async () => {
        const state = new StateOverlay(reader);
        const machine = await Machine.open(network, block, state);
        const outcome = await outcomeOf(machine, post.txbytes);
        machine.close();
        const isRefused = outcome instanceof PlumblineError;
        if (isRefused !== (post.expectException !== undefined)) {
          return `expected ${post.expectException ?? 'a run'}, got ${isRefused ? outcome.message : 'a run'}`;
        }
        const problem =
          differs(post.logs, logsHash(isRefused ? [] : outcome.logs)) ??
          differs(post.hash, root.after(await state.changes()));
        if (problem === undefined) count.failed--;
        return problem;
      });
    }
  }
}

/** @returns the reason of a refusal, or what the run came to */
export async function outcomeOf(
  machine: Machine,
  raw: Hex,
  options: RunOptions = {},
): Promise<PlumblineError | TransactionOutcome> {
  const { rules, block } = machine;
  await loadSignerRecovery();
  try {
    const parsing = { blobs: true, frontier: rules.hardfork === 'chainstart' };
    const transaction = parseSignedTransaction(hexToBytes(raw), rules.chainId, parsing);
    requireTypeInForce(transaction, rules);
    return await runTransaction(machine, transaction, { ...options, gasAvailable: block.gasLimit });
  } catch (error) {
    if (isPlumblineError(error, 'TRANSACTION_REJECTED') || isPlumblineError(error, 'INSUFFICIENT_FUNDS')) {
      return error;
    }
    throw error;
  }
}

export function networkOf({ config }: Pick<StateTest, 'config'>, fork: string) {
  const hardfork = FORKS[fork];
  if (hardfork === undefined) throw new Error(`no such fork is known: ${fork}`);
  const listed = config?.blobSchedule?.[fork];
  const blobs =
    listed === undefined
      ? BLOBS[fork]
      : {
          target: Number(listed.target),
          max: Number(listed.max),
          baseFeeUpdateFraction: BigInt(listed.baseFeeUpdateFraction),
        };
  const activation = { hardfork, block: 0, ...(blobs !== undefined && { blobs }) };
  return { chainId: Number(config?.chainid ?? 1), forks: [activation] };
}

export function contextOf({ env }: StateTest, network: ReturnType<typeof networkOf>): BlockContext {
  const block = {
    number: env.currentNumber,
    timestamp: env.currentTimestamp,
    slotNumber: env.slotNumber,
    gasLimit: env.currentGasLimit,
    coinbase: env.currentCoinbase,
    baseFeePerGas: env.currentBaseFee,
    prevRandao: env.currentRandom,
    difficulty: env.currentDifficulty,
    excessBlobGas: env.currentExcessBlobGas,
  };
  // The tests give a block the hash of its number in digits.
  return contextOfFixture(network, block, async (of) => keccak_256(new TextEncoder().encode(of.toString())));
}

/** With slots as 32 bytes each: the tests leave out zeros at their start. */
export function withWholeKeys(pre: Alloc): Alloc {
  const word = (value: string): Hex => `0x${BigInt(value).toString(16).padStart(64, '0')}`;
  const entries = Object.entries(pre).map(([address, account]) => {
    const storage = Object.entries(account?.storage ?? {}).map(([key, value]) => [word(key), word(value!)]);
    return [address.toLowerCase(), { ...account, storage: Object.fromEntries(storage) }];
  });
  return Object.fromEntries(entries);
}

export function logsHash(logs: readonly Log[]): Hex {
  const fields = logs.map(({ address, topics, data }) => [address, [...topics], data]);
  return bytesToHex(keccak_256(RLP.encode(fields)));
}
