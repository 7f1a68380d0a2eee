import { EMPTY_CODE_HASH } from '../../ethereum/constants.js';
import {
  type EvmChange,
  FLAGS,
  type TraceEnter,
  type TraceLeave,
  type TraceRecord,
  type TraceStep,
} from '../../kernel/evm.js';
import { bytesToKey, equalBytes, isZeroBytes, keyToBytes, ZERO_WORD } from '../../primitives/bytes.js';
import { bytesToHex, type Hex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import { authorityOf } from '../authority.js';
import { delegateOf, isDelegation } from '../common.js';
import type { Machine } from '../machine.js';
import { NO_ACCOUNT, type StateReader } from '../state-reader.js';
import type { TransactionMessage } from '../transaction-message.js';
import type { Tracer } from './tracer.js';

/** An account as the tracer shows it. */
export interface PrestateAccount {
  balance?: Hex;
  nonce?: number;
  code?: Hex;
  codeHash?: Hex;
  storage?: Record<Hex, Hex>;
}

/** Options of `prestateTracer`. `diffMode` does not go with `includeEmpty`. */
export interface PrestateTracerOptions {
  readonly diffMode?: boolean;
  readonly disableCode?: boolean;
  readonly disableStorage?: boolean;
  readonly includeEmpty?: boolean;
}

/** An account with the slots that were looked at. */
interface Values {
  readonly exists: boolean;
  readonly nonce: bigint;
  readonly balance: bigint;
  readonly codeHash: Uint8Array;
  readonly code: Uint8Array;
  /** By key. */
  readonly slots: ReadonlyMap<string, Uint8Array>;
}

/** JSON of an account besides its code and storage, and of a slot. */
const [ACCOUNT_CHARACTERS, SLOT_CHARACTERS] = [250, 140];

type Shown = Record<Hex, PrestateAccount>;

/**
 * The accounts and slots that a transaction looked at, with their values before it; with `diffMode` those that it changed, before
 * and after.
 *
 * @source docs/spec/preview.md 3
 */
export function prestateTracer(options: PrestateTracerOptions = {}): Tracer {
  const looks = followLooks();
  let shown: Shown | { readonly pre: Shown; readonly post: Shown } = {};
  return {
    flags: FLAGS.calls | FLAGS.stateSteps,
    take: looks.take,
    async changed(machine, message, changes, grow) {
      const before = await valuesBefore(machine, message, changes, looks, (values) => {
        grow(charactersOf(values, options));
      });
      if (options.diffMode === true) {
        const paid = isPaid(message) ? machine.block.coinbase : undefined;
        const changed = difference(before, changes, machine, options, looks);
        shown = { pre: changed.pre, post: { ...changed.post, ...missing(before, changes, looks.called, paid) } };
      } else shown = whole(before, options);
    },
    result: () => shown,
  };
}

/** Values before the transaction, of the accounts in the order in which they were looked at. */
async function valuesBefore(
  { state, block, rules }: Machine,
  message: TransactionMessage,
  changes: readonly EvmChange[],
  looks: ReturnType<typeof followLooks>,
  note: (values: Values) => void,
): Promise<Map<string, Values>> {
  const first = [message.from, ...(message.to === undefined ? [] : [message.to]), block.coinbase];
  for (const address of first) looks.add(address);
  if (rules.prague) {
    if (message.to !== undefined) await lookAtDelegate(bytesToKey(message.to), [], state, looks);
    for (const authorization of message.authorizationList ?? []) {
      const authority = await authorityOf(authorization);
      if (authority !== undefined) looks.add(authority);
    }
    for (const address of looks.called) await lookAtDelegate(address, changes, state, looks);
  }
  const found = new Map<string, Values>();
  for (const [key, slots] of looks.slots) {
    const values = await read(state, keyToBytes(key), slots);
    note(values);
    found.set(key, values);
  }
  return found;
}

/** Also looks at the account that this one delegates to, before the transaction or by one of its authorizations. */
async function lookAtDelegate(
  key: string,
  changes: readonly EvmChange[],
  state: StateReader,
  looks: ReturnType<typeof followLooks>,
): Promise<void> {
  const set = changes.find(({ address }) => bytesToKey(address) === key)?.code;
  const account = await state.account(keyToBytes(key));
  const code = set ?? (account && (await state.code(account.codeHash)));
  if (code !== undefined && isDelegation(code)) looks.add(delegateOf(code));
}

async function read(state: StateReader, address: Uint8Array, slots: ReadonlySet<string>): Promise<Values> {
  const account = await state.account(address);
  const { nonce, balance, codeHash } = account ?? NO_ACCOUNT;
  const values = new Map<string, Uint8Array>();
  for (const slot of slots) values.set(slot, await state.slot(address, keyToBytes(slot)));
  return { exists: account !== undefined, nonce, balance, codeHash, code: await state.code(codeHash), slots: values };
}

/** Of an account as it was before the transaction. */
function charactersOf({ code, slots }: Values, { disableCode, disableStorage }: PrestateTracerOptions): number {
  return ACCOUNT_CHARACTERS + (disableCode ? 0 : 2 * code.length) + (disableStorage ? 0 : SLOT_CHARACTERS * slots.size);
}

const isEmpty = ({ nonce, balance, code }: Values) => nonce === 0n && balance === 0n && code.length === 0;

function whole(before: ReadonlyMap<string, Values>, options: PrestateTracerOptions): Shown {
  const shown: Shown = {};
  for (const [key, values] of before) {
    if (isEmpty(values) && options.includeEmpty !== true) continue;
    shown[bytesToHex(keyToBytes(key))] = accountOf(values, options, values.slots);
  }
  return shown;
}

function accountOf(
  { nonce, balance, code, codeHash }: Values,
  { disableCode, disableStorage }: PrestateTracerOptions,
  slots: ReadonlyMap<string, Uint8Array>,
): PrestateAccount {
  return {
    balance: toQuantity(balance),
    ...(nonce !== 0n && { nonce: Number(nonce) }),
    ...(code.length > 0 && disableCode !== true && { code: bytesToHex(code) }),
    ...(code.length > 0 && { codeHash: bytesToHex(codeHash) }),
    ...(slots.size > 0 && disableStorage !== true && { storage: storageOf(slots) }),
  };
}

function storageOf(slots: ReadonlyMap<string, Uint8Array>): Record<Hex, Hex> {
  return Object.fromEntries([...slots].map(([key, value]) => [bytesToHex(keyToBytes(key)), bytesToHex(value)]));
}

function difference(
  before: ReadonlyMap<string, Values>,
  changes: readonly EvmChange[],
  { rules }: Machine,
  options: PrestateTracerOptions,
  { created, destroyed }: ReturnType<typeof followLooks>,
): { readonly pre: Shown; readonly post: Shown } {
  const written = new Map(changes.map((change) => [bytesToKey(change.address), change]));
  const [pre, post]: [Shown, Shown] = [{}, {}];
  for (const [key, values] of before) {
    const address = bytesToHex(keyToBytes(key));
    if (destroyed.has(key) && (!rules.cancun || created.has(key))) {
      if (!isEmpty(values)) pre[address] = accountOf(values, options, values.slots);
      continue;
    }
    const change = written.get(key);
    const after = change && changedMembers(values, change, options);
    if (after === undefined) continue;
    post[address] = after.account;
    if (!isEmpty(values)) pre[address] = accountOf(values, options, after.slotsBefore);
  }
  return { pre, post };
}

/** A free call pays nobody. */
const isPaid = ({ gasPrice, maxFeePerGas = 0n }: TransactionMessage) => (gasPrice ?? maxFeePerGas) > 0n;
const NO_CODE_HASH = bytesToHex(ZERO_WORD);

/**
 * geth 1.17.10 shows an account that was looked at, and that is not there in the end, with a code hash of zero. A call may have touched it.
 *
 * @param paid - 20 bytes
 */
function missing(
  before: ReadonlyMap<string, Values>,
  changes: readonly EvmChange[],
  called: ReadonlySet<string>,
  paid: Uint8Array | undefined,
): Shown {
  const touched = new Set(changes.map(({ address }) => bytesToKey(address)));
  if (paid !== undefined) touched.add(bytesToKey(paid));
  const gone = [...before].filter(([key, { exists }]) => !exists && !touched.has(key) && !called.has(key));
  return Object.fromEntries(gone.map(([key]) => [bytesToHex(keyToBytes(key)), { codeHash: NO_CODE_HASH }]));
}

/** What differs after the transaction. @returns undefined if nothing does */
function changedMembers(before: Values, change: EvmChange, { disableCode, disableStorage }: PrestateTracerOptions) {
  const { account = NO_ACCOUNT, storageCleared, code } = change;
  const values = new Map(change.slots.map(([key, value]) => [bytesToKey(key), value]));
  const [slotsBefore, slotsAfter] = [new Map<string, Uint8Array>(), new Map<string, Uint8Array>()];
  let isChanged = false;
  for (const [key, value] of before.slots) {
    const now = values.get(key) ?? (storageCleared ? ZERO_WORD : value);
    if (equalBytes(now, value)) continue;
    isChanged = true;
    if (!isZeroBytes(value)) slotsBefore.set(key, value);
    if (!isZeroBytes(now)) slotsAfter.set(key, now);
  }
  const hasOtherCode = !equalBytes(account.codeHash, before.codeHash);
  const differs = account.balance !== before.balance || account.nonce !== before.nonce || hasOtherCode;
  if (!differs && (!isChanged || disableStorage === true)) return undefined;
  const shown: PrestateAccount = {
    ...(account.balance !== before.balance && { balance: toQuantity(account.balance) }),
    ...(account.nonce !== before.nonce && account.nonce !== 0n && { nonce: Number(account.nonce) }),
    ...(hasOtherCode && disableCode !== true && { code: codeText(account.codeHash, code) }),
    ...(hasOtherCode && { codeHash: bytesToHex(account.codeHash) }),
    ...(slotsAfter.size > 0 && disableStorage !== true && { storage: storageOf(slotsAfter) }),
  };
  return { account: shown, slotsBefore };
}

function codeText(codeHash: Uint8Array, code: Uint8Array | undefined): Hex {
  return equalBytes(codeHash, EMPTY_CODE_HASH) || code === undefined ? '0x' : bytesToHex(code);
}

const [SLOAD, SSTORE, CALL, CALLCODE, DELEGATECALL, STATICCALL, CREATE, CREATE2, SELFDESTRUCT] = [
  0x54, 0x55, 0xf1, 0xf2, 0xf4, 0xfa, 0xf0, 0xf5, 0xff,
];
const CALLS: readonly number[] = [CALL, CALLCODE, DELEGATECALL, STATICCALL];
const REVERT = 1;

/** Accounts and slots that a run looked at, by keys of addresses and slots, in order. */
export interface LookedAt {
  readonly slots: Map<string, Set<string>>;
  /** Accounts that a call named: with their code comes that of the account that they delegate to. */
  readonly called: Set<string>;
  readonly created: Set<string>;
  /** Accounts with a SELFDESTRUCT that was executed, also in a frame that failed later. */
  readonly destroyed: Set<string>;
}

/**
 * Reads from a trace which accounts and slots the instructions looked at. An instruction that fails looks at nothing.
 *
 * @source docs/spec/preview.md 3.1
 */
export function followLooks(): LookedAt & {
  take(record: TraceRecord): void;
  add(address: Uint8Array): void;
} {
  const slots = new Map<string, Set<string>>();
  const [called, created, destroyed] = [new Set<string>(), new Set<string>(), new Set<string>()];
  /** The accounts that execute, one for each open frame. */
  const executing: Uint8Array[] = [];
  /** It counts when the next record shows that it did not fail. */
  let waiting: TraceStep | undefined;

  function look(key: string): Set<string> {
    let found = slots.get(key);
    if (found === undefined) {
      found = new Set();
      slots.set(key, found);
    }
    return found;
  }

  function step({ op, stack }: TraceStep): void {
    const word = (fromTop: number) => stack[stack.length - 1 - fromTop];
    if (op === SLOAD || op === SSTORE) {
      const key = word(0);
      if (key !== undefined) look(bytesToKey(executing.at(-1)!)).add(bytesToKey(key));
      return;
    }
    const isCall = CALLS.includes(op);
    const named = isCall ? (stack.length >= 5 ? word(1) : undefined) : word(0);
    if (named === undefined) return;
    const address = bytesToKey(named.subarray(12));
    look(address);
    if (isCall) called.add(address);
  }

  function settle(next: TraceRecord | undefined): void {
    const last = waiting;
    waiting = undefined;
    if (last === undefined || (next?.kind === 'leave' && failedAt(next, last))) return;
    step(last);
  }

  function enter({ op, caller, callee }: TraceEnter): void {
    const key = bytesToKey(callee);
    if (op === SELFDESTRUCT) destroyed.add(bytesToKey(caller));
    if (op === CREATE || op === CREATE2) {
      look(key);
      created.add(key);
    }
    executing.push(op === DELEGATECALL || op === CALLCODE ? caller : callee);
  }

  return {
    slots,
    called,
    created,
    destroyed,
    add: (address) => void look(bytesToKey(address)),
    take(record) {
      settle(record);
      if (record.kind === 'step') waiting = record;
      else if (record.kind === 'enter') enter(record);
      else executing.pop();
    },
  };
}

/** Whether a frame failed at this instruction. */
function failedAt({ depth, pc, exception }: TraceLeave, step: TraceStep): boolean {
  return depth === step.depth && pc === step.pc && exception !== 0 && exception !== REVERT;
}
