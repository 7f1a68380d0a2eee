import type { Common } from '@ethereumjs/common';
import { type CustomPrecompile, createEVM, type EVM, type PrecompileFunc } from '@ethereumjs/evm';
import type { BlockContext } from '../block-context.js';
import type { StateOverlay } from '../state/state-overlay.js';
import { Instruments } from './instruments.js';
import { lazyBls, lazyBn254 } from './lazy-curves.js';
import { OverlayStateManager } from './state-manager.js';

/** The precompiles of an interpreter. */
export interface Precompiles {
  /** What is otherwise than the rules have it. */
  readonly custom: readonly CustomPrecompile[];
  /** Addresses, as numbers, of the precompiles that none was moved to. */
  readonly origins: ReadonlyMap<PrecompileFunc, number>;
  /** Addresses of the rules' precompiles, hex without 0x. */
  readonly addresses: readonly string[];
}

/**
 * The interpreter of @ethereumjs/evm with all that is plugged into it. To make one takes longer than many a run, so state
 * and block can be exchanged.
 */
export class Interpreter {
  private constructor(
    readonly evm: EVM,
    /** What watches runs while they last. */
    readonly instruments: Instruments,
    readonly precompileAddresses: readonly string[],
    private readonly stateManager: OverlayStateManager,
    private readonly position: { block: BlockContext },
  ) {}

  /** @param common - for this one alone: hooks are set in it */
  static async create(
    common: Common,
    precompiles: Precompiles,
    block: BlockContext,
    state: StateOverlay,
  ): Promise<Interpreter> {
    const instruments = new Instruments();
    instruments.hook(common);
    const position = { block };
    const stateManager = new OverlayStateManager(state);
    const evm = await createEVM({
      common,
      stateManager,
      bls: lazyBls,
      bn254: lazyBn254,
      blockchain: blockchainAt(position),
      customPrecompiles: [...precompiles.custom],
      customOpcodes: instruments.opcodes(common),
    });
    instruments.install(evm, precompiles.origins);
    rememberRules(common);
    return new Interpreter(evm, instruments, precompiles.addresses, stateManager, position);
  }

  /** From now on it runs here. */
  moveTo(block: BlockContext, state: StateOverlay): void {
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
 * Has the rules answer from memory. The interpreter asks them several times at each instruction and searches lists for the
 * answer each time: a tenth of a two-hop swap.
 */
function rememberRules(common: Common): void {
  common.isActivatedEIP = remembering(common.isActivatedEIP.bind(common));
  common.gteHardfork = remembering(common.gteHardfork.bind(common));
  common.param = remembering(common.param.bind(common));
}

function remembering<Question, Answer>(ask: (question: Question) => Answer): (question: Question) => Answer {
  const known = new Map<Question, Answer>();
  return (question) => {
    let answer = known.get(question);
    if (answer === undefined) {
      answer = ask(question);
      known.set(question, answer);
    }
    return answer;
  };
}
