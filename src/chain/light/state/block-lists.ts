import { isPlumblineError, messageOf } from '../../../errors.js';
import type { BlockAccessList } from '../../../ethereum/block-access-list.js';
import type { BlockHeader } from '../../../ethereum/header.js';
import { NO_ACCOUNT } from '../../../evm/state-reader.js';
import type { Network } from '../../../networks/network.js';
import { bytesToKey, equalBytes } from '../../../primitives/bytes.js';
import { bytesToHex } from '../../../primitives/hex.js';
import { applyAccesses, type ListedAccount, verifyAccessList } from '../../../proof/access-list.js';
import { SharedWork } from '../../../scheduling/shared-work.js';
import { nextTurn } from '../../../scheduling/turns.js';
import type { Answer, Call } from '../../../upstream/failure.js';
import type { EndpointGroup, UpstreamRequestOptions } from '../../../upstream/group.js';
import type { Block } from '../../block.js';
import type { HeaderChain } from '../heads/header-chain.js';
import { AT_ONCE, fetchLinked, type LightBlock, lightBlock } from '../heads/light-block.js';
import { answerRefused, missing } from '../refused.js';
import { AccessSet } from './access-set.js';
import type { ProvedState } from './proved-state.js';

/*
 * Values that were proved at a block hold at the next one too, except where the access list of that one names another. The hash of the list
 * is in the header, so a list is as good as a proof, and costs the same for any number of values.
 *
 * A list says what transactions, system calls and withdrawals changed. Where something else changes the state (`accessLists` of the
 * profile is not `complete`), nothing is brought over.
 */

const METHOD = 'eth_getBlockAccessList';

/** A list that an endpoint gave. */
interface FoundList {
  readonly list: BlockAccessList;
  /** Characters of its JSON. */
  readonly size: number;
}

/**
 * The access list of a block, verified against its header. An endpoint that does not have it is not blamed.
 *
 * @param accept - called with each answer; false leaves it
 * @returns undefined if an endpoint has it and it was left
 * @throws PlumblineError `ANSWER_REFUSED`, `PROOF_MALFORMED`, of the endpoints
 */
async function fetchList(
  group: EndpointGroup,
  { header, hash }: Pick<Block, 'header' | 'hash'>,
  request: Pick<UpstreamRequestOptions, 'signal' | 'waits'>,
  accept: (size: number) => boolean = () => true,
): Promise<FoundList | undefined> {
  const what = `access list of block ${header.number}`;
  /** Ids of endpoints that do not have it, and of those whose list was refused, with the reason. */
  const without: string[] = [];
  const refused = new Map<string, string>();
  const read = async (answer: unknown, id: string): Promise<FoundList | null | undefined> => {
    if (answer === null) {
      without.push(id);
      return null;
    }
    const size = sizeOf(answer);
    if (!accept(size)) return undefined;
    try {
      const verdict = await verifyAccessList(header, answer);
      if (!verdict.verified) throw answerRefused(what, verdict);
      return { list: verdict.list, size };
    } catch (error) {
      refused.set(id, isPlumblineError(error, 'ANSWER_REFUSED') ? error.details.check : messageOf(error));
      throw error;
    }
  };
  try {
    while (without.length < group.endpoints.length) {
      const options = { ...request, exclude: without };
      const found = await group.request(METHOD, [bytesToHex(hash)], {
        ...options,
        accept: (answer, { id }) => read(answer, id),
      });
      if (found !== null) return found;
    }
  } catch (error) {
    // Where another endpoint gave a right list, the group has noted that.
    for (const [id, reason] of refused) group.reportFalse(id, `its ${what} was refused: ${reason}`);
    throw error;
  }
  throw missing(what);
}

/**
 * The access list of a block.
 *
 * @throws PlumblineError `ANSWER_REFUSED`, `PROOF_MALFORMED`, of the endpoints
 */
export async function fetchAccessList(
  group: EndpointGroup,
  block: Pick<Block, 'header' | 'hash'>,
  signal?: AbortSignal,
): Promise<BlockAccessList> {
  return (await fetchList(group, block, signal === undefined ? {} : { signal }))!.list;
}

/** What the values of a light node are brought over with. */
export interface BlockListParts {
  readonly group: EndpointGroup;
  readonly network: Network;
  readonly headers: HeaderChain;
}

/** A state of which values are known. */
interface KnownState {
  readonly block: LightBlock;
  readonly state: ProvedState;
}

/** Most states from which values are brought over; the one that was used first is forgotten. */
const MAX_KNOWN = 8;
/** Most entries of which all go over to the next block. Of more, only those that were read since the last block. */
const MAX_CARRIED = 8_192;
/** Most lists that are in memory together. */
const MAX_LISTS = 8;
/** Lists with more characters are left: proofs are smaller. */
const MAX_LIST = 2 ** 21;
/** Characters of the list of a block without transactions, and for each unit of gas, until a list shows others. */
const EMPTY_LIST = 2_500;
const LIST_PER_GAS = 0.003;
/** Characters of the proofs of an account and of a slot, until proofs show others. */
const ACCOUNT_PROOF = 5_000;
const SLOT_PROOF = 3_000;
/** Most accounts and slots of one list that are fetched together; the others are fetched when they are read. */
const MAX_FETCHED = 2_048;
const ADDRESS_BYTES = 20;

/** Brings values from block to block by access lists. Loaded for networks whose lists are complete, with the first read. */
export class BlockLists {
  private known: KnownState[] = [];
  /** States to which values are brought now, and those where that has ended. */
  private readonly works = new WeakMap<ProvedState, SharedWork<void>>();
  private readonly done = new WeakSet<ProvedState>();
  /** As `saved`, of the state from which values went over to a state. */
  private readonly savedBefore = new WeakMap<ProvedState, number>();
  /** A list that came with the head, by the hash of its block. */
  private offered: { readonly hash: Uint8Array; readonly answer: unknown } | undefined;
  private readonly last = { perGas: LIST_PER_GAS, account: ACCOUNT_PROOF, slot: SLOT_PROOF };

  constructor(private readonly parts: BlockListParts) {}

  /**
   * Brings values over to the state after a block, from an ancestor, unless proofs are likely to be smaller. What fails is left to proofs.
   *
   * @throws the reason of the signal
   */
  async bring(block: Pick<Block, 'header' | 'hash'>, state: ProvedState, signal?: AbortSignal): Promise<void> {
    if (this.done.has(state) || block.header.blockAccessListHash === undefined) return;
    let work = this.works.get(state);
    if (work === undefined || work.isOver) {
      work = new SharedWork((ended) => this.carry({ block: lightBlock(block), state }, ended));
      this.works.set(state, work);
    }
    try {
      await work.wait(signal);
    } catch {
      signal?.throwIfAborted();
    }
  }

  /** The call for the list of the next head, where it is likely smaller than the proofs of what was read. */
  callForNext(head: LightBlock | undefined): Call[] {
    const state = head && this.known.find(({ block }) => equalBytes(block.hash, head.hash))?.state;
    if (state === undefined || head?.header.blockAccessListHash === undefined) return [];
    return this.saved(state) > this.sizeOfList(head.header) ? [{ method: METHOD, params: ['latest'] }] : [];
  }

  /** Takes the answer that came with a head. It may be of another block: it is not checked before it is used. */
  offer({ hash }: LightBlock, answer: Answer | undefined): void {
    if (answer?.kind === 'result' && answer.result !== null) this.offered = { hash, answer: answer.result };
  }

  /** What a block accesses, with the code of all accounts. @returns undefined where its list is not to be had */
  async accessesOf(block: Block, signal?: AbortSignal): Promise<AccessSet | undefined> {
    if (block.header.blockAccessListHash === undefined) return undefined;
    const accesses = new AccessSet();
    try {
      const request = { ...(signal !== undefined && { signal }), waits: false };
      const found = await fetchList(this.parts.group, block, request, isWithinBound);
      for (const { address, storageChanges, storageReads } of found?.list ?? []) {
        await nextTurn();
        if (accesses.size >= MAX_FETCHED) break;
        accesses.addAccount(address, true);
        for (const key of [...storageChanges.map((slot) => slot.key), ...storageReads])
          if (accesses.size < MAX_FETCHED) accesses.addSlot(address, key);
      }
      return accesses;
    } catch {
      signal?.throwIfAborted();
      return undefined;
    }
  }

  /** Notes the size of verified proofs. @param answers - to `eth_getProof` and other calls */
  measure(answers: readonly Answer[]): void {
    for (const answer of answers) {
      const proof = answer.kind === 'result' ? answer.result : undefined;
      const { accountProof, storageProof } = (proof ?? {}) as { accountProof?: unknown; storageProof?: unknown };
      if (!Array.isArray(accountProof)) continue;
      this.last.account = sizeOf(accountProof);
      if (Array.isArray(storageProof) && storageProof.length > 0)
        this.last.slot = sizeOf(storageProof) / storageProof.length;
    }
  }

  private async carry(to: KnownState, signal: AbortSignal): Promise<void> {
    const { state } = to;
    try {
      const found = await this.findBase(to, signal);
      if (found === undefined) return;
      const values = startFrom(found.base.state);
      for (let i = 0; i < found.path.length; i += MAX_LISTS) {
        const some = found.path.slice(i, i + MAX_LISTS);
        for (const list of await Promise.all(some.map((on) => this.listOf(on, signal)))) {
          if (list === undefined) return;
          await apply(values, list, state.codes);
        }
      }
      // What was proved at this block meanwhile stays.
      for (const [key, value] of values) {
        if (state.accounts.has(key)) value.account = state.accounts.get(key);
        for (const slot of [...value.slots.keys()]) if (state.slots.has(key + slot)) value.slots.delete(slot);
      }
      state.take(values);
      this.savedBefore.set(state, this.saved(found.base.state));
    } finally {
      if (!signal.aborted) this.done.add(state);
      this.known = [...this.known.filter((one) => one.state !== state), to].slice(-MAX_KNOWN);
    }
  }

  /**
   * The nearest ancestor from which bringing values over saves bytes, and the blocks after it up to `block`, the lowest first. Each names
   * the hash of the one before, so that they are of the level of `block`, which is the lowest on the way.
   *
   * @returns undefined if there is none, or proofs are likely to be smaller
   */
  private async findBase({ block, state }: KnownState, signal: AbortSignal) {
    const { number } = block.header;
    const below = this.known.filter(({ block: base }) => base.header.number < number);
    for (const base of below.sort((a, b) => b.block.header.number - a.block.header.number)) {
      const lists = number - base.block.header.number;
      const cost = (this.isOffered(block) ? lists - 1 : lists) * this.sizeOfList(block.header);
      const isWorth = lists <= AT_ONCE && this.saved(base.state, state) > cost;
      // What an earlier one has is here too, so that only its age makes it worth more.
      if (!isWorth && this.savedBefore.has(base.state)) return undefined;
      if (!isWorth) continue;
      const path = await this.pathFrom(base.block, block, signal);
      if (path !== undefined) return { base, path };
    }
    return undefined;
  }

  /** The blocks from the one after `base` to `block`. @returns undefined if `base` is on another branch */
  private async pathFrom(base: LightBlock, block: LightBlock, signal: AbortSignal): Promise<LightBlock[] | undefined> {
    const { group, network, headers } = this.parts;
    const path = [block];
    const down = base.header.number + 1;
    while (path[0]!.header.number > down) {
      const [child] = path;
      const held = headers.at(child!.header.number - 1);
      if (held !== undefined && equalBytes(held.hash, child!.header.parentHash)) path.unshift(held);
      else path.unshift(...(await fetchLinked(group, network, child!, down, signal)).reverse());
    }
    return equalBytes(path[0]!.header.parentHash, base.hash) ? path : undefined;
  }

  /** @returns undefined for a list that is above its bound; then the endpoint is not to blame */
  private async listOf(block: LightBlock, signal: AbortSignal): Promise<BlockAccessList | undefined> {
    const { header } = block;
    if (header.blockAccessListHash === undefined) return undefined;
    const found =
      (await this.offeredOf(block)) ??
      (await fetchList(this.parts.group, block, { signal, waits: false }, isWithinBound));
    if (found === undefined) return undefined;
    if (header.gasUsed > 0n) this.last.perGas = Math.max(0, found.size - EMPTY_LIST) / Number(header.gasUsed);
    if (this.isOffered(block)) this.offered = undefined;
    return found.list;
  }

  private isOffered({ hash }: LightBlock): boolean {
    return this.offered !== undefined && equalBytes(this.offered.hash, hash);
  }

  private async offeredOf(block: LightBlock): Promise<FoundList | undefined> {
    if (!this.isOffered(block)) return undefined;
    const { answer } = this.offered!;
    const size = sizeOf(answer);
    // A wrong one may be of another head. The list is asked for by its hash then, and that answer counts.
    const verdict = isWithinBound(size)
      ? await verifyAccessList(block.header, answer).catch(() => undefined)
      : undefined;
    return verdict?.verified ? { list: verdict.list, size } : undefined;
  }

  /**
   * Characters of the proofs of what was read of a state. What was not read again counts for half of what it did a block ago.
   *
   * @param to - a later state: what is proved there already saves nothing
   */
  private saved(state: ProvedState, to?: ProvedState): number {
    let size = 0;
    for (const key of state.used)
      if (to === undefined || !(to.accounts.has(key) || to.slots.has(key)))
        size += key.length === ADDRESS_BYTES ? this.last.account : this.last.slot;
    const before = to === undefined || to.size === 0 ? (this.savedBefore.get(state) ?? 0) : 0;
    return Math.max(size, before / 2);
  }

  private sizeOfList({ gasUsed }: BlockHeader): number {
    return EMPTY_LIST + this.last.perGas * Number(gasUsed);
  }
}

const isWithinBound = (size: number) => size <= MAX_LIST;

/** About the characters of a JSON value. */
function sizeOf(value: unknown): number {
  if (typeof value === 'string') return value.length + 3;
  if (typeof value !== 'object' || value === null) return 6;
  let size = 3;
  for (const [name, member] of Object.entries(value))
    size += sizeOf(member) + (Array.isArray(value) ? 0 : name.length + 3);
  return size;
}

/** By `bytesToKey` of the address. */
type CarriedValues = Map<string, ListedAccount>;

/** The values of a state that go over. Storage roots do not: a list does not say what becomes of them. */
function startFrom({ accounts, slots, size, used }: ProvedState): CarriedValues {
  const values: CarriedValues = new Map();
  const isLeft = (key: string) => size > MAX_CARRIED && !used.has(key);
  for (const [key, account] of accounts) {
    if (isLeft(key)) continue;
    const { nonce, balance, codeHash } = account ?? NO_ACCOUNT;
    values.set(key, { account: account && { nonce, balance, codeHash }, slots: new Map() });
  }
  for (const [key, value] of slots) {
    if (isLeft(key)) continue;
    values.get(key.slice(0, ADDRESS_BYTES))?.slots.set(key.slice(ADDRESS_BYTES), value);
  }
  return values;
}

/** Goes on to the next block. An account that its list does not name is as it was, with all slots. */
async function apply(values: CarriedValues, list: BlockAccessList, codes: ProvedState['codes']): Promise<void> {
  for (const entry of list) {
    await nextTurn();
    const held = values.get(bytesToKey(entry.address));
    if (held === undefined) continue;
    applyAccesses(held, entry, (hash, code) => codes.put(hash, code, entry.address));
  }
}
