import type { Common } from '@ethereumjs/common';
import {
  type CustomPrecompile,
  type EVM,
  EVMError,
  type EVMRunCallOpts,
  getActivePrecompiles,
  type PrecompileFunc,
} from '@ethereumjs/evm';
import { Address } from '@ethereumjs/util';
import { PlumblineError } from '../../errors.js';
import type { Network } from '../../networks/network.js';
import { bytesToHex, hexToBytes } from '../../primitives/hex.js';
import type { BlockContext } from '../block-context.js';
import { type Rules, rulesAt } from '../common.js';
import type { StateOverlay } from '../state/state-overlay.js';
import type { Instruments } from './instruments.js';
import { Interpreter, type Precompiles } from './interpreter.js';
import { commonOf } from './interpreter-rules.js';
import type { Interpreters } from './interpreters.js';

type BlockForEvm = NonNullable<EVMRunCallOpts['block']>;

const POINT_EVALUATION = new Address(hexToBytes('0x000000000000000000000000000000000000000a'));

/** Where no blobs are let in the blob base fee stays at its minimum, 1 wei (docs/spec/json-rpc.md 1.2). */
const LEAST_BLOB_BASE_FEE = 1n;

/** A precompile of the rules in force, found at another address. */
export interface MovedPrecompile {
  /** 20 bytes. */
  readonly from: Uint8Array;
  /** 20 bytes. */
  readonly to: Uint8Array;
}

/** What a machine does otherwise than its network. */
export interface MachineOptions {
  readonly moved?: readonly MovedPrecompile[];
  /** Addresses (20 bytes each) that are ordinary accounts, whatever precompile they have. */
  readonly removed?: readonly Uint8Array[];
  /** Where it takes its interpreter from, and leaves it at the end; without them it makes one. */
  readonly interpreters?: Interpreters | undefined;
}

type PrecompileMap = ReadonlyMap<string, PrecompileFunc | undefined>;

/**
 * An interpreter on one state, in one block. It serves one run at a time and any number of runs; between them the
 * state stays, so blocks are built by running one transaction after another.
 */
export class Machine {
  private constructor(
    readonly rules: Rules,
    readonly block: BlockContext,
    readonly state: StateOverlay,
    private readonly options: MachineOptions,
    private interpreter: Interpreter,
  ) {}

  /** @throws PlumblineError `INVALID_PARAMETER` when a precompile is moved from an address that has none */
  static async open(
    network: Pick<Network, 'forks' | 'chainId'>,
    block: BlockContext,
    state: StateOverlay,
    options: MachineOptions = {},
  ): Promise<Machine> {
    const rules = rulesAt(network, block.number, block.timestamp);
    const idle = isPlain(options) ? options.interpreters?.take(rules) : undefined;
    idle?.moveTo(block, state);
    return new Machine(rules, block, state, options, idle ?? (await build(rules, block, state, options)));
  }

  get evm(): EVM {
    return this.interpreter.evm;
  }

  get instruments(): Instruments {
    return this.interpreter.instruments;
  }

  /** Addresses of the rules' precompiles as hex without 0x, whatever was moved or removed: warm from the start. */
  get precompileAddresses(): readonly string[] {
    return this.interpreter.precompileAddresses;
  }

  /** Replaces the interpreter after a run was cut short: its inner journals are in no defined state then. */
  async recover(): Promise<void> {
    this.interpreter = await build(this.rules, this.block, this.state, this.options);
  }

  /** Leaves the interpreter to the next machine, where `options` told where. This one must not be used any more. */
  close(): void {
    if (isPlain(this.options)) this.options.interpreters?.put(this.rules, this.interpreter);
  }

  /** The block in the interpreter's form. */
  blockForEvm(baseFeePerGas: bigint = this.block.baseFeePerGas): BlockForEvm {
    const { number, timestamp, gasLimit, coinbase, prevRandao, difficulty, blobBaseFee } = this.block;
    return {
      header: {
        number: BigInt(number),
        timestamp: BigInt(timestamp),
        gasLimit,
        baseFeePerGas,
        coinbase: new Address(coinbase),
        prevRandao,
        difficulty: difficulty ?? 0n,
        getBlobGasPrice: () => blobBaseFee ?? LEAST_BLOB_BASE_FEE,
      },
    };
  }
}

/** Whether the precompiles are those of the rules. */
function isPlain({ moved = [], removed = [] }: MachineOptions): boolean {
  return moved.length === 0 && removed.length === 0;
}

function build(rules: Rules, block: BlockContext, state: StateOverlay, options: MachineOptions): Promise<Interpreter> {
  const common = commonOf(rules);
  return Interpreter.create(common, precompilesOf(common, rules, options), block, state);
}

/** Without its trusted set-up the point evaluation throws; a precompile that fails is what a call can deal with. */
const failingPointEvaluation: PrecompileFunc = ({ gasLimit }) => ({
  executionGasUsed: gasLimit,
  returnValue: new Uint8Array(0),
  exceptionError: new EVMError(EVMError.errorMessages.INVALID_INPUTS),
});

function precompilesOf(common: Common, rules: Rules, { moved = [], removed = [] }: MachineOptions): Precompiles {
  const entries = new Map<string, CustomPrecompile>();
  if (rules.cancun) {
    const entry = { address: POINT_EVALUATION, function: failingPointEvaluation };
    entries.set(POINT_EVALUATION.toString(), entry);
  }
  const active: PrecompileMap = getActivePrecompiles(common, [...entries.values()]);
  for (const address of removed) {
    if (active.has(bytesToHex(address).slice(2))) entries.set(bytesToHex(address), { address: new Address(address) });
  }
  for (const { from } of moved) entries.set(bytesToHex(from), { address: new Address(from) });
  for (const { from, to } of moved) {
    const found = active.get(bytesToHex(from).slice(2));
    if (found === undefined) {
      const reason = `account ${bytesToHex(from)} is not a precompile`;
      throw new PlumblineError('INVALID_PARAMETER', reason, { parameter: 'movePrecompileToAddress', reason });
    }
    entries.set(bytesToHex(to), { address: new Address(to), function: found });
  }
  const origins = new Map<PrecompileFunc, number>();
  for (const [address, run] of active) if (run !== undefined) origins.set(run, Number(`0x${address}`));
  return { custom: [...entries.values()], origins, addresses: [...active.keys()] };
}
