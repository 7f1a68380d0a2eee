import type { Common } from '@ethereumjs/common';
import { type CustomPrecompile, createEVM, type EVM, NobleBLS, NobleBN254, type PrecompileFunc } from '@ethereumjs/evm';
import type { BlockContext } from '../../../src/evm/block-context.js';
import { Instruments } from './instruments.js';
import { OverlayStateManager } from './state-manager.js';
import type { OracleOverlay } from './state-overlay.js';

/** The precompiles of an interpreter. */
export interface Precompiles {
  /** Differences from the rules. */
  readonly custom: readonly CustomPrecompile[];
  /** Original address of each precompile, as a number. */
  readonly origins: ReadonlyMap<PrecompileFunc, number>;
  /** Addresses of the rules' precompiles, hex without 0x. */
  readonly addresses: readonly string[];
}

/**
 * The interpreter of @ethereumjs/evm with everything that is plugged into it. Creating one takes longer than many runs,
 * so state and block can be replaced.
 */
export class Interpreter {
  private constructor(
    readonly evm: EVM,
    /** Observers of runs. */
    readonly instruments: Instruments,
    readonly precompileAddresses: readonly string[],
    private readonly stateManager: OverlayStateManager,
    private readonly position: { block: BlockContext },
  ) {}

  /** @param common - not shared: hooks are set in it */
  static async create(
    common: Common,
    precompiles: Precompiles,
    block: BlockContext,
    state: OracleOverlay,
  ): Promise<Interpreter> {
    const instruments = new Instruments();
    const position = { block };
    const stateManager = new OverlayStateManager(state);
    const evm = await createEVM({
      common,
      stateManager,
      bls: new NobleBLS(),
      bn254: new NobleBN254(),
      blockchain: blockchainAt(position),
      customPrecompiles: [...precompiles.custom],
      customOpcodes: instruments.opcodes(common),
    });
    instruments.install(evm, precompiles.origins);
    cacheRules(common);
    return new Interpreter(evm, instruments, precompiles.addresses, stateManager, position);
  }

  /** Continues on another block and state. */
  moveTo(block: BlockContext, state: OracleOverlay): void {
    this.position.block = block;
    this.stateManager.overlay = state;
  }
}

type Blockchain = NonNullable<NonNullable<Parameters<typeof createEVM>[0]>['blockchain']>;

function blockchainAt(position: { readonly block: BlockContext }): Blockchain {
  const blockchain: Blockchain = {
    getBlock: async (number) => {
      const hash = await position.block.blockHash(number);
      return { hash: () => hash };
    },
    putBlock: async () => {},
    shallowCopy: () => blockchain,
  };
  return blockchain;
}

/**
 * Caches the answers of the rules. The interpreter asks them several times for each instruction, and each search takes
 * time: a tenth of a two-hop swap.
 */
function cacheRules(common: Common): void {
  common.isActivatedEIP = cached(common.isActivatedEIP.bind(common));
  common.gteHardfork = cached(common.gteHardfork.bind(common));
  common.param = cached(common.param.bind(common));
}

function cached<Question, Answer>(ask: (question: Question) => Answer): (question: Question) => Answer {
  const answers = new Map<Question, Answer>();
  return (question) => {
    let answer = answers.get(question);
    if (answer === undefined) {
      answer = ask(question);
      answers.set(question, answer);
    }
    return answer;
  };
}
