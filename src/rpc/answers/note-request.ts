import type { Block } from '../../chain/block.js';
import type { AccountsBasis, Chain, PreparedState, ProofAge } from '../../chain/chain.js';
import { forwardingChain } from '../../chain/forwarding-chain.js';
import { TRUST_RANK, type TrustLevel } from '../../chain/trust-level.js';
import type { Estimator } from '../../estimate/estimator.js';
import { bytesToHex, type Hex } from '../../primitives/hex.js';
import type { AnswerClass, AnswerReport } from '../protocol/answer-report.js';
import type { Noted } from '../protocol/handle.js';
import type { Method } from '../protocol/method.js';

/** Most blocks that a report names. */
const MAX_NAMED = 16;

/** What one request has read of the chain. */
class Notes {
  private readonly blocks = new Map<Hex, Block>();
  private readonly levels: TrustLevel[] = [];
  /** Whether the chain said of a hash that it does not know it. Absence cannot be proved. */
  missed = false;
  /** Number of the block of a zk proof. */
  zkBlock: number | undefined;
  zkAge: ProofAge | undefined;
  /** Whether the state root of a simulated block is not known. */
  isRootUnknown = false;

  readonly block = <B extends Block | undefined>(block: B): B => {
    if (block !== undefined && this.blocks.size < MAX_NAMED) this.blocks.set(bytesToHex(block.hash), block);
    return block;
  };

  /** What was found by a hash. */
  byHash<Found>(found: Found): Found {
    if (found === undefined) this.missed = true;
    return found;
  }

  zk(number: number, level: TrustLevel, age?: ProofAge): void {
    this.zkBlock = number;
    this.zkAge = age;
    this.levels.push(level);
  }

  get isEmpty(): boolean {
    return this.blocks.size === 0 && this.levels.length === 0;
  }

  /** The blocks, and the lowest level among them. */
  async sum(chain: Chain): Promise<Pick<AnswerReport, 'blocks' | 'level'>> {
    const levels = [...this.levels];
    for (const block of this.blocks.values()) {
      // The answer has no level when the chain no longer says how far it trusts one of the blocks.
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

/**
 * The context of one request, whose chain records what the request reads: `NotingOption.note` for the methods of a node.
 *
 * @param context - of the node. The request gets a copy with another chain, and an estimator on that chain
 */
export function noteRequest<Context extends { readonly chain: Chain; readonly estimator: Estimator }>(
  context: Context,
  { name, info }: Pick<Method<Context>, 'name' | 'info'>,
): Noted<Context> {
  const { chain } = context;
  const notes = new Notes();
  const noted = notedChain(chain, notes);
  const usual = info.answers[chain.kind];
  // Not reached: a table has no method that is off on its kind of chain. If it had, its answer would count as unchecked.
  const own = usual === 'off' ? 'forwarded' : usual;
  return {
    context: { ...context, chain: noted, estimator: context.estimator.on(noted) },
    async report(errorCode) {
      const sum = await notes.sum(chain);
      const { light } = info.answers;
      // What a fork answers from its network, it answers as a light node.
      const isOfNetwork = own === 'held' && sum.level !== undefined && sum.level !== 'held' && light !== 'off';
      const expected = isOfNetwork ? light : own;
      return {
        method: name,
        class: errorCode === undefined ? classOf(chain, expected, notes) : expected,
        ...sum,
        ...(sum.level === 'settled' && (await layerOneOf(chain))),
        ...(notes.zkBlock !== undefined && { zkBlock: notes.zkBlock }),
        ...(notes.zkAge !== undefined && { zkAge: notes.zkAge }),
        ...takenBackBy(chain),
        ...(notes.isRootUnknown && { stateRoot: 'unknown' }),
        ...(errorCode !== undefined && { errorCode }),
      };
    },
  };
}

/** What settled blocks rest on. It is left out when the chain no longer says it. */
async function layerOneOf(chain: Chain): Promise<Pick<AnswerReport, 'layerOne'>> {
  const evidence = await chain.layerOneEvidence?.().catch(() => undefined);
  if (evidence === undefined) return {};
  const { level, checkpoint, slot, blockHash, timestamp } = evidence;
  const root = bytesToHex(checkpoint);
  return { layerOne: { checkpoint: { level, root }, slot, blockHash: bytesToHex(blockHash), timestamp } };
}

function takenBackBy(chain: Chain): Pick<AnswerReport, 'takenBack'> {
  const taken = chain.takenBack?.();
  const named = ({ header, hash }: Pick<Block, 'header' | 'hash'>) => ({
    number: header.number,
    hash: bytesToHex(hash),
  });
  return taken === undefined ? {} : { takenBack: { from: named(taken.from), to: named(taken.to) } };
}

function classOf({ trust }: Chain, own: AnswerClass, notes: Notes): AnswerClass {
  // That no block has a hash is known without a proof only where all blocks are held.
  if (notes.missed) return trust === undefined ? 'held' : 'forwarded';
  // An answer that rests on nothing of the chain is the node's own, such as the changes of a filter of pending transactions.
  return own === 'proved' && notes.isEmpty ? 'held' : own;
}

/** The chain, with notes of the blocks and proofs that it gives. */
function notedChain(chain: Chain, notes: Notes): Chain {
  const { accountsAt, blocks, prepare } = chain;
  const noted = (prepared: PreparedState): PreparedState => {
    notes.block(prepared.block);
    if (prepared.zkLevel !== undefined) notes.zk(prepared.block.header.number, prepared.zkLevel);
    return prepared;
  };
  const heard = (onBlock?: (block: Block) => void) => (block: Block) => {
    notes.block(block);
    onBlock?.(block);
  };
  return {
    ...forwardingChain(() => chain),
    head: async () => notes.block(await chain.head()),
    pendingContext: async (parent) => chain.pendingContext(notes.block(parent ?? (await chain.head()))),
    async block(reference, signal) {
      const found = await chain.block(reference, signal);
      if ('hash' in reference) notes.byHash(found);
      // A number above the head: the head shows that there is no such block.
      else if (found === undefined && 'number' in reference) notes.block(await chain.head().catch(() => undefined));
      return notes.block(found);
    },
    blocks:
      blocks &&
      (async (...range) => {
        const found = await chain.blocks!(...range);
        for (const block of found) notes.block(block);
        return found;
      }),
    async transaction(hash) {
      const found = notes.byHash(await chain.transaction(hash));
      notes.block(found?.block);
      return found;
    },
    async receipt(hash) {
      const found = notes.byHash(await chain.receipt(hash));
      notes.block(found?.block);
      return found;
    },
    receipts: (block) => chain.receipts(notes.block(block)),
    async logs(query) {
      const ends: Block[] = [];
      const onEnd = (block: Block) => {
        ends.push(block);
        query.onEnd?.(block);
      };
      const found = await chain.logs({ ...query, onEnd });
      if (found.length === 0) for (const end of ends) notes.block(end);
      for (const { transaction } of found) notes.block(transaction.block);
      return found;
    },
    stateAt: (block, signal, onBlock) => chain.stateAt(block, signal, heard(onBlock)),
    accountsAt:
      accountsAt &&
      ((reference, onRead, signal) => {
        const note = (basis: AccountsBasis) => {
          if ('block' in basis) notes.block(basis.block);
          else notes.zk(basis.zkBlock, basis.level);
          onRead(basis);
        };
        return chain.accountsAt!(reference, note, signal);
      }),
    prepare: prepare && (async (plan) => noted(await chain.prepare!({ ...plan, onBlock: heard(plan.onBlock) }))),
    async prepareSimulation(plan) {
      const { stateRoot, ...prepared } = await chain.prepareSimulation({ ...plan, onBlock: heard(plan.onBlock) });
      return {
        ...noted(prepared),
        async stateRoot(changes) {
          const root = await stateRoot(changes);
          notes.isRootUnknown ||= root === undefined;
          return root;
        },
      };
    },
    async zkProof(address, storageKeys, reference, onBlock) {
      return chain.zkProof(address, storageKeys, reference, (number, level, age) => {
        notes.zk(number, level, age);
        onBlock?.(number, level, age);
      });
    },
  };
}
