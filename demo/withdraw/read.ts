import {
  createNode,
  DEV_ACCOUNTS,
  devnet,
  ethereum,
  type Hex,
  layerOneOfDevnet,
  NETWORKS,
  type Network,
  type PlumblineNode,
  sepolia,
} from 'plumbline-l2';
import type { BridgeMessage } from 'plumbline-l2/verify';
import { devnetIn, serversOver } from '../evidence/servers.js';
import { requireAddress, word } from '../lib/calls.js';
import { fieldError, PageError } from '../lib/explain.js';
import { parseUnits } from '../lib/format.js';
import { question, showLink } from '../state/link.js';
import { type Answer, ask, askBeside } from '../state/requests.js';
import { joinKey } from '../state/secrets.js';
import { type Running, running } from '../state/session.js';
import { filled } from '../state/settings.js';
import {
  amount,
  CLAIMER,
  claimer,
  type Event,
  example,
  type Followed,
  fee,
  fields,
  first,
  followed,
  last,
  listed,
  previewed,
  recipient,
  wanted,
} from './state.js';
import { recipientOf } from './steps.js';

/** Labels of the fields that can be wrong. */
export const LABELS = {
  amount: 'Ether',
  fee: 'Fee in ether',
  recipient: 'Recipient on layer 1',
  wanted: 'Hash of the message, or an address',
  first: 'First block',
  last: 'Last block',
  claimer: 'Who claims',
} as const;

/** Blocks below the head that are read for an address when no block is named. */
const NEWEST = 1_000;
/** Blocks of a finalization in which the log of a message is looked for. A proof of a log takes all headers between. */
const FEW = 256;
/** Layer-1 blocks below which the events of a claim are not looked for: endpoints refuse wider ranges. */
const WIDEST = 50_000;
/** `L2MerkleRootAdded` and `MessageClaimed` (docs/spec/messages.md 4, 6). */
const ROOT_ADDED: Hex = '0x300e6f978eee6a4b0bba78dd8400dc64fd5652dbfc868a2258e16d0977be222b';
const MESSAGE_CLAIMED: Hex = '0xa4c827e719e911e8f19393ccdb85b5102f08f0910604d340ba38390b7ff2ab0e';
/** Creates a contract that reverts whatever it is called with. */
const REFUSES: Hex = '0x625f5ffd5f526003601df3';
const quantity = (value: bigint | number): Hex => `0x${value.toString(16)}`;

function node(): Running & { readonly rollup: Hex } {
  const now = running.value;
  if (now === undefined) throw new PageError('PAGE', 'No node is running. Start one under “Node”.');
  const { rollupAddress } = now.node.info;
  if (rollupAddress === undefined)
    throw new PageError('PAGE', 'This network is no rollup: there is nothing to withdraw to.');
  return { ...now, rollup: rollupAddress };
}

/** The devnet of the page signs and mines on layer 1 as it is asked to. */
function layerOne<Result = Hex>(method: string, ...params: unknown[]): Promise<Result> {
  const { layerOne: asked } = node();
  if (asked === undefined)
    throw new PageError('LAYER_ONE', 'This needs an endpoint of layer 1. Name one under “Node”.');
  return asked.request(method, params) as Promise<Result>;
}

/** Sends a withdrawal on the devnet, and follows it. */
export async function withdraw(): Promise<void> {
  const [value, reward] = [parseUnits(amount.value, 18, LABELS.amount), parseUnits(fee.value, 18, LABELS.fee)];
  const refuses = example.value === 'refused';
  const typed = refuses ? undefined : requireAddress(recipient.value, LABELS.recipient);
  clear();
  const to = typed ?? (await contractThatRefuses());
  // sendMessage(to, fee, data), without data.
  const words = [to.slice(2), reward.toString(16), '60', '0'].map(word).join('');
  const call = {
    from: DEV_ACCOUNTS[0]!.address,
    to: devnet().messageService!,
    value: quantity(value + reward),
    data: `0x9f3ce55a${words}`,
  };
  const { result: transaction } = await ask<Hex>('eth_sendTransaction', [call]);
  if (node().settings.mining === 'manual') await ask('evm_mine');
  const { result: receipt } = await ask<{ readonly blockNumber: Hex; readonly logs: readonly { topics: Hex[] }[] }>(
    'eth_getTransactionReceipt',
    [transaction],
  );
  const [log] = receipt.logs;
  if (log === undefined) throw new PageError('PAGE', 'The withdrawal failed: the transaction sent no message.');
  await follow(log.topics[3]!, Number(receipt.blockNumber));
}

/** What the view begins with on the devnet of the page: the newest withdrawal that there is, or a first one. */
export async function firstWithdrawal(): Promise<void> {
  const { node: asked, settings } = node();
  if (settings.kind !== 'devnet') return;
  const toBlock = Number((await ask<Hex>('eth_blockNumber', [], { quiet: true })).result);
  const query = { address: DEV_ACCOUNTS[0]!.address, fromBlock: Math.max(0, toBlock - NEWEST + 1), toBlock };
  const sent = (await asked.messages(query)).messages.at(-1);
  await (sent === undefined ? withdraw() : follow(sent.hash, sent.blockNumber));
}

async function contractThatRefuses(): Promise<Hex> {
  const created = await layerOne('eth_sendTransaction', { from: DEV_ACCOUNTS[2]!.address, data: REFUSES });
  return (await layerOne<{ readonly contractAddress: Hex }>('eth_getTransactionReceipt', created)).contractAddress;
}

/** What stood there is of another question. */
function clear(): void {
  followed.value = undefined;
  listed.value = undefined;
  previewed.value = undefined;
}

/** Asks for what the form names: one message, or those of an address. */
export async function find(): Promise<void> {
  const text = wanted.value.trim();
  const isHash = /^0x[0-9a-f]{64}$/i.test(text);
  if (!isHash && !/^0x[0-9a-f]{40}$/i.test(text))
    throw fieldError(LABELS.wanted, 'neither a hash of 0x and 64 hex digits nor an address of 0x and 40');
  const [from, to] = [blockIn(first.value, LABELS.first), blockIn(last.value, LABELS.last)];
  if (from !== undefined && to !== undefined && to < from) throw fieldError(LABELS.last, 'it is below the first block');
  clear();
  if (isHash) return follow(text as Hex, from, to);
  await list(text as Hex, from, to);
}

function blockIn(text: string, field: string): number | undefined {
  if (text.trim() === '') return undefined;
  if (!/^\d{1,12}$/.test(text.trim())) throw fieldError(field, 'not the number of a block');
  return Number(text.trim());
}

async function list(address: Hex, from: number | undefined, to: number | undefined): Promise<void> {
  const { node: asked } = node();
  const head = Number((await ask<Hex>('eth_blockNumber', [], { quiet: true })).result);
  const toBlock = to ?? head;
  const fromBlock = from ?? Math.max(0, toBlock - NEWEST + 1);
  const query = { address, fromBlock, toBlock };
  const asks = question('withdraw', fields.value, { from: String(fromBlock), to: String(toBlock) });
  const { result } = await askBeside(
    'messages',
    [query],
    () => asked.messages(query),
    ({ proved, layerOne: { level, block } }) => ({
      class: level === 'held' ? 'held' : 'proved',
      level,
      block: block.number,
      evidence: { proved, level, block },
    }),
  );
  listed.value = { address, list: result, question: asks };
  showLink(asks);
}

/**
 * Follows a message to layer 1.
 *
 * @param from - first block in which it is looked for; endpoints are asked for its block when left out
 * @param to - last one; `from` when left out
 */
export async function follow(hash: Hex, from?: number, to?: number): Promise<void> {
  const now = node();
  const blocks = from === undefined ? {} : { from: String(from), ...(to !== undefined && { to: String(to) }) };
  const asks = question('withdraw', { ...fields.value, message: hash }, blocks);
  previewed.value = undefined;
  const options = { ...(from !== undefined && { fromBlock: from }), ...(to !== undefined && { toBlock: to }) };
  const { result: claim } = await askBeside(
    'prepareClaim',
    [hash, options],
    () => now.node.prepareClaim(hash, options),
    ({ layerOne: { level, block, finalizedBlock } }) => ({
      class: level === 'held' ? 'held' : 'proved',
      level,
      block: block.number,
      evidence: { level, block, finalizedBlock },
    }),
  );
  // What is followed from here on is this message, whatever the form asked for.
  const asked = { ...asks, fields: fields.value };
  if (claim.status === 'notFound') {
    followed.value = { missing: claim, question: asked };
    return showLink(asked);
  }
  const checked = await check(now, claim);
  const range = 'blockNumber' in claim ? { from: claim.blockNumber, to: claim.blockNumber } : rangeOf(claim, from, to);
  const of: Followed = {
    node: now.node,
    rollup: now.rollup,
    own: now.settings.kind === 'devnet',
    message: claim.message,
    claim,
    ...checked,
    sent: range && (await logOf(now.node, claim.message, range)),
    finalized: 'root' in claim ? await eventOf(now, claim.layerOne.block.number, [ROOT_ADDED, claim.root]) : undefined,
    claimed: claim.status === 'claimed' ? await payment(now, claim.message, claim.layerOne.block.number) : undefined,
  };
  followed.value = { of, question: asked };
  showLink(asked);
}

type Claim = Followed['claim'];

/** The blocks in which the log is, where they are few enough. */
function rangeOf(claim: Extract<Claim, { readonly root: Hex }>, from: number | undefined, to: number | undefined) {
  if (from !== undefined) return { from, to: to ?? from };
  const { finalization } = claim;
  return finalization.to - finalization.from < FEW ? finalization : undefined;
}

async function logOf(asked: PlumblineNode, { from, hash }: Claim['message'], range: { from: number; to: number }) {
  const { messages, proved } = await asked.messages({ address: from, fromBlock: range.from, toBlock: range.to });
  const log = messages.find((one) => one.hash === hash);
  return log && { log, proved };
}

/** What this page checks itself: the branch, and the slots of the contract. */
async function check({ rollup, settings, layerOne: asked }: Running & { readonly rollup: Hex }, claim: Claim) {
  if (!('root' in claim)) return { branch: undefined, slots: undefined, slot: undefined };
  const { hexToBytes, bytesToHex, verifyMessageProof, messageSlots, verifyClaimState, messageTrees, siblingsOf } =
    await import('plumbline-l2/verify');
  const [root, depth] = [hexToBytes(claim.root), claim.depth];
  const siblings = claim.siblings.map((one) => hexToBytes(one));
  const message = messageOf(claim.message, hexToBytes);
  const { verified } = verifyMessageProof({ message, siblings, leafIndex: claim.leafIndex, root, depth });
  // Beside a lone leaf there are only trees of zeros.
  const zeros = siblingsOf(messageTrees([new Uint8Array(32)], depth)[0]!, 0).map((one) => bytesToHex(one));
  const branch = { verified, empty: claim.siblings.map((one, i) => one === zeros[i]) };
  const contract = profileOf(settings).rollup!;
  const question = { root, nonce: message.nonce };
  const keys = messageSlots(contract, question).map((one) => bytesToHex(one));
  const slot = keys[4];
  try {
    // Layer 1 is this page's own here, or an endpoint's word: so is the state root of the block.
    const { number, hash } = claim.layerOne.block;
    const block = (await asked!.request('eth_getBlockByHash', [hash, false])) as { readonly stateRoot: Hex };
    const answer = await asked!.request('eth_getProof', [rollup, keys, quantity(number)]);
    const l1StateRoot = hexToBytes(block.stateRoot);
    const verdict = verifyClaimState({ ...question, rollup: contract, l1StateRoot }, answer);
    return { branch, slot, slots: verdict.verified ? verdict : undefined };
  } catch {
    // The node has read them; only their figures are not shown.
    return { branch, slot, slots: undefined };
  }
}

function messageOf(of: Claim['message'], hexToBytes: (hex: Hex) => Uint8Array): BridgeMessage {
  const [from, to, data] = [of.from, of.to, of.data].map((hex) => hexToBytes(hex)) as [
    Uint8Array,
    Uint8Array,
    Uint8Array,
  ];
  return { from, to, data, fee: BigInt(of.fee), value: BigInt(of.value), nonce: BigInt(of.nonce) };
}

interface Log {
  readonly blockNumber: Hex;
  readonly transactionHash: Hex;
}

/** An event of the rollup contract, as layer 1 tells it; undefined where it does not. */
async function eventOf(
  { layerOne: asked, rollup }: Running & { readonly rollup: Hex },
  newest: number,
  topics: readonly Hex[],
): Promise<Event | undefined> {
  const filter = {
    address: rollup,
    topics,
    fromBlock: quantity(Math.max(0, newest - WIDEST)),
    toBlock: quantity(newest),
  };
  try {
    const [log] = (await asked!.request('eth_getLogs', [filter])) as readonly Log[];
    if (log === undefined) return undefined;
    const block = (await asked!.request('eth_getBlockByNumber', [log.blockNumber, false])) as { timestamp: Hex };
    return {
      number: Number(log.blockNumber),
      timestamp: Number(block.timestamp),
      transaction: log.transactionHash,
    };
  } catch {
    return undefined;
  }
}

/** The claim that was executed, and the balance of the recipient around its block. */
async function payment(
  now: Running & { readonly rollup: Hex },
  { hash, to, tokenTransfer }: Claim['message'],
  newest: number,
): Promise<Followed['claimed']> {
  if (tokenTransfer !== undefined) return undefined;
  const event = await eventOf(now, newest, [MESSAGE_CLAIMED, hash]);
  if (event === undefined) return undefined;
  try {
    const balanceAt = async (block: number) =>
      BigInt((await now.layerOne!.request('eth_getBalance', [to, quantity(block)])) as Hex);
    return { ...event, before: await balanceAt(event.number - 1), after: await balanceAt(event.number) };
  } catch {
    return undefined;
  }
}

/** Follows the same message once more. */
async function again({ message, sent }: Followed): Promise<void> {
  const { hash } = message;
  await (sent === undefined ? follow(hash) : follow(hash, sent.log.blockNumber));
}

/** Makes the block final: on a devnet it is two blocks later. Elsewhere nobody can, and it looks again. */
export async function finalize(of: Followed): Promise<void> {
  if (of.own && of.claim.status === 'notFinal') await ask('anvil_mine', ['0x2']);
  await again(of);
}

/** Sends the claim on the layer 1 of the devnet. */
export async function claim(of: Followed): Promise<void> {
  if (!('transaction' in of.claim)) return;
  const hash = await layerOne('eth_sendTransaction', { from: CLAIMER, ...of.claim.transaction });
  const { status } = await layerOne<{ readonly status: Hex }>('eth_getTransactionReceipt', hash);
  await again(of);
  if (status !== '0x1')
    throw new PageError('PAGE', 'The claim was sent, and failed on layer 1. Preview it to see why.');
}

/** Executes the claim on layer 1, by a light node of that chain. */
export async function previewClaim(of: Followed): Promise<void> {
  if (!('transaction' in of.claim)) return;
  const { settings, node: asked } = node();
  const { own, message } = of;
  const typed = claimer.value.trim();
  const from = own ? CLAIMER : typed === '' ? recipientOf(message) : requireAddress(typed, LABELS.claimer);
  const { to, data } = of.claim.transaction;
  const call = { from, to, data };
  previewed.value = undefined;
  const endpoints = own ? ['https://layer-1.example'] : filled(settings.layerOne).map(joinKey);
  const answer: Answer<Awaited<ReturnType<PlumblineNode['previewTransaction']>>> = await askBeside(
    'previewTransaction',
    [call],
    async () => {
      const light = await createNode({
        chain: { kind: 'light', network: layerOneOf(settings), endpoints },
        ...(own && { fetch: serversOver(devnetIn(asked), new Map()) }),
      });
      try {
        const preview = await previewOf(light, call, BigInt(message.fee) > 0n);
        // The one server that the light node asked is the devnet of this page.
        return own ? { ...preview, trust: { ...preview.trust, level: 'held' as const }, seen: [] } : preview;
      } finally {
        await light.close();
      }
    },
    ({ trust, seen }) => ({
      class: 'computed',
      level: trust.level,
      block: trust.block.number,
      evidence: { trust, seen },
    }),
  );
  const asks = { fields: { message: message.hash }, node: asked, link: undefined };
  previewed.value = { answer, calls: [call], node: undefined, question: asks };
}

type Call = Readonly<Record<'from' | 'to' | 'data', Hex>>;

/** The preview of a claim. One that pays a fee needs more gas at a price than an estimate without one says. */
async function previewOf(light: PlumblineNode, call: Call, pays: boolean) {
  const preview = await light.previewTransaction(call);
  if (!pays) return preview;
  let gas: bigint;
  try {
    const price = BigInt(await light.request({ method: 'eth_gasPrice' }));
    const priced = { ...call, maxFeePerGas: quantity(2n * price), maxPriorityFeePerGas: quantity(1n) };
    gas = BigInt(await light.request({ method: 'eth_estimateGas', params: [priced] }));
  } catch {
    // It fails with any gas, and the preview shows how.
    return preview;
  }
  // The price may be another one when it is included. What endpoints were asked, the first run has.
  return { ...(await light.previewTransaction({ ...call, gas: quantity((gas * 5n) / 4n) })), seen: preview.seen };
}

function profileOf({ kind, network }: Running['settings']): Network {
  return kind === 'devnet' ? devnet() : NETWORKS[network];
}

/** The network below. */
function layerOneOf({ kind, network }: Running['settings']): Network {
  if (kind === 'devnet' || network === 'devnet') return layerOneOfDevnet();
  return network === 'linea' ? ethereum : sepolia;
}
