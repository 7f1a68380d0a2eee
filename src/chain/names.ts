import { isPlumblineError } from '../errors.js';
import { abiBytes, abiWord } from '../ethereum/abi.js';
import type { BlockContext } from '../evm/block-context.js';
import { FREE_RUN, type SimulationRules, transactionMessageOf } from '../evm/call.js';
import { Machine } from '../evm/machine.js';
import { RunBudget, type RunLimits } from '../evm/run-budget.js';
import type { SpeculativeRun } from '../evm/simulation.js';
import { StateOverlay } from '../evm/state-overlay.js';
import type { StateReader } from '../evm/state-reader.js';
import { simulateTransaction } from '../evm/transaction.js';
import { keccak256 } from '../kernel/keccak.js';
import { bytesToBigInt, concatBytes, equalBytes, isZeroBytes, joinBytes, ZERO_WORD } from '../primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../primitives/hex.js';

/**
 * Why a contract gave no answer. `reverted`: it refused. `outOfGas`: it needs more than ten million gas. `halted`: it ended with
 * another exception of the EVM. `malformed`: the answer does not have the type that the function returns, for example because there is
 * no contract. `tooLarge`: the answer has more than 64 KiB.
 */
export type NameFailure = 'reverted' | 'outOfGas' | 'halted' | 'malformed' | 'tooLarge';

/**
 * A record that could not be read.
 *
 * - `noResolver`: the name has no resolver, and none of its parents has one that answers for the names below it.
 * - `noRecord`: the resolver has no such record.
 * - `notProved`: the resolver asks for data from a server (CCIP-Read, EIP-3668). No state proves this data, so it is never fetched.
 * - `failed`: the contract gave no answer.
 */
export type Unresolved =
  | { readonly status: 'noResolver' }
  | { readonly status: 'noRecord'; readonly resolver: Hex }
  | { readonly status: 'notProved'; readonly reason: 'offchainLookup'; readonly resolver: Hex }
  | { readonly status: 'failed'; readonly reason: NameFailure; readonly contract: Hex };

/** The address of a name, or why there is none. */
export type ForwardOutcome =
  | { readonly status: 'resolved'; readonly address: Hex; readonly resolver: Hex }
  | Unresolved;

/** The name of an address, or why there is none. */
export type ReverseOutcome =
  | { readonly status: 'found'; readonly name: string }
  /** The reverse record is not a normalised name. `claimed` may look like another name: do not show it as a name. */
  | { readonly status: 'notNormalized'; readonly claimed: string }
  /** The name in the reverse record resolves to another address, `forward`. So the claim was checked and is false. */
  | { readonly status: 'otherAddress'; readonly claimed: string; readonly forward: Hex }
  /** The reverse record could not be read, or the name in it (`claimed`) could not be resolved. */
  | (Unresolved & { readonly record: 'reverse' })
  | (Unresolved & { readonly record: 'forward'; readonly claimed: string });

/** Gas of one question to a contract. */
const GAS = 10_000_000n;
/** Most bytes of an answer, as hex. */
const MAX_ANSWER_CHARACTERS = 2 * 64 * 1024;

const OFFCHAIN_LOOKUP = hexToBytes('0x556f1830');
const RESOLVE = hexToBytes('0x9061b923');

/** Calldata of functions. @source ENSIP-1, ENSIP-3, ENSIP-9, ENSIP-10 */
const resolverCall = (node: Uint8Array) => concatBytes(hexToBytes('0x0178b8bf'), node);
const nameCall = (node: Uint8Array) => concatBytes(hexToBytes('0x691f3431'), node);
const addressCall = (node: Uint8Array, coinType: number) =>
  coinType === ETHER
    ? concatBytes(hexToBytes('0x3b3b57de'), node)
    : concatBytes(hexToBytes('0xf1cb7e06'), node, abiWord(coinType));
const SUPPORTS_RESOLVE = concatBytes(hexToBytes('0x01ffc9a7'), RESOLVE, new Uint8Array(28));

function resolveCall(name: Uint8Array, inner: Uint8Array): Uint8Array {
  const encoded = abiBytes(name);
  return concatBytes(RESOLVE, abiWord(64), abiWord(64 + encoded.length), encoded, abiBytes(inner));
}

/** What a contract answered. */
type Answer = { readonly data: Uint8Array } | { readonly failure: NameFailure | 'offchainLookup' };

const MALFORMED: Answer = { failure: 'malformed' };

/** An address of an answer. @returns undefined for what is none */
function readAddress(data: Uint8Array): Uint8Array | undefined {
  return data.length >= 32 && isZeroBytes(data.subarray(0, 12)) ? data.subarray(12, 32) : undefined;
}

/** Bytes or text of an answer. @returns undefined for what is none */
function readBytes(data: Uint8Array): Uint8Array | undefined {
  const lengthAt = (at: number) => (at + 32 <= data.length ? bytesToBigInt(data.subarray(at, at + 32)) : undefined);
  const offset = lengthAt(0);
  if (offset === undefined) return undefined;
  const begin = Number(offset) + 32;
  const length = lengthAt(begin - 32);
  if (length === undefined || length > BigInt(data.length - begin)) return undefined;
  return data.subarray(begin, begin + Number(length));
}

const UTF8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function readText(bytes: Uint8Array): string | undefined {
  if (bytes.length > MAX_NAME_BYTES) return undefined;
  try {
    return UTF8.decode(bytes);
  } catch {
    return undefined;
  }
}

/** Where names are read. */
export interface NameBase extends Omit<RunLimits, 'maxAnswerBytes'> {
  readonly network: SimulationRules;
  /** Of the block whose state is read. */
  readonly block: BlockContext;
  readonly state: StateReader;
  /** 20 bytes. */
  readonly registry: Uint8Array;
  /** Of a run whose outcome does not count. */
  readonly speculativeRun?: SpeculativeRun | undefined;
}

/** Reads names of ENS from the state of one block. Contracts are run here, and no answer of a server takes part. */
export interface Names {
  /** @param name - normalised. @throws PlumblineError errors of reading the state and of the budget */
  address(name: string, coinType: number): Promise<ForwardOutcome>;
  /**
   * @param address - 20 bytes
   * @param isNormalized - whether a name is as ENSIP-15 would have it
   * @throws as `address`
   */
  name(
    address: Uint8Array,
    coinType: number,
    isNormalized: (name: string) => boolean | Promise<boolean>,
  ): Promise<ReverseOutcome>;
  /** Nothing can be asked afterwards. */
  close(): void;
}

export async function openNames({
  network,
  block,
  state,
  registry,
  speculativeRun,
  ...limits
}: NameBase): Promise<Names> {
  const machine = Machine.open(network, block, new StateOverlay(state));
  const gasLimit = speculativeRun === undefined || speculativeRun.gas > GAS ? GAS : speculativeRun.gas;

  async function ask(to: Uint8Array, data: Uint8Array): Promise<Answer> {
    const message = transactionMessageOf({ to, data }, { gasLimit, nonce: 0n, price: 0n, free: true });
    const budget = new RunBudget({ ...limits, maxAnswerBytes: MAX_ANSWER_CHARACTERS });
    speculativeRun?.begin(undefined);
    try {
      const { succeeded, exception, returnData } = await simulateTransaction(machine, message, { budget, ...FREE_RUN });
      speculativeRun?.ended(succeeded);
      if (succeeded) return { data: returnData };
      if (exception !== 'revert') return { failure: exception === 'out of gas' ? 'outOfGas' : 'halted' };
      return { failure: equalBytes(returnData.subarray(0, 4), OFFCHAIN_LOOKUP) ? 'offchainLookup' : 'reverted' };
    } catch (error) {
      if (!isPlumblineError(error, 'ANSWER_TOO_LARGE')) throw error;
      speculativeRun?.ended(false);
      return { failure: 'tooLarge' };
    }
  }

  /** The resolver of a name, and whether it resolves names by `resolve`. @source ENSIP-10 */
  async function resolverOf(name: string): Promise<{ address: Uint8Array; isExtended: boolean } | Unresolved> {
    for (let current = name; current !== ''; current = parentOf(current)) {
      const answer = await ask(registry, resolverCall(namehash(current)));
      if ('failure' in answer) return failed(registry, answer.failure);
      const address = readAddress(answer.data);
      if (address === undefined) return failed(registry, 'malformed');
      if (isZeroBytes(address)) continue;
      const supports = await ask(address, SUPPORTS_RESOLVE);
      // As EIP-165: what does not answer does not support it.
      const isExtended =
        'data' in supports && supports.data.length >= 32 && bytesToBigInt(supports.data.subarray(0, 32)) === 1n;
      return isExtended || current === name ? { address, isExtended } : { status: 'noResolver' };
    }
    return { status: 'noResolver' };
  }

  /** Reads a record of a name. @param read - gives no bytes where there is no record, and undefined for what is of another type */
  async function record(
    name: string,
    call: Uint8Array,
    read: (data: Uint8Array) => Uint8Array | undefined,
  ): Promise<{ readonly bytes: Uint8Array; readonly resolver: Hex } | Unresolved> {
    const found = await resolverOf(name);
    if ('status' in found) return found;
    const { address, isExtended } = found;
    let answer = await ask(address, isExtended ? resolveCall(dnsEncode(name)!, call) : call);
    if (isExtended && 'data' in answer) {
      const data = readBytes(answer.data);
      answer = data === undefined ? MALFORMED : { data };
    }
    const resolver = bytesToHex(address);
    if ('failure' in answer) return failed(address, answer.failure);
    // What a resolver of a whole subtree says of a record that it does not have.
    if (isExtended && answer.data.length === 0) return { status: 'noRecord', resolver };
    const bytes = read(answer.data);
    if (bytes === undefined) return failed(address, 'malformed');
    return bytes.length === 0 ? { status: 'noRecord', resolver } : { bytes, resolver };
  }

  async function forward(name: string, coinType: number): Promise<ForwardOutcome> {
    const found = await record(name, addressCall(namehash(name), coinType), (data) => {
      const bytes = coinType === ETHER ? readAddress(data) : readBytes(data);
      if (bytes === undefined || bytes.length === 0 || !isEvmCoin(coinType)) return bytes;
      if (bytes.length !== 20) return undefined;
      return isZeroBytes(bytes) ? new Uint8Array(0) : bytes;
    });
    if ('status' in found) return found;
    return { status: 'resolved', address: bytesToHex(found.bytes), resolver: found.resolver };
  }

  return {
    address: forward,
    async name(address, coinType, isNormalized) {
      const own = bytesToHex(address);
      const reverse = reverseName(own.slice(2), coinType);
      const found = await record(reverse, nameCall(namehash(reverse)), readBytes);
      if ('status' in found) return { ...found, record: 'reverse' };
      const claimed = readText(found.bytes);
      if (claimed === undefined) return { ...failed(hexToBytes(found.resolver), 'malformed'), record: 'reverse' };
      if (dnsEncode(claimed) === undefined || !(await isNormalized(claimed)))
        return { status: 'notNormalized', claimed };
      const checked = await forward(claimed, coinType);
      if (checked.status !== 'resolved') return { ...checked, record: 'forward', claimed };
      if (checked.address !== own) return { status: 'otherAddress', claimed, forward: checked.address };
      return { status: 'found', name: claimed };
    },
    close: () => machine.close(),
  };
}

function failed(contract: Uint8Array, failure: NameFailure | 'offchainLookup'): Unresolved {
  if (failure === 'offchainLookup')
    return { status: 'notProved', reason: 'offchainLookup', resolver: bytesToHex(contract) };
  return { status: 'failed', reason: failure, contract: bytesToHex(contract) };
}

/** Most bytes of a name. ENS has no limit; a page that is given text of any length needs one. */
const MAX_NAME_BYTES = 1_000;
/** A label is encoded behind one byte with its length. */
const MAX_LABEL_BYTES = 255;

const encoder = new TextEncoder();

const labelsOf = (name: string) => (name === '' ? [] : name.split('.'));

/**
 * Hash of a normalised name, 32 bytes.
 *
 * @source ENSIP-1 (EIP-137), namehash algorithm
 */
export function namehash(name: string): Uint8Array {
  return labelsOf(name).reduceRight<Uint8Array>(
    (node, label) => keccak256(concatBytes(node, keccak256(encoder.encode(label)))),
    ZERO_WORD,
  );
}

/**
 * A name as resolvers of whole subtrees take it: each label behind its length, then a zero.
 *
 * @returns undefined for a name that is too long, or has a label without or with too many bytes
 * @source ENSIP-10, dnsencode
 */
export function dnsEncode(name: string): Uint8Array | undefined {
  const labels = labelsOf(name).map((label) => encoder.encode(label));
  if (labels.some(({ length }) => length === 0 || length > MAX_LABEL_BYTES)) return undefined;
  const encoded = joinBytes([...labels.flatMap((label) => [Uint8Array.of(label.length), label]), Uint8Array.of(0)]);
  return encoded.length > MAX_NAME_BYTES ? undefined : encoded;
}

/** The name without its first label; empty for a name of one label. */
export function parentOf(name: string): string {
  const dot = name.indexOf('.');
  return dot < 0 ? '' : name.slice(dot + 1);
}

/** Coin type of ether on layer 1. @source ENSIP-9 */
export const ETHER = 60;
/** Coin type of all chains with an EVM together; that of one chain has its chain id in the lower bits. @source ENSIP-11, ENSIP-19 */
const EVERY_EVM = 0x8000_0000;

/** Whether addresses of a coin type are those of the EVM, 20 bytes. */
export const isEvmCoin = (coinType: number): boolean => coinType === ETHER || coinType >= EVERY_EVM;

/**
 * The name that an address of the EVM has its reverse record at.
 *
 * @param address - 40 hex digits in lower case
 * @source ENSIP-3; ENSIP-19 for other coin types than ether's
 */
export function reverseName(address: string, coinType: number): string {
  if (coinType === ETHER) return `${address}.addr.reverse`;
  return `${address}.${coinType === EVERY_EVM ? 'default' : coinType.toString(16)}.reverse`;
}
