import { type Block, TRUST_RANK, type TrustLevel } from '../chain/block.js';
import type { Chain, ChainCall } from '../chain/chain.js';
import { answerRefused, withoutContract } from '../chain/light/refused.js';
import { bloomTest, type FoundLog } from '../chain/log-filter.js';
import { collectLogs, logsOfBlock } from '../chain/log-search.js';
import { PlumblineError } from '../errors.js';
import type { Log } from '../ethereum/receipt.js';
import type { RunLimits } from '../evm/run-budget.js';
import type { TransactionOutcome } from '../evm/transaction-message.js';
import type { RollupContract, TokenBridge } from '../networks/network.js';
import { bigIntToBytes, bytesToBigInt, bytesToKey, concatBytes, copyBytes, equalBytes } from '../primitives/bytes.js';
import type { CallRequest } from '../primitives/call-request.js';
import { bytesToHex, hexToBytes } from '../primitives/hex.js';
import { toQuantity } from '../primitives/quantity.js';
import { verifyEthereumProof } from '../proof/ethereum-proof.js';
import type { HashedHeader } from '../proof/headers.js';
import { type BridgeMessage, hashMessage, messageSlots } from '../proof/messages.js';
import { nextTurn } from '../scheduling/turns.js';
import type { EndpointGroup } from '../upstream/group.js';
import type { LayerOneView, MessageJson, MessageList, ProvedBlocks, SentMessage, TokenTransfer } from './withdrawal.js';

/** Runs calls on the state of layer-1 blocks. @throws PlumblineError of the endpoints; `GAS_BUDGET_EXCEEDED`, `ABORTED` */
export interface ClaimRunner {
  /** Fetches the code of the contract, which every claim needs. */
  warm(at: HashedHeader, limits: RunLimits): Promise<void>;
  /** @param call - a claim */
  run(at: HashedHeader, call: CallRequest, limits: RunLimits): Promise<TransactionOutcome>;
}

/** What messages are read from: a rollup's chain with endpoints, and its layer 1. */
export interface MessageSources {
  readonly chain: Pick<Chain, 'head' | 'blocks' | 'receipts' | 'trust'>;
  /** Endpoints of the rollup. */
  readonly upstream: Pick<EndpointGroup, 'request'>;
  readonly layerOne: Pick<EndpointGroup, 'request'> & { readonly endpoints: readonly { readonly id: string }[] };
  readonly rollup: RollupContract;
  /** Contract on the rollup that messages are sent by. */
  readonly messageService: Uint8Array;
  readonly tokenBridge: TokenBridge | undefined;
  readonly level: LayerOneView['level'];
  /** Executes claims; left out where consensus of layer 1 is not followed, or its profile is not known. */
  readonly runner?: (() => Promise<ClaimRunner | undefined>) | undefined;
  /** The final block of layer 1 at which everything there is read. @throws PlumblineError as `RollupReader.pin` */
  pin(signal?: AbortSignal): Promise<HashedHeader>;
}

/** `MessageSent(address,address,uint256,uint256,uint256,bytes,bytes32)`. @source docs/spec/messages.md 2 */
export const MESSAGE_SENT = hexToBytes('0xe856c2b8bd4eb0027ce32eeaf595c21b0b6b4644b326e5b7bd80a1cf8db72e6c', 32);

/** Blocks whose headers are held at the same time. */
const BLOCKS_HELD = 1_024;
/** Blocks whose receipts are fetched at the same time. */
const BLOCKS_AT_ONCE = 16;
/** Most slots of one request for a proof. */
const SLOTS_AT_ONCE = 128;

/** A message and its hash, which is that of its log. */
export interface LoggedMessage {
  readonly message: BridgeMessage;
  readonly hash: Uint8Array;
}

/**
 * The message of a log.
 *
 * @returns undefined for a log of another form, or that names another hash than its message has
 */
export function messageOfLog({ topics, data }: Omit<Log, 'address'>): LoggedMessage | undefined {
  const [event, from, to, named] = topics;
  if (event === undefined || named === undefined || !equalBytes(event, MESSAGE_SENT)) return undefined;
  const numberAt = (at: number) => bytesToBigInt(data.subarray(at, at + 32));
  // Fee, value, nonce, where the data begins, and how long it is.
  if (data.length < 160 || numberAt(96) !== 128n || numberAt(128) > BigInt(data.length - 160)) return undefined;
  const message: BridgeMessage = {
    from: copyBytes(from!, 12),
    to: copyBytes(to!, 12),
    fee: numberAt(0),
    value: numberAt(32),
    nonce: numberAt(64),
    data: copyBytes(data, 160, 160 + Number(numberAt(128))),
  };
  const hash = hashMessage(message);
  return equalBytes(hash, named) ? { message, hash } : undefined;
}

/** `completeBridging(address,uint256,address,uint256,bytes)`. @source docs/spec/messages.md 6 */
const COMPLETE_BRIDGING = hexToBytes('0xe4d27451', 4);

/** What a message between the token bridges moves; undefined for any other message. */
function tokenTransferOf(
  { from, to, data }: BridgeMessage,
  bridge: TokenBridge | undefined,
): TokenTransfer | undefined {
  if (bridge === undefined || data.length < 4 + 5 * 32 || !equalBytes(data.subarray(0, 4), COMPLETE_BRIDGING))
    return undefined;
  // Anybody can send the same data to another contract, or from one.
  if (!equalBytes(from, hexToBytes(bridge.address, 20)) || !equalBytes(to, hexToBytes(bridge.layerOne, 20)))
    return undefined;
  const word = (at: number) => data.subarray(4 + 32 * at, 36 + 32 * at);
  return {
    token: bytesToHex(word(0).subarray(12)),
    amount: toQuantity(bytesToBigInt(word(1))),
    recipient: bytesToHex(word(2).subarray(12)),
    chainId: toQuantity(bytesToBigInt(word(3))),
  };
}

export function messageJson(
  { message, hash }: LoggedMessage,
  { tokenBridge }: Pick<MessageSources, 'tokenBridge'>,
): MessageJson {
  const { from, to, fee, value, nonce, data } = message;
  const tokenTransfer = tokenTransferOf(message, tokenBridge);
  return {
    hash: bytesToHex(hash),
    from: bytesToHex(from),
    to: bytesToHex(to),
    fee: toQuantity(fee),
    value: toQuantity(value),
    nonce: toQuantity(nonce),
    data: bytesToHex(data),
    ...(tokenTransfer !== undefined && { tokenTransfer }),
  };
}

/** Which logs of the message service are read: those with all these topics, at any position. */
interface LogSearch {
  readonly from: number;
  readonly to: number;
  readonly topics: readonly Uint8Array[];
}

/**
 * All messages of a range of blocks, proved to be complete: the headers are linked to blocks that the chain has accepted, and receipts are
 * verified against them.
 *
 * @throws PlumblineError `BLOCK_NOT_FOUND` above the head; `ANSWER_REFUSED`, of the endpoints; `ANSWER_TOO_LARGE`
 */
export async function provedMessages(
  { chain, messageService }: Pick<MessageSources, 'chain' | 'messageService'>,
  { from, to, topics }: LogSearch,
  call: ChainCall,
): Promise<{ readonly logs: readonly FoundLog[]; readonly proved: ProvedBlocks }> {
  const { signal } = call;
  const filter = { addresses: [messageService], topics: [[MESSAGE_SENT]] };
  // The bloom of a block does not say at which position a topic is.
  const mayMatch = bloomTest({ ...filter, topics: [[MESSAGE_SENT], ...topics.map((topic) => [topic])] });
  const hasTopics = ({ log }: FoundLog) => topics.every((topic) => log.topics.some((one) => equalBytes(one, topic)));
  const { found, add } = collectLogs(call.maxAnswerBytes);
  let level: TrustLevel | undefined;
  for (let first = from; first <= to; first += BLOCKS_HELD) {
    // Without notes: the report names the blocks that are in the answer.
    const blocks = await chain.blocks(first, Math.min(to, first + BLOCKS_HELD - 1), { ...call, note: undefined });
    for (const end of [blocks[0]!, blocks.at(-1)!]) {
      const own = await chain.trust(end);
      if (level === undefined || TRUST_RANK[own] < TRUST_RANK[level]) level = own;
      if (end.header.number === from || end.header.number === to) call.note?.block(end);
    }
    const matching = blocks.filter(({ header }) => mayMatch(header.logsBloom));
    for (let at = 0; at < matching.length; at += BLOCKS_AT_ONCE) {
      await nextTurn();
      signal?.throwIfAborted();
      const some = matching.slice(at, at + BLOCKS_AT_ONCE).map((block: Block) => {
        return logsOfBlock(chain, block, filter, { ...call, note: undefined });
      });
      for (const logs of await Promise.all(some)) add(logs.filter(hasTopics));
    }
  }
  return { logs: found, proved: { from, to, level: level! } };
}

/**
 * The messages of an address in a range of blocks, with what layer 1 says of each.
 *
 * @param address - 20 bytes
 * @throws PlumblineError as `provedMessages`, `MessageSources.pin`
 * @source docs/spec/messages.md 5
 */
export async function listMessages(
  sources: MessageSources,
  { address, from, to }: { readonly address: Uint8Array; readonly from: number; readonly to: number },
  call: ChainCall,
): Promise<MessageList> {
  const topic = concatBytes(new Uint8Array(12), address);
  // It is waited for later. If it fails before, that is no unhandled rejection.
  const pinning = sources.pin(call.signal);
  pinning.catch(() => {});
  const { logs, proved } = await provedMessages(sources, { from, to, topics: [topic] }, call);
  const sent = logs.flatMap((found) => {
    const logged = messageOfLog(found.log);
    if (logged === undefined) return [];
    const { message } = logged;
    return [message.from, message.to].some((one) => equalBytes(one, address)) ? [{ found, logged }] : [];
  });
  const pinned = await pinning;
  call.note?.level(sources.level);
  const nonces = sent.map(({ logged }) => logged.message.nonce);
  const { finalizedBlock, isClaimed } = await claimsAt(sources, pinned, nonces, call.signal);
  const messages = sent.map(({ found: { transaction, logIndex }, logged }): SentMessage => {
    const { header, hash } = transaction.block;
    const state =
      header.number > finalizedBlock ? 'notFinal' : isClaimed(logged.message.nonce) ? 'claimed' : 'anchored';
    return {
      ...messageJson(logged, sources),
      blockNumber: header.number,
      blockHash: bytesToHex(hash),
      transactionHash: bytesToHex(transaction.transaction.hash),
      logIndex,
      state,
    };
  });
  return { messages, proved, layerOne: viewOf(sources, pinned, finalizedBlock) };
}

export function viewOf(
  { level }: Pick<MessageSources, 'level'>,
  { header, hash }: HashedHeader,
  finalizedBlock: number,
): LayerOneView {
  const { number, timestamp } = header;
  return { level, block: { number, hash: bytesToHex(hash), timestamp }, finalizedBlock };
}

/**
 * The newest final block of the rollup and which messages were claimed, proved against the header of a layer-1 block.
 *
 * @throws PlumblineError `ANSWER_REFUSED`, `PROOF_MALFORMED`, of the endpoints
 */
export async function claimsAt(
  { layerOne, rollup }: Pick<MessageSources, 'layerOne' | 'rollup'>,
  { header }: HashedHeader,
  nonces: readonly bigint[],
  signal: AbortSignal | undefined,
): Promise<{ readonly finalizedBlock: number; readonly isClaimed: (nonce: bigint) => boolean }> {
  const root = new Uint8Array(32);
  const slotOf = (nonce: bigint) => messageSlots(rollup, { root, nonce })[5]!;
  const slots = new Map(nonces.map((nonce) => [nonce >> 8n, slotOf(nonce)]));
  const keys = [bigIntToBytes(rollup.currentBlockSlot, 32), ...slots.values()];
  const values = new Map<string, bigint>();
  const pieces = Array.from({ length: Math.ceil(keys.length / SLOTS_AT_ONCE) }, (_, i) =>
    keys.slice(i * SLOTS_AT_ONCE, (i + 1) * SLOTS_AT_ONCE),
  );
  const address = hexToBytes(rollup.address, 20);
  const read = (storageKeys: readonly Uint8Array[]) =>
    layerOne.request('eth_getProof', [rollup.address, storageKeys.map(bytesToHex), toQuantity(header.number)], {
      ...(signal && { signal }),
      accept(answer, from) {
        const verdict = verifyEthereumProof({ address, storageKeys, stateRoot: header.stateRoot }, answer);
        if (!verdict.verified) throw answerRefused('rollup contract', verdict);
        if (verdict.account === undefined) throw withoutContract(from, rollup.address);
        return verdict.slots;
      },
    });
  for (const proved of await Promise.all(pieces.map(read)))
    for (const { key, value } of proved) values.set(bytesToKey(key), bytesToBigInt(value));
  const current = values.get(bytesToKey(keys[0]!))!;
  if (current > BigInt(Number.MAX_SAFE_INTEGER)) {
    const details = { what: 'finalized block', value: `${current}`, limit: '2^53 - 1' };
    throw new PlumblineError('OUT_OF_RANGE', 'the number of the finalized block is above 2^53 - 1', details);
  }
  return {
    finalizedBlock: Number(current),
    isClaimed: (nonce) => ((values.get(bytesToKey(slots.get(nonce >> 8n)!))! >> (nonce & 255n)) & 1n) === 1n,
  };
}
