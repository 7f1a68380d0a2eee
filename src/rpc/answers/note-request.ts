import type { Block, Chain, TrustLevel } from '../../chain/chain.js';
import { TRUST_RANK } from '../../chain/trust-rank.js';
import { bytesToHex, type Hex } from '../../primitives/hex.js';
import type { RpcContext } from '../methods/context.js';
import { type AnswerClass, type AnswerReport, answerClass, missingClass } from '../protocol/answer-report.js';

/** A context that notes what one request uses of the chain, and what that comes to. */
export interface Noted<Context> {
  readonly context: Context;
  /** @param errorCode - of an answer that is an error */
  report(errorCode?: number): Promise<AnswerReport>;
}

/** Makes the noted context of one request. @param method - by the name of its definition */
export type Noting<Context> = (context: Context, method: string) => Noted<Context>;

/** Blocks a report names. */
const MAX_NAMED = 16;

/** Notes of one request. */
class Notes {
  private readonly blocks = new Map<Hex, Block>();
  private readonly levels: TrustLevel[] = [];
  /** Whether something was said not to be there that nothing proves to be missing. */
  lacked = false;
  /** Number of the block of a zk proof. */
  zkBlock: number | undefined;

  block<B extends Block | undefined>(block: B): B {
    if (block !== undefined && this.blocks.size < MAX_NAMED) this.blocks.set(bytesToHex(block.hash), block);
    return block;
  }

  /** Something that is asked for by a hash: that no block has it cannot be proved. */
  byHash<Found>(found: Found): Found {
    if (found === undefined) this.lacked = true;
    return found;
  }

  level(level: TrustLevel): void {
    this.levels.push(level);
  }

  get isEmpty(): boolean {
    return this.blocks.size === 0 && this.levels.length === 0;
  }

  /** The blocks, and the lowest level among them. */
  async sum(chain: Chain): Promise<Pick<AnswerReport, 'blocks' | 'level'>> {
    const levels = [...this.levels];
    for (const block of this.blocks.values()) {
      // A block that nobody vouches for any more leaves the answer without a level.
      const level = chain.trust === undefined ? 'held' : await chain.trust(block).catch(() => undefined);
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

/** `Noting` for the methods of a node. */
export function noteRequest(context: RpcContext, method: string): Noted<RpcContext> {
  const { chain } = context;
  const notes = new Notes();
  const noted = notedChain(chain, notes);
  return {
    context: { ...context, chain: noted, estimator: context.estimator.on(noted) },
    async report(errorCode) {
      const sum = await notes.sum(chain);
      return {
        method,
        class: errorCode === undefined ? classOf(chain.kind, method, notes) : answerClass(chain.kind, method),
        ...sum,
        ...(notes.zkBlock !== undefined && { zkBlock: notes.zkBlock }),
        ...(errorCode !== undefined && { errorCode }),
      };
    },
  };
}

function classOf(kind: Chain['kind'], method: string, notes: Notes): AnswerClass {
  if (notes.lacked) return missingClass(kind);
  const usual = answerClass(kind, method);
  // Without anything of the chain nothing is proved: it is of the node, as the changes of a filter of pending transactions.
  return usual === 'proved' && notes.isEmpty ? 'held' : usual;
}

/** The chain itself, but for what gives blocks or proofs. */
function notedChain(chain: Chain, notes: Notes): Chain {
  const prepare: Chain['prepare'] =
    chain.prepare &&
    (async (plan) => {
      const prepared = await chain.prepare!(plan);
      notes.block(prepared.block);
      return prepared;
    });
  const noting: Partial<Chain> = {
    head: async () => notes.block(await chain.head()),
    block: async (reference) => {
      const found = await chain.block(reference);
      if ('hash' in reference) notes.byHash(found);
      // Above the head: the head is what shows it.
      else if (found === undefined && 'number' in reference) notes.block(await chain.head().catch(() => undefined));
      return notes.block(found);
    },
    transaction: async (hash) => {
      const found = notes.byHash(await chain.transaction(hash));
      notes.block(found?.block);
      return found;
    },
    receipt: async (hash) => {
      const found = notes.byHash(await chain.receipt(hash));
      notes.block(found?.block);
      return found;
    },
    receipts: (block) => chain.receipts(notes.block(block)),
    logs: async (query) => {
      const ends: Block[] = [];
      const found = await chain.logs({ ...query, onEnd: (block) => ends.push(block) });
      if (found.length === 0) for (const end of ends) notes.block(end);
      for (const { transaction } of found) notes.block(transaction.block);
      return found;
    },
    zkProof: async (address, storageKeys, reference) => {
      const proof = await chain.zkProof(address, storageKeys, reference, (number) => {
        notes.zkBlock = number;
      });
      notes.level(chain.kind === 'devnet' ? 'held' : 'finalized');
      return proof;
    },
    ...(prepare !== undefined && { prepare }),
    ...(chain.blocks !== undefined && {
      blocks: async (...range: Parameters<NonNullable<Chain['blocks']>>) => {
        const found = await chain.blocks!(...range);
        for (const block of found) notes.block(block);
        return found;
      },
    }),
  };
  return new Proxy(chain, {
    get(target, name) {
      if (Object.hasOwn(noting, name)) return noting[name as keyof Chain];
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}
