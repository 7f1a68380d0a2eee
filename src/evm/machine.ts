import type { Common } from '@ethereumjs/common';
import {
  type CustomPrecompile,
  createEVM,
  type EVM,
  EVMError,
  type EVMMockBlockchainInterface,
  type EVMRunCallOpts,
  getActivePrecompiles,
  type PrecompileFunc,
} from '@ethereumjs/evm';
import { Address } from '@ethereumjs/util';
import { PlumblineError } from '../errors.js';
import type { Network } from '../networks/network.js';
import { bytesToHex, hexToBytes } from '../primitives/hex.js';
import type { BlockContext } from './block-context.js';
import { commonOf, type Rules, rulesAt } from './common.js';
import { OverlayStateManager } from './state-manager.js';
import type { StateOverlay } from './state-overlay.js';

type BlockForEvm = NonNullable<EVMRunCallOpts['block']>;

const POINT_EVALUATION = new Address(hexToBytes('0x000000000000000000000000000000000000000a'));

/** There are no blobs here, so the blob base fee stays at its minimum, 1 wei (spec/json-rpc.md 1.2). */
const BLOB_BASE_FEE = 1n;

/** A precompile of the rules in force, found at another address. */
export interface MovedPrecompile {
  /** 20 bytes. */
  readonly from: Uint8Array;
  /** 20 bytes. */
  readonly to: Uint8Array;
}

/**
 * An interpreter on one state, in one block. It serves one run at a time and any number of runs; between them the
 * state stays, so blocks are built by running one transaction after another.
 */
export class Machine {
  private constructor(
    readonly rules: Rules,
    readonly block: BlockContext,
    readonly state: StateOverlay,
    private readonly common: Common,
    private readonly precompiles: CustomPrecompile[],
    private current: EVM,
  ) {}

  /** @throws PlumblineError `INVALID_PARAMETER` when a precompile is moved from an address that has none */
  static async open(
    network: Pick<Network, 'forks' | 'chainId'>,
    block: BlockContext,
    state: StateOverlay,
    moved: readonly MovedPrecompile[] = [],
  ): Promise<Machine> {
    const rules = rulesAt(network, block.number, block.timestamp);
    const common = commonOf(rules);
    const precompiles = customPrecompiles(common, rules, moved);
    return new Machine(rules, block, state, common, precompiles, await build(common, precompiles, block, state));
  }

  get evm(): EVM {
    return this.current;
  }

  /** Replaces the interpreter after a run was cut short: its inner journals are in no defined state then. */
  async recover(): Promise<void> {
    this.current = await build(this.common, this.precompiles, this.block, this.state);
  }

  /** The block in the interpreter's form. */
  blockForEvm(baseFeePerGas: bigint = this.block.baseFeePerGas): BlockForEvm {
    const { number, timestamp, gasLimit, coinbase, prevRandao, difficulty } = this.block;
    return {
      header: {
        number: BigInt(number),
        timestamp: BigInt(timestamp),
        gasLimit,
        baseFeePerGas,
        coinbase: new Address(coinbase),
        prevRandao,
        difficulty: difficulty ?? 0n,
        getBlobGasPrice: () => BLOB_BASE_FEE,
      },
    };
  }
}

function build(
  common: Common,
  precompiles: CustomPrecompile[],
  block: BlockContext,
  state: StateOverlay,
): Promise<EVM> {
  const blockchain: EVMMockBlockchainInterface = {
    getBlock: async (number) => {
      const hash = await block.blockHash(number);
      return { hash: () => hash };
    },
    putBlock: async () => {},
    shallowCopy: () => blockchain,
  };
  const customPrecompiles = [...precompiles];
  return createEVM({ common, stateManager: new OverlayStateManager(state), blockchain, customPrecompiles });
}

/** Without its trusted set-up the point evaluation throws; a precompile that fails is what a call can deal with. */
const failingPointEvaluation: PrecompileFunc = ({ gasLimit }) => ({
  executionGasUsed: gasLimit,
  returnValue: new Uint8Array(0),
  exceptionError: new EVMError(EVMError.errorMessages.INVALID_INPUTS),
});

function customPrecompiles(common: Common, rules: Rules, moved: readonly MovedPrecompile[]): CustomPrecompile[] {
  const entries = new Map<string, CustomPrecompile>();
  if (rules.cancun) {
    const entry = { address: POINT_EVALUATION, function: failingPointEvaluation };
    entries.set(POINT_EVALUATION.toString(), entry);
  }
  const active = getActivePrecompiles(common, [...entries.values()]);
  for (const { from } of moved) entries.set(bytesToHex(from), { address: new Address(from) });
  for (const { from, to } of moved) {
    const found = active.get(bytesToHex(from).slice(2));
    if (found === undefined) {
      const reason = `account ${bytesToHex(from)} is not a precompile`;
      throw new PlumblineError('INVALID_PARAMETER', reason, { parameter: 'movePrecompileToAddress', reason });
    }
    entries.set(bytesToHex(to), { address: new Address(to), function: found });
  }
  return [...entries.values()];
}
