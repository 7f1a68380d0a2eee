import { isPlumblineError, PlumblineError } from '../../errors.js';
import type { StateReader } from '../../evm/state-reader.js';
import { equalBytes } from '../../primitives/bytes.js';
import { bytesToHex } from '../../primitives/hex.js';
import type { BlockReference } from '../block.js';
import type { CallPlan, ChainCall, PreparedState } from '../chain.js';
import type { LightBlock } from './heads/light-block.js';
import { requireLink } from './heads/light-block.js';
import type { LightHeads } from './open-heads.js';
import { answerRefused, isStateMissing, notReached } from './refused.js';
import type { Settlement } from './settlement/settlement.js';
import type { LightStates } from './state/light-states.js';
import type { ZkStateSource } from './state/zk-state.js';

/** Where the state for a call comes from. @typeParam State - with what else the caller needs of it */
export interface StatesForCall<State> {
  /** The ordinary state after the block. */
  at(): Promise<State>;
  /** The zk state after the block above it. */
  zk(source: ZkStateSource, above: LightBlock): Promise<State>;
}

/** Blocks that layer-1 consensus settles, and states at them (docs/spec/settled.md). */
export class SettledReads {
  /** Number of the newest block whose ordinary state was found missing. */
  private withoutState: number | undefined;

  constructor(
    private readonly settlement: Settlement,
    private readonly heads: LightHeads,
    private readonly states: LightStates,
  ) {}

  /** The newest settled block. @throws PlumblineError as `SettledBlocks.newest` */
  async newest(signal?: AbortSignal): Promise<LightBlock> {
    return this.settle(await (await this.settlement.blocks!()).newest(signal));
  }

  /**
   * A block by its number where layer-1 consensus settles it. Otherwise the block is read at the level of the endpoints.
   *
   * @throws PlumblineError `LAYER_ONE_CONTRADICTS`
   */
  async byNumber(number: number, signal?: AbortSignal): Promise<LightBlock | undefined> {
    const held = this.heads.headers.at(number);
    if (held !== undefined && this.heads.headers.levelOf(held) === 'settled') return held;
    return unlessUnsettled(signal, async () => {
      const block = await (await this.settlement.blocks!()).byNumber(number, signal);
      return block && this.settle(block);
    });
  }

  /**
   * A block by its hash.
   *
   * @throws PlumblineError `ANSWER_REFUSED` if layer-1 consensus settles another block of its height
   */
  async byHash(hash: Uint8Array, signal?: AbortSignal): Promise<LightBlock | undefined> {
    const { heads, finder } = this.heads;
    const found = await heads.byHash(hash, signal);
    const settled = found && (await this.byNumber(found.header.number, signal));
    if (settled === undefined) return found && finder.onChain(found, signal);
    if (equalBytes(settled.hash, hash)) return settled;
    const message = `is on another branch: layer 1 settles ${bytesToHex(settled.hash)} as block ${settled.header.number}`;
    throw answerRefused(`block ${bytesToHex(hash)}`, { verified: false, reason: 'OTHER_BRANCH', at: '', message });
  }

  private settle(block: LightBlock): LightBlock {
    this.heads.headers.settle(block);
    return block;
  }

  /** State for reads of accounts. @returns undefined for other blocks. @throws as `newest` */
  async accountsAt(reference: BlockReference, call: ChainCall): Promise<StateReader | undefined> {
    if ('hash' in reference) return undefined;
    if ('number' in reference) return this.accountsAfter(reference.number, call);
    const isFinal = reference.tag === 'finalized' || reference.tag === 'safe';
    return isFinal ? this.newestAccounts(call) : undefined;
  }

  /**
   * The state after the newest settled block, or where no endpoint holds it, the zk state after the finalized block above it.
   *
   * @throws PlumblineError as `newest`
   */
  private async newestAccounts(call: ChainCall): Promise<StateReader> {
    const block = await this.newest(call.signal);
    const { number } = block.header;
    const ordinary = this.ordinary(async () => block, call);
    if (await this.settlement.isHashed(call.signal)) return heldState([ordinary]);
    if (this.withoutState === number) return heldState([this.zk(number + 1, call), ordinary]);
    const onUse = () => {
      this.withoutState = number;
    };
    return heldState([ordinary, this.zk(number + 1, call, onUse)]);
  }

  /**
   * The zk state after the newest finalized block, whose header is not settled yet. Where no endpoint holds it, the state is read
   * at the level of the endpoints.
   *
   * @returns undefined for another block
   * @throws PlumblineError `LAYER_ONE_CONTRADICTS`
   */
  private accountsAfter(number: number, call: ChainCall): Promise<StateReader | undefined> {
    return unlessUnsettled(call.signal, async () => {
      const newest = await this.settlement.newest(call.signal);
      // With its hash on layer 1 the header of the block is settled, too.
      if (number !== newest?.number || newest.hash !== undefined) return undefined;
      const ordinary = this.ordinary(() => this.heads.finder.required(number, call.signal), call);
      return heldState([this.zk(number, call), ordinary]);
    });
  }

  /**
   * The state for a call or a simulation at a settled block. Where no endpoint holds it and a tag names the block, the zk state
   * after the finalized block above, whose header is at the level of the endpoints: a call needs the state and the header of the
   * same block.
   *
   * @throws PlumblineError `TRUST_LEVEL_NOT_REACHED` if no endpoint holds the state of a block that is named otherwise; what fetching
   *   throws
   */
  async prepare<State>(
    block: LightBlock,
    tag: CallPlan['tag'],
    states: StatesForCall<State>,
  ): Promise<Omit<PreparedState, 'state'> & { readonly state: State }> {
    const { number } = block.header;
    const isTag = tag === 'finalized' || tag === 'safe';
    if (!isTag || this.withoutState !== number) {
      try {
        return { block, state: await states.at() };
      } catch (error) {
        if (!isStateMissing(error)) throw error;
        if (!isTag || (await this.settlement.isHashed())) throw stateMissing(number);
        this.withoutState = number;
      }
    }
    const [source, above] = await Promise.all([
      this.settlement.zkStateAfter(number + 1),
      this.heads.finder.required(number + 1),
    ]);
    requireLink(this.heads.headers.network, block, above);
    return { block: above, state: await states.zk(source, above), zkLevel: 'settled' };
  }

  private ordinary(find: () => Promise<LightBlock>, { signal, note }: ChainCall): StateSource {
    return {
      open: async () => {
        const block = await find();
        return { state: this.states.at(block, signal), onUse: () => note?.block(block) };
      },
      isAbsent: isStateMissing,
    };
  }

  /** @param onUse - called when the zk state is used */
  private zk(number: number, { signal, note }: ChainCall, onUse: () => void = () => {}): StateSource {
    return {
      open: async () => {
        const state = await this.states.zk(await this.settlement.zkStateAfter(number, signal), signal);
        return {
          state,
          onUse() {
            onUse();
            note?.zk(number, 'settled');
          },
        };
      },
      isAbsent: (error) => isPlumblineError(error, 'BLOCK_NOT_PROVABLE') || isStateMissing(error),
    };
  }
}

function stateMissing(number: number): PlumblineError<'TRUST_LEVEL_NOT_REACHED'> {
  const reason = `no endpoint holds the state after block ${number}; give an endpoint that holds older states, or name a newer block`;
  return notReached('settled', undefined, reason);
}

/**
 * @returns undefined where `read` says that the block cannot be settled
 * @throws PlumblineError `LAYER_ONE_CONTRADICTS`; the reason of the signal
 */
async function unlessUnsettled<T>(signal: AbortSignal | undefined, read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    signal?.throwIfAborted();
    if (!(error instanceof PlumblineError) || isPlumblineError(error, 'LAYER_ONE_CONTRADICTS')) throw error;
    return undefined;
  }
}

/** One state that reads can be answered from. */
interface StateSource {
  /** @returns the state, and what is called when the first read has been answered from it */
  open(): Promise<{ readonly state: StateReader; onUse(): void }>;
  /** Whether an error means that it is not held, and not that an answer is wrong. */
  isAbsent(error: unknown): boolean;
}

/** Reads the first of several states that is held. All reads are answered from the same one. */
function heldState(sources: readonly StateSource[]): StateReader {
  const opened = new Map<number, ReturnType<StateSource['open']>>();
  let chosen = 0;
  let isUsed = false;
  const open = (index: number) => {
    const known = opened.get(index) ?? sources[index]!.open();
    opened.set(index, known);
    return known;
  };
  async function read<T>(of: (state: StateReader) => Promise<T>): Promise<T> {
    for (;;) {
      const tried = chosen;
      try {
        const { state, onUse } = await open(tried);
        const value = await of(state);
        // Another read has found meanwhile that this state is not held.
        if (tried !== chosen) continue;
        if (!isUsed) onUse();
        isUsed = true;
        return value;
      } catch (error) {
        if (tried !== chosen) continue;
        if (isUsed || tried + 1 === sources.length || !sources[tried]!.isAbsent(error)) throw error;
        chosen = tried + 1;
      }
    }
  }
  return {
    account: (address) => read((state) => state.account(address)),
    slot: (address, slot) => read((state) => state.slot(address, slot)),
    code: (codeHash) => read((state) => state.code(codeHash)),
  };
}
