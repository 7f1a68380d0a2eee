import { provedValues } from '../accumulator/proof-shape.js';
import type { AnswerNote, Chain, ChainCall } from '../chain/chain.js';
import { answerRefused, isUnreachable, missing } from '../chain/light/refused.js';
import { FINALIZATION_EVENTS } from '../chain/light/settlement/rollup-reader.js';
import type { Settlement } from '../chain/light/settlement/settlement.js';
import { isPlumblineError, PlumblineError } from '../errors.js';
import { mappingSlot } from '../ethereum/abi.js';
import { revertReason } from '../evm/call.js';
import type { RunLimits } from '../evm/run-budget.js';
import type { TransactionOutcome } from '../evm/transaction-message.js';
import type { Network } from '../networks/network.js';
import { bytesToBigInt, equalBytes } from '../primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../primitives/hex.js';
import { toQuantity } from '../primitives/quantity.js';
import { verifyEthereumProof } from '../proof/ethereum-proof.js';
import type { HashedHeader } from '../proof/headers.js';
import { readArray, readBytes, readBytesList, readCount, readObject } from '../proof/json-reader.js';
import {
  type ClaimState,
  claimCalldata,
  claimRefusal,
  inboxClaimCalldata,
  inboxSlot,
  messageSlots,
  messageTrees,
  siblingsOf,
  verifyClaimState,
  verifyMessageProof,
} from '../proof/messages.js';
import { nextTurn } from '../scheduling/turns.js';
import {
  claimsAt,
  type LoggedMessage,
  listMessages,
  MESSAGE_SENT,
  type MessageSources,
  messageJson,
  messageOfLog,
  provedMessages,
  viewOf,
} from './message-logs.js';
import type { ClaimPreparation, DepositStatus, MessageList, PreparedClaim } from './withdrawal.js';

/** Which message is to be claimed. */
export interface ClaimSearch {
  /** 32 bytes. */
  readonly hash: Uint8Array;
  /** The blocks in which it was sent. Endpoints are asked when left out. */
  readonly blocks?: { readonly from: number; readonly to: number } | undefined;
  /** 20 bytes. */
  readonly feeRecipient?: Uint8Array | undefined;
}

/** Messages to layer 1, of a light chain with endpoints of layer 1. */
export interface Messages {
  /** As `listMessages`. */
  list(query: Parameters<typeof listMessages>[1], call: ChainCall): Promise<MessageList>;
  /** As `findClaim`. */
  claim(search: ClaimSearch, call: ChainCall): Promise<ClaimPreparation>;
  /** As `depositStatus`. */
  deposit(hash: Uint8Array, call: ChainCall): Promise<DepositStatus>;
}

/** @returns undefined for a network whose profile does not say where messages are */
export function openMessages(
  { rollup, messageService, tokenBridge }: Network,
  chain: MessageSources['chain'] &
    Pick<Chain, 'zkProof'> & { settlement(): Promise<Pick<Settlement, 'layerOneBlock'>> },
  groups: Pick<MessageSources, 'upstream' | 'layerOne' | 'level' | 'runner'>,
): Messages | undefined {
  if (rollup?.rootDepthsSlot === undefined || rollup.claimedSlot === undefined || messageService === undefined)
    return undefined;
  const sources: MessageSources = {
    chain,
    ...groups,
    rollup,
    messageService: hexToBytes(messageService, 20),
    tokenBridge,
    pin: async (signal) => (await chain.settlement()).layerOneBlock(signal),
  };
  return {
    list: (query, call) => listMessages(sources, query, call),
    claim: (search, call) => findClaim(sources, search, call),
    deposit: (hash, call) => depositStatus(chain, sources, hash, call),
  };
}

/** A finalization, as the events of layer 1 tell it. Nothing of it is proved. */
interface Finalization {
  readonly first: number;
  readonly last: number;
  readonly roots: readonly { readonly root: Uint8Array; readonly depth: number }[];
}

/** @source docs/spec/messages.md 4 */
const ROOT_ADDED: Hex = '0x300e6f978eee6a4b0bba78dd8400dc64fd5652dbfc868a2258e16d0977be222b';
/** Depth of the trees where no event tells another one. */
const USUAL_DEPTH = 5;
/** Depths that are tried: those of one finalization are all the same. */
const MOST_DEPTHS = 4;
/** Blocks of a finalization. More are no finalization: 16 hours have fewer (docs/spec/json-rpc.md 2.2). */
const MOST_BLOCKS = 2 ** 17;
/** Blocks below the head that are read for a message that no endpoint knows. */
const NEAR = 1_024;
/** Most layer-1 blocks in one request for events, and least: if endpoints refuse that, the range is not the reason. */
const [WIDEST, NARROWEST] = [2_048, 16];
/** Most requests for the events of one finalization. */
const REQUESTS = 24;
/** Blocks of the rollup in one request for messages that is not divided any more. */
const LEAST_PART = 256;
/** Of Ethereum. With another one more is searched. */
const SECONDS_PER_SLOT = 12;
/** How long an endpoint may search all its blocks for a message, milliseconds. */
const TOLD_WITHIN_MS = 10_000;

/**
 * Proves a message to be in a root that layer 1 stores, and makes its claim. Logs of the rollup may come from anyone there: the root decides.
 * What is not found so is looked for in proved logs.
 *
 * @throws PlumblineError `ANSWER_REFUSED`, `PROOF_MALFORMED`, of the endpoints; as `MessageSources.pin`, `provedMessages`
 * @source docs/spec/messages.md 5
 */
async function findClaim(sources: MessageSources, search: ClaimSearch, call: ChainCall): Promise<ClaimPreparation> {
  const { hash, blocks } = search;
  const { signal } = call;
  const pinning = sources.pin(signal);
  pinning.catch(() => {});
  const told =
    blocks !== undefined && blocks.from === blocks.to ? blocks.from : await toldBlock(sources, search, signal);
  const limits = { signal, gas: call.gas };
  // What every claim reads is fetched while the message is looked for.
  const warming = Promise.all([pinning, sources.runner?.()]).then(([at, runner]) => runner?.warm(at, limits));
  warming.catch(() => {});
  const [pinned, block] = await Promise.all([
    pinning,
    told === undefined ? undefined : blockAt(sources, told, signal).catch(ignoreUnlessAborted(signal)),
  ]);
  const at = { sources, search, pinned, signal, limits, warming };
  // Both at once: what is not final is rare.
  const finding = block && eachFinalization(at, block);
  const [{ finalizedBlock }, first] = await Promise.all([
    claimsAt(sources, pinned, [], signal),
    finding?.next().catch(ignoreUnlessAborted(signal)),
  ]);
  call.note?.level(sources.level);
  const layerOne = viewOf(sources, pinned, finalizedBlock);
  const near = async () => {
    const head = (await sources.chain.head({ signal })).header.number;
    return { from: Math.max(0, head - NEAR + 1), to: head };
  };
  if (block !== undefined && block.number <= finalizedBlock) {
    for (let one = first; one !== undefined && !one.done; one = await finding!.next()) {
      const leaves = isUsable(one.value, finalizedBlock) ? await toldLeaves(at, one.value) : undefined;
      const claim = leaves && (await claimOf({ ...at, finalizedBlock }, one.value, leaves));
      if (claim !== undefined) return claim;
    }
  }
  const toldAlone = told === undefined ? undefined : await sentIn(sources, hash, { from: told, to: told }, call);
  const isOver = toldAlone?.found !== undefined || (blocks !== undefined && blocks.from === blocks.to);
  const { found, proved } = isOver ? toldAlone! : await sentIn(sources, hash, blocks ?? (await near()), call);
  if (found === undefined) return { status: 'notFound', proved, layerOne };
  const { number: blockNumber, timestamp } = found.header;
  const of = { message: messageJson(found.logged, sources), blockNumber, proved, layerOne };
  if (blockNumber > finalizedBlock) return { status: 'notFinal', ...of };
  for await (const finalization of eachFinalization(at, { number: blockNumber, timestamp })) {
    const { first: from, last: to } = finalization;
    if (!isUsable(finalization, finalizedBlock)) continue;
    const { logs: all } = await provedMessages(sources, { from, to, topics: [] }, { ...call, note: undefined });
    const leaves = { logged: found.logged, hashes: all.flatMap(({ log }) => log.topics[3] ?? []) };
    const claim = await claimOf({ ...at, finalizedBlock }, finalization, leaves);
    if (claim !== undefined) return claim;
  }
  const transaction = await inboxClaim(at, found.logged);
  if (transaction !== undefined) return { status: 'inbox', ...of, transaction };
  return { status: 'notAnchored', ...of };
}

/** Slot of `inboxL2L1MessageStatus` of the rollup contract. @source docs/spec/messages.md 4 */
const OLD_INBOX_SLOT = 166n;

/** The claim of an old message that layer 1 has recorded. @throws PlumblineError `ANSWER_REFUSED`, of the endpoints */
async function inboxClaim(
  { sources: { layerOne, rollup }, search: { feeRecipient }, pinned: { header }, signal }: Place,
  { message, hash }: LoggedMessage,
): Promise<PreparedClaim['transaction'] | undefined> {
  const storageKeys = [mappingSlot(hash, OLD_INBOX_SLOT)];
  const params = [rollup.address, storageKeys.map(bytesToHex), toQuantity(header.number)];
  const { stateRoot } = header;
  const value = await layerOne.request('eth_getProof', params, {
    ...stop(signal),
    accept(answer) {
      const address = hexToBytes(rollup.address, 20);
      const verdict = verifyEthereumProof({ address, storageKeys, stateRoot }, answer);
      if (!verdict.verified) throw answerRefused('rollup contract', verdict);
      return verdict.slots[0]?.value;
    },
  });
  if (value === undefined || bytesToBigInt(value) !== 1n) return undefined;
  const data = inboxClaimCalldata({ message, ...(feeRecipient !== undefined && { feeRecipient }) });
  return { to: rollup.address, data: bytesToHex(data), value: '0x0' };
}

/**
 * What the rollup has of a message from layer 1, by its newest zk state that is final.
 *
 * @param hash - of the message, 32 bytes
 * @throws PlumblineError as `Chain.zkProof`
 * @source docs/spec/messages.md 7
 */
async function depositStatus(
  chain: Pick<Chain, 'zkProof'>,
  { messageService, level }: MessageSources,
  hash: Uint8Array,
  call: ChainCall,
): Promise<DepositStatus> {
  let zkBlock = 0;
  const note: AnswerNote = {
    block() {},
    level() {},
    unproved() {},
    rootUnknown() {},
    gasLimits() {},
    zk(number, ...more) {
      zkBlock = number;
      call.note?.zk(number, ...more);
    },
  };
  const proof = await chain.zkProof(messageService, [inboxSlot(hash)], { tag: 'finalized' }, { ...call, note });
  const [value] = provedValues(proof, 1).slots;
  const status = (['notReceived', 'received', 'claimed'] as const)[Number(bytesToBigInt(value!))] ?? 'claimed';
  return { status, zkBlock, level };
}

/** A message in the proved logs of blocks. @throws as `provedMessages` */
async function sentIn(
  sources: MessageSources,
  hash: Uint8Array,
  range: { readonly from: number; readonly to: number },
  call: ChainCall,
) {
  const { logs, proved } = await provedMessages(sources, { ...range, topics: [hash] }, call);
  const [found] = logs.flatMap(({ log, transaction }) => {
    const logged = messageOfLog(log);
    return logged !== undefined && equalBytes(logged.hash, hash) ? [{ logged, header: transaction.block.header }] : [];
  });
  return { found, proved };
}

/** Whether a finalization can be one, of the blocks that are proved to be final. */
function isUsable({ first, last }: Finalization, finalizedBlock: number): boolean {
  return last <= finalizedBlock && last - first < MOST_BLOCKS;
}

interface Place {
  readonly sources: MessageSources;
  readonly search: ClaimSearch;
  readonly pinned: HashedHeader;
  readonly signal: AbortSignal | undefined;
  readonly limits: RunLimits;
  readonly warming: Promise<unknown>;
}

/** The hashes of all messages of a finalization, in order, and the message that is claimed. */
interface Leaves {
  readonly logged: LoggedMessage;
  readonly hashes: readonly Uint8Array[];
}

const stop = (signal: AbortSignal | undefined) => (signal === undefined ? {} : { signal });

/** What does not end the search: endpoints that have nothing, or nothing true. @throws the reason of the signal */
function ignoreUnlessAborted(signal: AbortSignal | undefined): (error: unknown) => undefined {
  return (error) => {
    signal?.throwIfAborted();
    if (!(error instanceof PlumblineError) || isPlumblineError(error, 'ABORTED')) throw error;
  };
}

async function blockAt({ chain }: MessageSources, number: number, signal: AbortSignal | undefined) {
  const [block] = await chain.blocks(number, number, { signal });
  return block!.header;
}

/** A log as an endpoint tells it. */
function readLog(json: unknown, at: string) {
  const log = readObject(json, at);
  const topics = readBytesList(log.topics, `${at}.topics`);
  if (topics.length === 0 || topics.some(({ length }) => length !== 32))
    throw answerRefused('logs', { verified: false, reason: 'OTHER_EVENT', at, message: 'is another event' });
  return {
    topics,
    data: readBytes(log.data, `${at}.data`),
    blockNumber: readCount(log.blockNumber, `${at}.blockNumber`),
    logIndex: readCount(log.logIndex, `${at}.logIndex`),
    transactionHash: readBytes(log.transactionHash, `${at}.transactionHash`, 32),
  };
}

type ToldLog = ReturnType<typeof readLog>;

async function readLogs(answer: unknown): Promise<ToldLog[]> {
  const logs: ToldLog[] = [];
  for (const [i, one] of readArray(answer, '').entries()) {
    if (i % 64 === 0) await nextTurn();
    logs.push(readLog(one, `[${i}]`));
  }
  return logs.sort((a, b) => a.blockNumber - b.blockNumber || a.logIndex - b.logIndex);
}

/** The block of a message, as an endpoint tells it. @returns undefined if none does */
function toldBlock(
  { upstream, messageService }: MessageSources,
  { hash, blocks }: ClaimSearch,
  signal: AbortSignal | undefined,
): Promise<number | undefined> {
  const filter = {
    address: bytesToHex(messageService),
    topics: [bytesToHex(MESSAGE_SENT), null, null, bytesToHex(hash)],
    fromBlock: toQuantity(blocks?.from ?? 0),
    toBlock: blocks === undefined ? 'latest' : toQuantity(blocks.to),
  };
  const accept = async (answer: unknown) => {
    const log = (await readLogs(answer)).find((one) => isOf(one, hash));
    if (log === undefined) throw missing(`message ${bytesToHex(hash)}`);
    return log.blockNumber;
  };
  return upstream
    .request('eth_getLogs', [filter], { ...stop(signal), timeoutMs: TOLD_WITHIN_MS, accept })
    .catch(ignoreUnlessAborted(signal));
}

function isOf(log: Pick<ToldLog, 'topics' | 'data'>, hash: Uint8Array): boolean {
  const logged = messageOfLog(log);
  return logged !== undefined && equalBytes(logged.hash, hash);
}

/**
 * All messages of a finalization, as an endpoint of the rollup tells them; where endpoints refuse so many blocks, as they tell parts of it.
 *
 * @returns undefined if none tells messages that lead to a root of the finalization
 */
async function toldLeaves(place: Place, finalization: Finalization): Promise<Leaves | undefined> {
  const { signal, search } = place;
  const accept = (logs: readonly ToldLog[]) => leavesOf(logs, search.hash, finalization);
  const { first, last } = finalization;
  try {
    return await toldMessages(place, first, last, accept);
  } catch (error) {
    if (!isPlumblineError(error, 'UPSTREAM_ERROR')) return ignoreUnlessAborted(signal)(error);
  }
  const inParts = async (from: number, to: number): Promise<readonly ToldLog[]> => {
    const middle = from + ((to - from) >> 1);
    const halves = [[from, middle] as const, [middle + 1, to] as const].map(([low, high]) =>
      toldMessages(place, low, high, (logs) => logs).catch((error: unknown) => {
        if (!isPlumblineError(error, 'UPSTREAM_ERROR') || high - low < LEAST_PART) throw error;
        return inParts(low, high);
      }),
    );
    return (await Promise.all(halves)).flat();
  };
  return inParts(first, last).then(accept).catch(ignoreUnlessAborted(signal));
}

/** Logs of messages in blocks, as an endpoint tells them. @throws PlumblineError of the endpoints, and what `accept` throws */
function toldMessages<T>(
  { sources: { upstream, messageService }, signal }: Place,
  from: number,
  to: number,
  accept: (logs: readonly ToldLog[]) => T,
): Promise<T> {
  const filter = {
    address: bytesToHex(messageService),
    topics: [bytesToHex(MESSAGE_SENT)],
    fromBlock: toQuantity(from),
    toBlock: toQuantity(to),
  };
  return upstream.request('eth_getLogs', [filter], {
    ...stop(signal),
    accept: async (answer) => accept(await readLogs(answer)),
  });
}

/** @throws PlumblineError `ANSWER_REFUSED` for logs without the message, or that lead to no root of the finalization */
function leavesOf(logs: readonly ToldLog[], hash: Uint8Array, finalization: Finalization): Leaves {
  const own = logs.find((log) => isOf(log, hash));
  const logged = own && messageOfLog(own);
  const what = `messages of blocks ${finalization.first} to ${finalization.last}`;
  if (logged === undefined || logs.some(({ topics }) => topics.length < 4)) throw missing(what);
  const leaves = { logged, hashes: logs.map(({ topics }) => topics[3]!) };
  const { roots } = finalization;
  if (roots.length === 0 || branches(leaves, finalization).some(({ isTold }) => isTold)) return leaves;
  const message = 'the messages lead to no root of the finalization';
  throw answerRefused(what, { verified: false, reason: 'ROOT_MISMATCH', at: '', message });
}

/** The branches of a message in the trees that its finalization may have. Those with a root that layer 1 tells come first. */
function branches({ logged, hashes }: Leaves, { roots }: Finalization) {
  const told = [...new Set(roots.map(({ depth }) => depth))].filter((depth) => depth > 0 && depth <= 32);
  const index = hashes.findIndex((one) => equalBytes(one, logged.hash));
  const depths = (told.length === 0 ? [USUAL_DEPTH] : told).slice(0, MOST_DEPTHS);
  return depths
    .map((depth) => {
      const size = 2 ** depth;
      const start = index - (index % size);
      const [tree] = messageTrees(hashes.slice(start, start + size), depth);
      const leafIndex = index - start;
      const isTold = roots.some((one) => one.depth === depth && equalBytes(one.root, tree!.root));
      return { depth, leafIndex, root: tree!.root, siblings: siblingsOf(tree!, leafIndex), isTold };
    })
    .sort((a, b) => Number(b.isTold) - Number(a.isTold));
}

/** The claim of a message if layer 1 stores the root of its tree. */
async function claimOf(
  place: Place & { readonly finalizedBlock: number },
  finalization: Finalization,
  leaves: Leaves,
): Promise<PreparedClaim | undefined> {
  const { sources, search, pinned, signal, finalizedBlock } = place;
  const { message, hash } = leaves.logged;
  if (!leaves.hashes.some((one) => equalBytes(one, hash))) return undefined;
  for (const { depth, leafIndex, root, siblings } of branches(leaves, finalization)) {
    const { feeRecipient } = search;
    const claim = { message, siblings, leafIndex, root, ...(feeRecipient !== undefined && { feeRecipient }) };
    // At the same time: what it reads is most of what its state is.
    const running = runOf(place, claimCalldata(claim), hash);
    running.catch(() => {});
    const state = await claimStateAt(sources, pinned, { root, nonce: message.nonce }, signal);
    const stored = Number(state.depth);
    if (!verifyMessageProof({ message, siblings, leafIndex, root, depth: stored }).verified) continue;
    const refusal = claimRefusal(claim, state, BigInt(pinned.header.timestamp));
    return {
      status: state.isClaimed ? 'claimed' : 'anchored',
      message: messageJson(leaves.logged, sources),
      siblings: siblings.map((one) => bytesToHex(one)),
      leafIndex,
      root: bytesToHex(root),
      depth,
      finalization: { from: finalization.first, to: finalization.last },
      layerOne: viewOf(sources, pinned, finalizedBlock),
      slotsAllow: refusal === undefined,
      ...(refusal === undefined ? await running : { refusal }),
      transaction: { to: sources.rollup.address, data: bytesToHex(claimCalldata(claim)), value: '0x0' },
    };
  }
  return undefined;
}

/** `MessageClaimed(bytes32)`. @source docs/spec/messages.md 6 */
const MESSAGE_CLAIMED = hexToBytes('0xa4c827e719e911e8f19393ccdb85b5102f08f0910604d340ba38390b7ff2ab0e', 32);

/** What a claim does when it is executed. @returns nothing where it cannot be. @throws PlumblineError of the request's limits */
async function runOf(
  { sources: { runner, rollup }, search, pinned, limits, warming }: Place,
  data: Uint8Array,
  hash: Uint8Array,
): Promise<Pick<PreparedClaim, 'wouldPass' | 'revert'> | undefined> {
  const to = hexToBytes(rollup.address, 20);
  let outcome: TransactionOutcome | undefined;
  try {
    await warming;
    outcome = await (await runner?.())?.run(pinned, { from: search.feeRecipient, to, data }, limits);
  } catch (error) {
    if (isPlumblineError(error, 'GAS_BUDGET_EXCEEDED')) throw error;
    ignoreUnlessAborted(limits.signal)(error);
  }
  if (outcome === undefined) return undefined;
  const { succeeded, exception, returnData, logs } = outcome;
  const isClaimed = logs.some(
    ({ address, topics: [event, of] }) =>
      of !== undefined && equalBytes(address, to) && equalBytes(event!, MESSAGE_CLAIMED) && equalBytes(of, hash),
  );
  if (succeeded && isClaimed) return { wouldPass: true };
  const reason = succeeded ? 'the contract claimed nothing' : (revertReason(returnData) ?? exception);
  return { wouldPass: false, revert: { data: bytesToHex(returnData), ...(reason && { reason }) } };
}

/** @throws PlumblineError `ANSWER_REFUSED`, `PROOF_MALFORMED`, of the endpoints */
function claimStateAt(
  { layerOne, rollup }: MessageSources,
  { header }: HashedHeader,
  question: { readonly root: Uint8Array; readonly nonce: bigint },
  signal: AbortSignal | undefined,
): Promise<ClaimState> {
  const params = [rollup.address, messageSlots(rollup, question).map(bytesToHex), toQuantity(header.number)];
  return layerOne.request('eth_getProof', params, {
    ...stop(signal),
    accept(answer) {
      const verdict = verifyClaimState({ ...question, l1StateRoot: header.stateRoot, rollup }, answer);
      if (!verdict.verified) throw answerRefused('rollup contract', verdict);
      return verdict;
    },
  });
}

/**
 * The finalization that holds a block, as each endpoint of layer 1 tells it. What one tells a second time is left out.
 *
 * @throws PlumblineError of the endpoints, if none tells of one and some did not answer
 */
async function* eachFinalization(
  { sources: { layerOne, rollup }, pinned, signal }: Place,
  block: { readonly number: number; readonly timestamp: number },
): AsyncGenerator<Finalization, undefined> {
  const seen = new Set<string>();
  let failure: unknown;
  for (const { id } of layerOne.endpoints) {
    const eventsIn = (from: number, to: number) => {
      const topics = [[...FINALIZATION_EVENTS.keys(), ROOT_ADDED]];
      const filter = { address: rollup.address, topics, fromBlock: toQuantity(from), toBlock: toQuantity(to) };
      const waits = layerOne.endpoints.length === 1;
      return layerOne.request('eth_getLogs', [filter], { ...stop(signal), endpoint: id, waits, accept: readLogs });
    };
    const found = await finalizationOf(block, pinned.header, eventsIn).catch((error: unknown) => {
      failure = error;
      return ignoreUnlessAborted(signal)(error);
    });
    if (found === undefined) continue;
    const roots = found.roots.map(({ root, depth }) => `${bytesToHex(root)} ${depth}`);
    const key = [found.first, found.last, ...roots].join();
    if (!seen.has(key)) yield found;
    seen.add(key);
  }
  if (seen.size === 0 && failure !== undefined) throw failure;
}

/**
 * Searches the events of layer 1, from the time of the block up, and then down from there. Finalizations come in the order of their blocks.
 *
 * @throws PlumblineError of the endpoint
 */
async function finalizationOf(
  block: { readonly number: number; readonly timestamp: number },
  { number: newest, timestamp }: HashedHeader['header'],
  eventsIn: (from: number, to: number) => Promise<readonly ToldLog[]>,
): Promise<Finalization | undefined> {
  const slots = Math.ceil(Math.max(0, timestamp - block.timestamp) / SECONDS_PER_SLOT);
  let width = WIDEST;
  // Slots without a block make it a block before the finalization. What was searched is from `low` to below `high`.
  let low = Math.max(0, newest - Math.max(width - 1, slots));
  let high = low;
  let [mayBeAbove, mayBeBelow] = [true, true];
  for (let request = 0; request < REQUESTS; request++) {
    const isUp = mayBeAbove && high <= newest;
    if (!isUp && !(mayBeBelow && low > 0)) return undefined;
    const [from, to] = isUp ? [high, Math.min(newest, high + width - 1)] : [Math.max(0, low - width), low - 1];
    let logs: readonly ToldLog[];
    try {
      logs = await eventsIn(from, to);
    } catch (error) {
      // Endpoints limit ranges and report that in different ways, so any error makes the range smaller.
      if (width <= NARROWEST || isUnreachable(error) || !isPlumblineError(error, 'UPSTREAM_ERROR')) throw error;
      width = Math.max(NARROWEST, width >> 2);
      continue;
    }
    const found = logs.flatMap((log) => rangeOf(log) ?? []);
    const own = found.find(({ first, last }) => first <= block.number && block.number <= last);
    if (own !== undefined) {
      const roots = logs.flatMap((log) => (equalBytes(log.transactionHash, own.transactionHash) ? rootOf(log) : []));
      return { first: own.first, last: own.last, roots };
    }
    if (found.some(({ first }) => first > block.number)) mayBeAbove = false;
    if (found.some(({ last }) => last < block.number)) mayBeBelow = false;
    if (isUp) high = to + 1;
    else low = from;
  }
  return undefined;
}

function rangeOf({ topics, transactionHash }: ToldLog) {
  const [event, first, last] = topics;
  if (last === undefined || !FINALIZATION_EVENTS.has(bytesToHex(event!))) return undefined;
  return { first: Number(bytesToBigInt(first!)), last: Number(bytesToBigInt(last)), transactionHash };
}

const ROOT_ADDED_TOPIC = hexToBytes(ROOT_ADDED, 32);

function rootOf({ topics: [event, root, depth] }: ToldLog): Finalization['roots'] {
  if (depth === undefined || !equalBytes(event!, ROOT_ADDED_TOPIC)) return [];
  return [{ root: root!, depth: Number(bytesToBigInt(depth)) }];
}
