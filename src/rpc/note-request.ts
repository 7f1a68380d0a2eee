import { type Block, TRUST_RANK, type TrustLevel } from '../chain/block.js';
import type { AnswerNote, Chain, GasLimits, ProofAge } from '../chain/chain.js';
import { bytesToHex, type Hex } from '../primitives/hex.js';
import { toQuantity } from '../primitives/quantity.js';
import type { AnswerClass, AnswerReport } from './answer-report.js';
import type { Noted } from './handle.js';
import type { Method } from './method.js';

/** Most blocks that a report names. */
const MAX_NAMED = 16;

/** What one request has read of the chain. */
class Notes implements AnswerNote {
  private readonly blocks = new Map<Hex, Block>();
  private readonly levels: TrustLevel[] = [];
  /** Whether nothing was found by a hash, which no proof shows. */
  isUnproved = false;
  /** Number of the block of a zk proof. */
  zkBlock: number | undefined;
  zkAge: ProofAge | undefined;
  /** Whether the state root of a simulated block is not known. */
  isRootUnknown = false;

  readonly block = (block: Block): void => {
    if (this.blocks.size < MAX_NAMED) this.blocks.set(bytesToHex(block.hash), block);
  };

  unproved(): void {
    this.isUnproved = true;
  }

  rootUnknown(): void {
    this.isRootUnknown = true;
  }

  zk(number: number, level: TrustLevel, age?: ProofAge): void {
    this.zkBlock = number;
    this.zkAge = age;
    this.levels.push(level);
  }

  level(level: TrustLevel): void {
    this.levels.push(level);
  }

  limits: GasLimits | undefined;

  gasLimits(limits: GasLimits): void {
    this.limits = limits;
  }

  get isEmpty(): boolean {
    return this.blocks.size === 0 && this.levels.length === 0;
  }

  /** The blocks, and the lowest level among them. */
  async sum(chain: Chain): Promise<Pick<AnswerReport, 'blocks' | 'level'>> {
    const levels = [...this.levels];
    for (const block of this.blocks.values()) {
      // The answer has no level when the chain no longer says how far it trusts one of the blocks.
      const level = await chain.trust(block).catch(() => undefined);
      if (level === undefined) return { blocks: this.named() };
      levels.push(level);
    }
    const [lowest] = levels.sort((a, b) => TRUST_RANK[a] - TRUST_RANK[b]);
    return { blocks: this.named(), ...(lowest !== undefined && { level: lowest }) };
  }

  private named(): AnswerReport['blocks'] {
    return [...this.blocks].map(([hash, { header }]) => ({ number: header.number, hash }));
  }
}

/** Notes what one request reads of the chain: `NotingOption.note` for the methods of a node. */
export function noteRequest<Context extends { readonly chain: Chain }>(
  { chain }: Context,
  { name, info }: Pick<Method<Context>, 'name' | 'info'>,
): Noted {
  const notes = new Notes();
  const usual = info.answers[chain.kind];
  // Not reached: a table has no method that is off on its kind of chain. If it had, its answer would count as unchecked.
  const own = usual === 'off' ? 'forwarded' : usual;
  return {
    note: notes,
    async report(errorCode) {
      const sum = await notes.sum(chain);
      const { light } = info.answers;
      // What a fork answers from its network, it answers as a light node.
      const isOfNetwork = own === 'held' && sum.level !== undefined && sum.level !== 'held' && light !== 'off';
      const expected = isOfNetwork ? light : own;
      return {
        method: name,
        class: errorCode === undefined ? classOf(expected, notes) : expected,
        ...sum,
        ...((sum.level === 'settled' || sum.level === 'attested') && (await layerOneOf(chain, sum.level))),
        ...(notes.zkBlock !== undefined && { zkBlock: notes.zkBlock }),
        ...(notes.zkAge !== undefined && { zkAge: notes.zkAge }),
        ...limitsOf(notes),
        ...takenBackBy(chain),
        ...(notes.isRootUnknown && { stateRoot: 'unknown' }),
        ...(errorCode !== undefined && { errorCode }),
      };
    },
  };
}

/** Slots that an attested block may be behind without a word. Newest ones are one or two behind. */
const LATE_SLOTS = 3;

/** What settled or attested blocks rest on. It is left out when the chain no longer says it. */
async function layerOneOf(chain: Chain, of: 'settled' | 'attested'): Promise<Pick<AnswerReport, 'layerOne'>> {
  const evidence = await chain.restsOn(of).catch(() => undefined);
  if (evidence === undefined) return {};
  const { level, checkpoint, slot, blockHash, timestamp, lastFork, behind = 0 } = evidence;
  const named = {
    checkpoint: { level, root: bytesToHex(checkpoint) },
    slot,
    blockHash: bytesToHex(blockHash),
    timestamp,
  };
  return { layerOne: { ...named, ...(lastFork && { lastFork }), ...(behind > LATE_SLOTS && { behind }) } };
}

function limitsOf({ limits }: Notes): Pick<AnswerReport, 'gasLimits'> {
  if (limits === undefined) return {};
  const { fork, timestamp, before, after } = limits;
  return {
    gasLimits: { fork, timestamp, before: toQuantity(before), after: after === undefined ? null : toQuantity(after) },
  };
}

function takenBackBy(chain: Chain): Pick<AnswerReport, 'takenBack'> {
  const taken = chain.takenBack();
  const named = ({ header, hash }: Pick<Block, 'header' | 'hash'>) => ({
    number: header.number,
    hash: bytesToHex(hash),
  });
  return taken === undefined ? {} : { takenBack: { from: named(taken.from), to: named(taken.to) } };
}

function classOf(own: AnswerClass, notes: Notes): AnswerClass {
  if (notes.isUnproved) return 'forwarded';
  // An answer that rests on nothing of the chain is the node's own, such as the changes of a filter of pending transactions.
  return own === 'proved' && notes.isEmpty ? 'held' : own;
}
