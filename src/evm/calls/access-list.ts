import { createdAddress } from '../../ethereum/created-address.js';
import { ZERO_ADDRESS } from '../../primitives/bytes.js';
import type { AccessListEntry, CallRequest } from '../../primitives/call-request.js';
import { bytesToHex, type Hex, hexToBytes } from '../../primitives/hex.js';
import type { BlockContext } from '../block-context.js';
import { StepBudget } from '../interpreter/step-budget.js';
import { ReadCache } from '../state/read-cache.js';
import type { StateReader } from '../state/state-reader.js';
import type { TransactionOutcome } from '../transactions/transaction-message.js';
import { type SimulatedCallOptions, simulateCallAt } from './call.js';
import { withOverrides } from './overrides.js';

/** An access list, and how the call came out that carried it. */
export interface AccessListResult {
  /** In ascending order of addresses and keys. */
  readonly accessList: readonly AccessListEntry[];
  readonly outcome: TransactionOutcome;
}

/** Accounts and slots by hex, so that lists can be joined and compared. */
type Touched = Map<Hex, Set<Hex>>;

/**
 * The access list with which a call touches nothing that is not in it: runs are repeated with what the last one touched
 * until nothing is added. Sender, recipient, coinbase and precompiles are warm anyway; they are listed for their slots
 * only, and for what the caller listed.
 *
 * @throws PlumblineError as `simulateCallAt`; a call that reverts or fails is an outcome
 * @source docs/spec/json-rpc.md 2; ethereum/go-ethereum@02b73d4ea7 internal/ethapi/api.go, CreateAccessList
 */
export async function accessListAt(
  reader: StateReader,
  block: BlockContext,
  call: CallRequest,
  options: SimulatedCallOptions,
): Promise<AccessListResult> {
  const cached = new ReadCache(reader);
  const steps = options.steps ?? new StepBudget(options);
  const recipient = call.to ?? (await creationOf(withOverrides(cached, options.overrides ?? []), call));
  const warm = new Set([call.from ?? ZERO_ADDRESS, recipient, block.coinbase].map((address) => bytesToHex(address)));
  const touched: Touched = new Map();
  join(touched, call.accessList ?? [], new Set());
  for (;;) {
    const accessList = entriesOf(touched);
    const outcome = await simulateCallAt(
      cached,
      block,
      { ...call, accessList },
      { ...options, steps, reportTouched: true },
    );
    const before = sizeOf(touched);
    join(touched, outcome.touched ?? [], warm);
    if (sizeOf(touched) === before) return { accessList, outcome };
  }
}

/** Where the contract of a call without recipient goes. */
async function creationOf(state: StateReader, { from = ZERO_ADDRESS, nonce }: CallRequest): Promise<Uint8Array> {
  return createdAddress({ from, nonce: nonce ?? (await state.account(from))?.nonce ?? 0n });
}

function join(touched: Touched, entries: readonly AccessListEntry[], warm: ReadonlySet<Hex>): void {
  for (const { address, storageKeys } of entries) {
    const key = bytesToHex(address);
    if (warm.has(key) && storageKeys.length === 0) continue;
    const slots = touched.get(key) ?? new Set();
    for (const slot of storageKeys) slots.add(bytesToHex(slot));
    touched.set(key, slots);
  }
}

function sizeOf(touched: Touched): number {
  let size = touched.size;
  for (const slots of touched.values()) size += slots.size;
  return size;
}

function entriesOf(touched: Touched): AccessListEntry[] {
  return [...touched.keys()].sort().map((address) => ({
    address: hexToBytes(address),
    storageKeys: [...touched.get(address)!].sort().map((slot) => hexToBytes(slot)),
  }));
}
