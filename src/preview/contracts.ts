import { authorityOf } from '../evm/authority.js';
import { delegateOf, isDelegation } from '../evm/common.js';
import type { PlacedPrecompile } from '../evm/machine.js';
import type { AccountChange } from '../evm/state-overlay.js';
import { hasCode, type StateReader } from '../evm/state-reader.js';
import type { CallFrame } from '../evm/tracing/call-frame.js';
import type { TransactionMessage } from '../evm/transaction-message.js';
import { equalBytes } from '../primitives/bytes.js';
import { bytesToHex, type Hex } from '../primitives/hex.js';
import type { ContractChange, Warn } from './preview.js';
import { ZERO } from './transfers.js';
import { isLog, itemsOf } from './tree-items.js';

type Upgradable = 'implementation' | 'admin' | 'beacon';

/** Slots of proxies: ERC-1967, ERC-1822, and older proxies of ZeppelinOS. */
const PROXY_SLOTS: Readonly<Record<Hex, Upgradable>> = {
  '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc': 'implementation',
  '0xb53127684a568b3173ae13b9f8a6016e243e63b6e8ee1178d6a717850b5d6103': 'admin',
  '0xa3f0ad74e5423aebfd80d3ef4346578335a9a72aeaee59ff6cb3582b35133d50': 'beacon',
  '0xc5f16f0fcc639fa48a6947836d9850f504798523bf8c9a3a87d5876cf622bcf7': 'implementation',
  '0x7050c9e0f4ca769c69bd3a8ef740bc37934f8e2c036e5a723fd8ee048ed3f8c3': 'implementation',
};

/** Topic 0 of the events that tell a change: Upgraded(address), AdminChanged(address,address), BeaconUpgraded(address). */
const EVENTS: Readonly<Record<Upgradable, Hex>> = {
  implementation: '0xbc7cd75a20ee27fd9adebab32041f755214dbc6bffa90cc0225b39da2e5c2d3b',
  admin: '0x7e644d79422f17c01e4894b5f4f588d331ebfa28653d42ae832dc59e38c9798f',
  beacon: '0x1cf3b03a6cf19fa2baba4df148e9dcabedea7f8a5c07840e207e5c089be95d3e',
};

/** One call that ran. */
interface RanCall {
  readonly tree: CallFrame;
  readonly message: { readonly to: Uint8Array | undefined };
  /** The state before the call. */
  readonly before: StateReader;
  readonly changes: readonly AccountChange[];
}

/**
 * Contracts that a call created, destroyed, upgraded or delegated to.
 *
 * @param authorities - accounts of authorizations, with whether one of them counts on every chain
 * @param destroysAll - SELFDESTRUCT removes any contract: before Cancun
 * @source docs/spec/preview.md 8.8
 */
export async function contractsOf(
  ran: RanCall,
  authorities: ReadonlyMap<Hex, boolean>,
  destroysAll: boolean,
): Promise<ContractChange[]> {
  const { tree, message } = ran;
  const changes: ContractChange[] = [];
  const created = new Set<Hex>();
  const told = new Set<string>();
  for (const item of itemsOf(tree)) {
    if (isLog(item)) {
      told.add(`${item.address} ${item.topics[0]}`);
      continue;
    }
    const { type, from, to = ZERO } = item;
    if (type === 'CREATE' || type === 'CREATE2') {
      created.add(to);
      const op = item === tree && message.to === undefined ? 'transaction' : type;
      changes.push({ event: 'created', address: to, by: from, op });
    }
    if (type === 'SELFDESTRUCT') {
      const removed = destroysAll || created.has(from);
      changes.push({ event: 'destroyed', address: from, beneficiary: to, removed });
    }
  }
  return [...changes, ...(await delegations(ran, authorities)), ...upgrades(ran, created, told)];
}

async function delegations(
  { before: state, changes }: RanCall,
  authorities: ReadonlyMap<Hex, boolean>,
): Promise<ContractChange[]> {
  const delegated: ContractChange[] = [];
  for (const { address: bytes, before: held, code } of changes) {
    const address = bytesToHex(bytes);
    const everyChain = authorities.get(address);
    if (everyChain === undefined || code === undefined) continue;
    const [before, after] = [targetOf(held && (await state.code(held.codeHash))), targetOf(code)];
    if (before === after) continue;
    delegated.push({ event: 'delegated', address, before, after, ...(everyChain && { everyChain }) });
  }
  return delegated;
}

const targetOf = (code: Uint8Array | undefined): Hex | null =>
  code !== undefined && isDelegation(code) ? bytesToHex(delegateOf(code)) : null;

function upgrades({ changes }: RanCall, created: ReadonlySet<Hex>, told: ReadonlySet<string>): ContractChange[] {
  const upgraded: ContractChange[] = [];
  for (const { address: bytes, slots } of changes) {
    const address = bytesToHex(bytes);
    if (created.has(address)) continue;
    for (const { key, before, after } of slots) {
      const slot = PROXY_SLOTS[bytesToHex(key)];
      if (slot === undefined) continue;
      const evented = told.has(`${address} ${EVENTS[slot]}`);
      const [was, is] = [bytesToHex(before.subarray(12)), bytesToHex(after.subarray(12))];
      upgraded.push({ event: 'upgraded', address, slot, before: was, after: is, evented });
    }
  }
  return upgraded;
}

/** Warns of upgrades that the contract did not tell. */
export function warnOfUpgrades(changes: readonly ContractChange[], warn: Warn): void {
  for (const change of changes)
    if (change.event === 'upgraded' && !change.evented)
      warn({ code: 'silent-upgrade', address: change.address, slot: change.slot });
}

/** Length of a function's selector, bytes. */
const SELECTOR_BYTES = 4;

/**
 * Warns if a call has data for a contract, and there is none.
 *
 * @source docs/spec/preview.md 8.7
 */
export async function warnOfNoCode(
  { message, before }: { readonly message: TransactionMessage; readonly before: StateReader },
  precompiles: readonly PlacedPrecompile[],
  warn: Warn,
): Promise<void> {
  const { to, data, authorizationList = [] } = message;
  if (to === undefined || data.length < SELECTOR_BYTES || (await hasCode(before, to))) return;
  if (precompiles.some(([address]) => equalBytes(address, to))) return;
  // An authorization may give it code before it is called (EIP-7702).
  for (const authorization of authorizationList) {
    const authority = await authorityOf(authorization);
    if (authority !== undefined && equalBytes(authority, to)) return;
  }
  warn({ code: 'no-code', address: bytesToHex(to) });
}
