import { Common, Mainnet } from '@ethereumjs/common';
import {
  type CustomPrecompile,
  type EVM,
  EVMError,
  type EVMRunCallOpts,
  getActivePrecompiles,
  type PrecompileFunc,
} from '@ethereumjs/evm';
import { Address } from '@ethereumjs/util';
import { invalidParameter } from '../../../src/errors.js';
import type { BlockContext } from '../../../src/evm/block-context.js';
import { type Rules, rulesAt } from '../../../src/evm/common.js';
import type { Network } from '../../../src/networks/network.js';
import { bytesToHex, hexToBytes } from '../../../src/primitives/hex.js';
import type { Instruments } from './instruments.js';
import { Interpreter, type Precompiles } from './interpreter.js';
import type { OracleOverlay } from './state-overlay.js';

type BlockForEvm = NonNullable<EVMRunCallOpts['block']>;

const POINT_EVALUATION = new Address(hexToBytes('0x000000000000000000000000000000000000000a'));

/** Without blobs the blob base fee stays at its minimum, 1 wei (docs/spec/json-rpc.md 1.2). */
const MIN_BLOB_BASE_FEE = 1n;

/** A precompile moved to another address. */
export interface MovedPrecompile {
  /** 20 bytes. */
  readonly from: Uint8Array;
  /** 20 bytes. */
  readonly to: Uint8Array;
}

/** Differences between a machine and its network. */
export interface MachineOptions {
  readonly moved?: readonly MovedPrecompile[];
  /** Addresses (20 bytes each) that are ordinary accounts, even if the rules have a precompile there. */
  readonly removed?: readonly Uint8Array[];
}

type PrecompileMap = ReadonlyMap<string, PrecompileFunc | undefined>;

/**
 * An interpreter for one state and one block. It executes one run at a time. The state stays between runs, so a block
 * is built by running its transactions one after another.
 */
export class OracleMachine {
  private constructor(
    readonly rules: Rules,
    readonly block: BlockContext,
    readonly state: OracleOverlay,
    private readonly options: MachineOptions,
    private interpreter: Interpreter,
  ) {}

  /** @throws PlumblineError `INVALID_PARAMETER` when a precompile is moved from an address that has none */
  static async open(
    network: Pick<Network, 'forks' | 'chainId'>,
    block: BlockContext,
    state: OracleOverlay,
    options: MachineOptions = {},
  ): Promise<OracleMachine> {
    const rules = rulesAt(network, block.number, block.timestamp);
    return new OracleMachine(rules, block, state, options, await build(rules, block, state, options));
  }

  get evm(): EVM {
    return this.interpreter.evm;
  }

  get instruments(): Instruments {
    return this.interpreter.instruments;
  }

  /** Addresses of the rules' precompiles as hex without 0x, including moved and removed ones: warm from the start. */
  get precompileAddresses(): readonly string[] {
    return this.interpreter.precompileAddresses;
  }

  /** Replaces the interpreter after a run that was aborted, which leaves its journals undefined. */
  async recover(): Promise<void> {
    this.interpreter = await build(this.rules, this.block, this.state, this.options);
  }

  /** The block in the interpreter's format. */
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
        getBlobGasPrice: () => blobBaseFee ?? MIN_BLOB_BASE_FEE,
      },
    };
  }
}

/** The rules in the interpreter's format. */
function commonOf({ chainId, hardfork }: Rules): Common {
  // The interpreter does not know all forks that change blob parameters only, and they do not change execution.
  const supported = hardfork.startsWith('bpo') ? 'osaka' : hardfork;
  return new Common({ chain: { ...Mainnet, chainId }, hardfork: supported });
}

function build(rules: Rules, block: BlockContext, state: OracleOverlay, options: MachineOptions): Promise<Interpreter> {
  const common = commonOf(rules);
  return Interpreter.create(common, precompilesOf(common, rules, options), block, state);
}

/** Without its trusted setup, point evaluation would throw. A failing precompile is something a contract can handle. */
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
      throw invalidParameter('movePrecompileToAddress', `account ${bytesToHex(from)} is not a precompile`);
    }
    entries.set(bytesToHex(to), { address: new Address(to), function: found });
  }
  const origins = new Map<PrecompileFunc, number>();
  for (const [address, run] of active) if (run !== undefined) origins.set(run, Number(`0x${address}`));
  return { custom: [...entries.values()], origins, addresses: [...active.keys()] };
}
