import { keccak256 } from '../../../kernel/keccak.js';
import { bigIntToBytes, bytesToKey, concatBytes, padStart, ZERO_ADDRESS } from '../../../primitives/bytes.js';
import type { CallRequest } from '../../../primitives/call-request.js';
import { hexToBytes } from '../../../primitives/hex.js';
import { AccessSet, calldataAccesses } from './access-set.js';
import type { ProvedState } from './proved-state.js';

/*
 * Contracts keep what they know of an account in mappings, and most tokens have these at the same few slots. Where the reads of one
 * contract show the slot of a mapping, other contracts are guessed to have theirs there, before anything is known of their code. A
 * wrong guess costs the bytes of a proof, and nothing else.
 */

/** Storage of OpenZeppelin's upgradeable ERC-20 by ERC-7201: keccak256(keccak256("openzeppelin.storage.ERC20") - 1), last byte 0. */
const ERC20_STORAGE = hexToBytes('0x52c63247e1f47db19d5ce0460030c497f067ca4cebf71ba98eeadabe20bace00', 32);
const NEXT_OF_ERC20_STORAGE = Uint8Array.from(ERC20_STORAGE, (byte, i) => (i === 31 ? 1 : byte));
/** Slots of mappings that are tried: the first of a layout, those after the gaps of older upgradeable contracts, ERC-7201. */
const MAPPING_SLOTS = [
  ...[...Array.from({ length: 16 }, (_, i) => i), 51, 52, 101, 102].map((slot) => bigIntToBytes(BigInt(slot), 32)),
  ...[ERC20_STORAGE, NEXT_OF_ERC20_STORAGE],
];
/** Accounts that mappings are tried with; with pairs of them for mappings of mappings. */
const MAX_KEYS = 6;
/** Most slots that one call of a function here adds. */
const MAX_GUESSES = 48;

const SELECTOR = 4;

const inMapping = (key: Uint8Array, slot: Uint8Array): Uint8Array => keccak256(concatBytes(padStart(key, 32), slot));

/** A call that was executed, what it read, and when. */
export interface ReadCall {
  readonly call: CallRequest;
  readonly read: AccessSet;
  readonly at: number;
}

/** The accounts that a call names, in order: who sends it, then those in its calldata. */
function namedBy(call: CallRequest): Uint8Array[] {
  return [call.from ?? ZERO_ADDRESS, ...[...calldataAccesses(call)].map(({ address }) => address)].slice(0, MAX_KEYS);
}

/** A mapping, and which of the named accounts lead to a slot in it: one, or two for a mapping of mappings. */
interface Place {
  readonly mapping: Uint8Array;
  readonly keys: readonly [number] | readonly [number, number];
}

/** The places of those slots that are values of mappings for the named accounts, by `bytesToKey` of the slot. */
function placesOf(slots: ReadonlyMap<string, Uint8Array>, named: readonly Uint8Array[]): Map<string, Place> {
  const places = new Map<string, Place>();
  for (const mapping of MAPPING_SLOTS) {
    for (const [i, first] of named.entries()) {
      const outer = inMapping(first, mapping);
      if (slots.has(bytesToKey(outer))) places.set(bytesToKey(outer), { mapping, keys: [i] });
      for (const [j, second] of named.entries()) {
        const inner = bytesToKey(inMapping(second, outer));
        if (slots.has(inner)) places.set(inner, { mapping, keys: [i, j] });
      }
    }
  }
  return places;
}

/**
 * Slots that a call will probably read of the contract that it calls, as the newest call of the same function read them of another
 * contract.
 *
 * @param earlier - calls that were executed, the newest last
 */
export function guessedAlike(call: CallRequest, earlier: Iterable<ReadCall>): AccessSet {
  const guesses = new AccessSet();
  const { to, data } = call;
  if (to === undefined || data === undefined || data.length < SELECTOR) return guesses;
  const selectorOf = (bytes: Uint8Array = new Uint8Array(0)) => bytesToKey(bytes.subarray(0, SELECTOR));
  const other = [...earlier].reverse().find((one) => selectorOf(one.call.data) === selectorOf(data));
  const slots = other?.call.to && other.read.slotsOf(other.call.to);
  if (slots === undefined) return guesses;
  const named = namedBy(call);
  const places = placesOf(slots, namedBy(other!.call));
  for (const [key, slot] of slots) {
    if (guesses.size > MAX_GUESSES) break;
    const place = places.get(key);
    const keys = place?.keys.map((i) => named[i]);
    if (keys?.includes(undefined)) continue;
    guesses.addSlot(to, keys?.reduce((at: Uint8Array, account) => inMapping(account!, at), place!.mapping) ?? slot);
  }
  return guesses;
}

/**
 * Slots of the contracts in a call's calldata that hold values of the accounts which take part in it, as far as what was read of one
 * of these contracts shows the slot of a mapping.
 *
 * @param read - what the call reads, as far as it is known
 * @param pairs - whether values of pairs of accounts are guessed too: a preview reads allowances of all who take part
 */
export function guessedOfTokens(call: CallRequest, state: ProvedState, read: AccessSet, pairs: boolean): AccessSet {
  const isContract = (address: Uint8Array) => {
    const account = state.account(address);
    return account !== undefined && state.codes.get(account.codeHash) !== undefined;
  };
  const named = [...calldataAccesses(call)].map(({ address }) => address);
  const tokens = named.filter(isContract);
  const inPlay = new Map<string, Uint8Array>();
  const found = [...read].flatMap(({ address, code }) => (code ? [address] : []));
  for (const address of [call.from ?? ZERO_ADDRESS, ...found, ...named]) inPlay.set(bytesToKey(address), address);
  for (const token of tokens) inPlay.delete(bytesToKey(token));
  const accounts = [...inPlay.values()].slice(0, MAX_KEYS);
  const slots = new Map<string, Uint8Array>();
  for (const token of tokens) {
    for (const { mapping, keys } of placesOf(read.slotsOf(token) ?? new Map(), accounts).values()) {
      if (keys.length === 2 && !pairs) continue;
      const of = keys.length === 2 ? inMapping(accounts[keys[0]]!, mapping) : mapping;
      for (const account of accounts) slots.set(bytesToKey(inMapping(account, of)), inMapping(account, of));
    }
  }
  const guesses = new AccessSet();
  for (const slot of slots.values()) {
    for (const token of tokens) if (guesses.size < MAX_GUESSES) guesses.addSlot(token, slot);
  }
  return guesses;
}
