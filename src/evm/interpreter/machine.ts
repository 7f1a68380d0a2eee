import { invalidParameter } from '../../errors.js';
import {
  type EvmEnvironment,
  type EvmKernel,
  FLAGS,
  returnEvmKernel,
  type TraceRecord,
  takeEvmKernel,
} from '../../kernel/evm.js';
import type { readTrace } from '../../kernel/evm-trace.js';
import type { Hardfork, Network } from '../../networks/network.js';
import { bigIntToBytes, equalBytes } from '../../primitives/bytes.js';
import { bytesToHex } from '../../primitives/hex.js';
import type { BlockContext } from '../block-context.js';
import { type Rules, rulesAt } from '../common.js';
import { activePrecompiles } from '../precompiles/active-precompiles.js';
import type { StateOverlay } from '../state/state-overlay.js';

/** Without blobs the blob base fee stays at its minimum, 1 wei (docs/spec/json-rpc.md 1.2). */
const MIN_BLOB_BASE_FEE = 1n;

/** Forks of the kernel by index. Forks that are not in the list execute like the one before them. */
const KERNEL_FORKS: Partial<Record<Hardfork, number>> = {
  chainstart: 0,
  homestead: 1,
  tangerineWhistle: 2,
  spuriousDragon: 3,
  byzantium: 4,
  constantinople: 5,
  petersburg: 6,
  istanbul: 7,
  muirGlacier: 7,
  berlin: 8,
  london: 9,
  arrowGlacier: 9,
  grayGlacier: 9,
  paris: 10,
  shanghai: 11,
  cancun: 12,
  prague: 13,
};
const OSAKA = 14;

/** A precompile moved to another address. */
export interface MovedPrecompile {
  /** 20 bytes. */
  readonly from: Uint8Array;
  /** 20 bytes. */
  readonly to: Uint8Array;
}

/** What follows a run as it goes. */
export interface Tracing {
  /** What is recorded: of `FLAGS`. */
  readonly flags: number;
  /** Reads the kernel's record. */
  readonly read: typeof readTrace;
  /** Takes a record, in order. It must not be kept, unless it is one of a step. @throws PlumblineError to end the run */
  take(record: TraceRecord): void;
}

/** Differences between a machine and its network. */
export interface MachineOptions {
  readonly moved?: readonly MovedPrecompile[];
  /** Addresses (20 bytes each) that are ordinary accounts, even if the rules have a precompile there. */
  readonly removed?: readonly Uint8Array[];
  /** Add a log for each transfer of ether (ERC-7528). */
  readonly traceTransfers?: boolean | undefined;
  readonly tracing?: Tracing | undefined;
}

/** What of the environment differs between the transactions of a block. */
export type TransactionEnvironment = Pick<EvmEnvironment, 'origin' | 'gasPrice' | 'blobHashes'> & {
  /** Wei; that of the block if left out. */
  readonly baseFee?: bigint | undefined;
};

/** Address of a precompile, and the number of its standard address. */
export type PlacedPrecompile = readonly [address: Uint8Array, id: number];

/**
 * Executes on one state and one block, one run at a time. What a run reads stays in its kernel for the next one. The
 * kernel is taken for the first run.
 */
export class Machine {
  private kernel: EvmKernel | undefined;
  /** Version of the state that the kernel holds a part of. */
  private heldVersion = -1;

  private constructor(
    readonly rules: Rules,
    readonly block: BlockContext,
    readonly state: StateOverlay,
    private readonly placed: readonly PlacedPrecompile[],
    private readonly flags: number,
    private readonly tracing: Tracing | undefined,
  ) {}

  /** @throws PlumblineError `INVALID_PARAMETER` when a precompile is moved from an address that has none */
  static async open(
    network: Pick<Network, 'forks' | 'chainId'>,
    block: BlockContext,
    state: StateOverlay,
    options: MachineOptions = {},
  ): Promise<Machine> {
    const rules = rulesAt(network, block.number, block.timestamp);
    const { traceTransfers, tracing } = options;
    const flags = (traceTransfers === true ? FLAGS.transfers : 0) | (tracing?.flags ?? 0);
    return new Machine(rules, block, state, placedPrecompiles(rules, options), flags, tracing);
  }

  /** The kernel of this machine, with nothing of another state. @throws PlumblineError `KERNEL_UNAVAILABLE` */
  async enter(): Promise<EvmKernel> {
    const held = this.kernel?.isBroken === true ? undefined : this.kernel;
    const kernel = held ?? (await takeEvmKernel(this.configuration));
    if (held === undefined) {
      this.kernel = kernel;
      this.configure(kernel);
      this.heldVersion = this.state.version;
    }
    if (this.heldVersion !== this.state.version) {
      kernel.forget();
      this.heldVersion = this.state.version;
    }
    return kernel;
  }

  /** Starts a transaction. */
  begin(kernel: EvmKernel, { baseFee, origin, gasPrice, blobHashes }: TransactionEnvironment): void {
    const { number, timestamp, gasLimit, coinbase, prevRandao, difficulty, blobBaseFee, baseFeePerGas } = this.block;
    kernel.begin({
      number,
      timestamp,
      gasLimit,
      chainId: this.rules.chainId,
      coinbase,
      random: this.rules.paris ? prevRandao : bigIntToBytes(difficulty ?? 0n, 32),
      baseFee: baseFee ?? baseFeePerGas,
      blobBaseFee: blobBaseFee ?? MIN_BLOB_BASE_FEE,
      origin,
      gasPrice,
      blobHashes,
    });
  }

  /** Hands over what the last run recorded. */
  takeTrace(kernel: EvmKernel): void {
    if (this.tracing !== undefined) kernel.takeTrace(this.tracing.read, this.tracing.take);
  }

  /** Ends a transaction: what it wrote is in the state afterwards. */
  commit(kernel: EvmKernel): void {
    this.state.write(kernel.changes());
    kernel.commit();
    this.heldVersion = this.state.version;
  }

  /** Gives the kernel back. The machine must not run anything afterwards. */
  close(): void {
    if (this.kernel !== undefined) returnEvmKernel(this.kernel);
    this.kernel = undefined;
  }

  /** What the kernel is configured for; undefined where precompiles were moved or removed. */
  private get configuration(): string | undefined {
    return this.placed === standardPrecompiles(this.rules) ? this.rules.hardfork : undefined;
  }

  private configure(kernel: EvmKernel): void {
    const { configuration, rules } = this;
    kernel.record(this.flags);
    if (configuration !== undefined && kernel.configuration === configuration) {
      kernel.forget();
      return;
    }
    kernel.configure(KERNEL_FORKS[rules.hardfork] ?? OSAKA);
    kernel.configuration = configuration;
    for (const [address, id] of this.placed) kernel.setPrecompile(address, id);
    // Also where a precompile was moved away or removed: warm are the addresses of the rules.
    for (const [address] of standardPrecompiles(rules)) kernel.warmAlways(address);
  }
}

const standardByFork = new Map<Hardfork, readonly PlacedPrecompile[]>();

function standardPrecompiles(rules: Rules): readonly PlacedPrecompile[] {
  let standard = standardByFork.get(rules.hardfork);
  if (standard === undefined) {
    standard = activePrecompiles(rules).map((id) => [bigIntToBytes(BigInt(id), 20), id]);
    standardByFork.set(rules.hardfork, standard);
  }
  return standard;
}

/** The precompiles of these rules, with those that were moved and without those that were removed. */
export function placedPrecompiles(
  rules: Rules,
  { moved = [], removed = [] }: MachineOptions,
): readonly PlacedPrecompile[] {
  const active = standardPrecompiles(rules);
  if (moved.length === 0 && removed.length === 0) return active;
  const gone = [...removed, ...moved.map(({ from }) => from)];
  const placed = active.filter(([address]) => !gone.some((other) => equalBytes(other, address)));
  for (const { from, to } of moved) {
    const found = active.find(([address]) => equalBytes(address, from));
    if (found === undefined) {
      throw invalidParameter('movePrecompileToAddress', `account ${bytesToHex(from)} is not a precompile`);
    }
    placed.push([to, found[1]]);
  }
  return placed;
}
