import { createdAddress } from '../ethereum/encode-transaction.js';
import { bigIntToBytes, ZERO_ADDRESS } from '../primitives/bytes.js';
import type { AccessListEntry, CallRequest } from '../primitives/call-request.js';
import { bytesToHex, type Hex, hexToBytes } from '../primitives/hex.js';
import type { BlockContext } from './block-context.js';
import { type SimulatedCallOptions, simulateCallAt } from './call.js';
import { rulesAt } from './common.js';
import { withOverrides } from './overrides.js';
import { activePrecompiles } from './precompile-ids.js';
import { RunBudget } from './run-budget.js';
import { ReadCache, type StateReader } from './state-reader.js';
import type { TransactionOutcome } from './transaction-message.js';

/** An access list, and the outcome of the call with it. */
export interface AccessListResult {
  /** In ascending order of addresses and keys. */
  readonly accessList: readonly AccessListEntry[];
  readonly outcome: TransactionOutcome;
}

/** Accounts and slots as hex, so that lists can be merged and compared. */
type TouchedSlots = Map<Hex, Set<Hex>>;

/**
 * The access list that covers everything a call touches. The call is repeated with the list of the run before until
 * nothing is added. Sender, recipient, coinbase and precompiles are always warm: they are listed only for slots that the
 * call touches, and dropped from the list that the caller gave.
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
  const budget = options.budget ?? new RunBudget(options);
  const recipient = call.to ?? (await createdBy(withOverrides(cached, options.overrides ?? []), call));
  const warm = new Set([call.from ?? ZERO_ADDRESS, recipient, block.coinbase].map((address) => bytesToHex(address)));
  const touched: TouchedSlots = new Map();
  const dropped = new Set([...warm, ...precompilesOf(options.network, block)]);
  dropped.delete(bytesToHex(block.coinbase));
  const given = (call.accessList ?? []).filter(({ address }) => !dropped.has(bytesToHex(address)));
  addEntries(touched, given, new Set());
  for (;;) {
    const accessList = entriesOf(touched);
    const outcome = await simulateCallAt(
      cached,
      block,
      { ...call, accessList },
      { ...options, budget, reportTouched: true, splitsGas: true },
    );
    const before = sizeOf(touched);
    addEntries(touched, outcome.touched ?? [], warm);
    if (sizeOf(touched) === before) return { accessList, outcome };
  }
}

function precompilesOf(network: SimulatedCallOptions['network'], { number, timestamp }: BlockContext): Hex[] {
  return activePrecompiles(rulesAt(network, number, timestamp)).map((id) => bytesToHex(bigIntToBytes(BigInt(id), 20)));
}

/** Address of the contract that a call without recipient creates. */
async function createdBy(state: StateReader, { from = ZERO_ADDRESS, nonce }: CallRequest): Promise<Uint8Array> {
  return createdAddress({ from, nonce: nonce ?? (await state.account(from))?.nonce ?? 0n });
}

function addEntries(touched: TouchedSlots, entries: readonly AccessListEntry[], warm: ReadonlySet<Hex>): void {
  for (const { address, storageKeys } of entries) {
    const key = bytesToHex(address);
    if (warm.has(key) && storageKeys.length === 0) continue;
    const slots = touched.get(key) ?? new Set();
    for (const slot of storageKeys) slots.add(bytesToHex(slot));
    touched.set(key, slots);
  }
}

function sizeOf(touched: TouchedSlots): number {
  let size = touched.size;
  for (const slots of touched.values()) size += slots.size;
  return size;
}

function entriesOf(touched: TouchedSlots): AccessListEntry[] {
  return [...touched.keys()].sort().map((address) => ({
    address: hexToBytes(address),
    storageKeys: [...touched.get(address)!].sort().map((slot) => hexToBytes(slot)),
  }));
}
