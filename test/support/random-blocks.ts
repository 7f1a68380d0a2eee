import { bigIntToBytes } from '../../src/primitives/bytes.js';
import type { SlotChange, ZkAccountChange } from '../../src/state/world-state.js';

export type Random = (bound: number) => number;

/** A world of few accounts and slots, so that the same ones are met again and again. */
export interface SmallWorld {
  readonly addresses: readonly Uint8Array[];
  readonly keys: readonly Uint8Array[];
}

/** What a chain knows of one account; the value of each slot of the world, zero where it is empty. */
export interface ModelAccount {
  readonly nonce: bigint;
  readonly balance: bigint;
  readonly slots: readonly number[];
}

/** By place in `SmallWorld.addresses`. */
export type Model = readonly (ModelAccount | undefined)[];

export interface RandomBlock {
  readonly changes: ZkAccountChange[];
  /** The accounts after it. */
  readonly model: Model;
}

const word = (value: number) => bigIntToBytes(BigInt(value), 32);

const CODES = [Uint8Array.of(0x60, 0x00), new Uint8Array(0), Uint8Array.from({ length: 67 }, (_, i) => i)];

export function smallWorld(accounts: number, slots: number): SmallWorld {
  return {
    addresses: Array.from({ length: accounts }, (_, i) => bigIntToBytes(BigInt(i + 1) * 0x9e3779b97f4an, 20)),
    keys: Array.from({ length: slots }, (_, i) => word(i)),
  };
}

/**
 * A block that fits the model: accounts created, changed, destroyed, recreated with and without slots, only touched; slots
 * written, emptied, cleared and written again, only touched.
 *
 * @param touched - how many accounts, at most
 */
export function randomBlock(random: Random, world: SmallWorld, model: Model, touched: number): RandomBlock {
  const after = [...model];
  const changes: ZkAccountChange[] = [];
  for (const n of pick(random, world.addresses.length, 1 + random(touched))) {
    const address = world.addresses[n]!;
    const old = model[n];
    if (old === undefined) {
      const { change, account } = appear(random, world, address);
      changes.push(change);
      after[n] = account;
      continue;
    }
    const kind = random(10);
    const before = { nonce: old.nonce, balance: old.balance };
    if (kind === 0) {
      const slots = random(2) === 0 ? [] : used(old).map((key) => slotChange(world, key, old.slots[key]!, 0));
      changes.push({ address, before, destroyed: random(2) === 0, slots });
      after[n] = undefined;
    } else if (kind <= 2 || (used(old).length === 0 && kind <= 4)) {
      const { change, account } = recreate(random, world, address, old);
      changes.push(change);
      after[n] = account;
    } else {
      const { change, account } = update(random, world, address, old);
      changes.push(change);
      after[n] = account;
    }
  }
  return { changes, model: after };
}

interface Changed {
  readonly change: ZkAccountChange;
  readonly account: ModelAccount | undefined;
}

function appear(random: Random, world: SmallWorld, address: Uint8Array): Changed {
  const fresh = world.keys.map(() => 0);
  if (random(6) === 0) {
    // Created and destroyed within the block, or only looked at.
    const slots = random(2) === 0 ? [slotChange(world, random(world.keys.length), 0, 0)] : [];
    return { change: { address, destroyed: false, slots }, account: undefined };
  }
  const { slots, values } = writes(random, world, fresh);
  const account = { nonce: BigInt(random(2)), balance: BigInt(random(3)), slots: values };
  return { change: { address, destroyed: false, after: afterOf(random, account), slots }, account };
}

function update(random: Random, world: SmallWorld, address: Uint8Array, old: ModelAccount): Changed {
  const before = { nonce: old.nonce, balance: old.balance };
  const { slots, values } = writes(random, world, old.slots);
  const still = random(4) === 0;
  const account = {
    nonce: still ? old.nonce : old.nonce + 1n,
    balance: still ? old.balance : BigInt(random(4)),
    slots: values,
  };
  return { change: { address, before, destroyed: false, after: afterOf(random, account), slots }, account };
}

function recreate(random: Random, world: SmallWorld, address: Uint8Array, old: ModelAccount): Changed {
  const before = { nonce: old.nonce, balance: old.balance };
  const values = world.keys.map(() => (random(3) === 0 ? 1 + random(3) : 0));
  // Besu lists the slots that it clears; an account without any may be recreated without a slot.
  const bare = used(old).length === 0 && random(2) === 0;
  const listed = world.keys.map((_, key) => key).filter((key) => !bare && (old.slots[key] !== 0 || values[key] !== 0));
  const slots = listed.map((key) => slotChange(world, key, old.slots[key]!, values[key]!));
  const account = { nonce: 1n, balance: BigInt(random(3)), slots: bare ? world.keys.map(() => 0) : values };
  return { change: { address, before, destroyed: true, after: afterOf(random, account), slots }, account };
}

function writes(random: Random, world: SmallWorld, before: readonly number[]) {
  const values = [...before];
  const slots: SlotChange[] = [];
  const emptied = random(5) === 0;
  const touched = emptied ? world.keys.keys() : pick(random, world.keys.length, random(world.keys.length));
  for (const key of touched) {
    const old = before[key]!;
    const kind = emptied ? 0 : random(8);
    // Some are emptied, some only touched, some cleared and written again when there was a value.
    const value = kind < 2 ? 0 : kind === 2 ? old : 1 + random(3);
    values[key] = value;
    const cleared = kind === 3 && old !== 0 && value !== 0 && value !== old;
    slots.push({ ...slotChange(world, key, old, value), ...(cleared && { cleared }) });
  }
  return { slots, values };
}

function afterOf(random: Random, { nonce, balance }: ModelAccount): ZkAccountChange['after'] & object {
  return { nonce, balance, ...(random(4) === 0 && { code: CODES[random(CODES.length)]! }) };
}

function slotChange(world: SmallWorld, key: number, before: number, after: number): SlotChange {
  return { key: world.keys[key]!, before: word(before), after: word(after) };
}

const used = ({ slots }: ModelAccount) => [...slots.keys()].filter((key) => slots[key] !== 0);

/** `count` different numbers below `bound`, in no order. */
function pick(random: Random, bound: number, count: number): Set<number> {
  const picked = new Set<number>();
  while (picked.size < Math.min(count, bound)) picked.add(random(bound));
  return picked;
}

/** A block that does not fit: that of another one with a fault put in, and the code of the refusal. */
export function faultyBlock(random: Random, world: SmallWorld, model: Model, { changes }: RandomBlock) {
  const broken = [...changes];
  const at = random(broken.length);
  const one = broken[at]!;
  const old = model[world.addresses.indexOf(one.address)];
  const kind = random(4);
  const state = { nonce: 1n, balance: 1n };
  if (kind === 0) {
    broken[at] =
      old === undefined ? { ...one, before: state } : { ...one, before: { ...state, nonce: old.nonce + 1n } };
    return { changes: broken, code: 'STATE_MISMATCH' };
  }
  if (kind === 1) return { changes: [...broken, one], code: 'INVALID_PARAMETER' };
  if (kind === 2 || old === undefined) {
    // Found after storage has been written.
    const after = { nonce: 1n, balance: 1n << 256n };
    // A removal is turned into a plain change: as a recreation without its slots it would be refused for another reason.
    broken[at] = one.after === undefined ? { ...one, destroyed: false, slots: [], after } : { ...one, after };
    return { changes: broken, code: 'OUT_OF_RANGE' };
  }
  const before = { nonce: old.nonce, balance: old.balance };
  if (used(old).length > 0) {
    broken[at] = { address: one.address, before, after: state, destroyed: true, slots: [] };
  } else {
    const slots = [{ key: world.keys[0]!, before: word(5), after: word(6) }];
    broken[at] = { address: one.address, before, after: state, destroyed: false, slots };
  }
  return { changes: broken, code: 'STATE_MISMATCH' };
}
