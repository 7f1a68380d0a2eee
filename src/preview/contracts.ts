import { authorityOf } from '../evm/authority.js';
import { delegateOf, isDelegation } from '../evm/common.js';
import type { PlacedPrecompile } from '../evm/machine.js';
import type { AccountChange } from '../evm/state-overlay.js';
import { hasCode, type StateReader } from '../evm/state-reader.js';
import type { CallFrame, FrameLog } from '../evm/tracing/tracer.js';
import type { TransactionMessage } from '../evm/transaction-message.js';
import { equalBytes, isZeroBytes } from '../primitives/bytes.js';
import { bytesToHex, type Hex } from '../primitives/hex.js';
import { toQuantity } from '../primitives/quantity.js';
import type { ContractChange, Warn } from './preview.js';
import { ZERO } from './transfers.js';
import { codeRuns, type Inspection, isLog, itemsOf } from './tree-items.js';

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
  readonly message: Pick<TransactionMessage, 'from' | 'to' | 'authorizationList'>;
  /** The states before and after the call. */
  readonly before: StateReader;
  readonly after: StateReader;
  readonly changes: readonly AccountChange[];
}

/**
 * Contracts that a call created, destroyed, upgraded or delegated to.
 *
 * @param last - the state after all calls
 * @param chainId - of the network
 * @param destroysAll - SELFDESTRUCT removes any contract: before Cancun
 * @source docs/spec/preview.md 8.8
 */
export async function contractsOf(
  ran: RanCall,
  {
    last,
    chainId,
    destroysAll,
  }: { readonly last: StateReader; readonly chainId: number; readonly destroysAll: boolean },
): Promise<ContractChange[]> {
  const { tree, message } = ran;
  const changes: ContractChange[] = [];
  const created = new Set<Hex>();
  const told: Told = new Map();
  for (const item of itemsOf(tree)) {
    if (isLog(item)) {
      tellUpgrade(item, told);
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
  return [...changes, ...(await delegations(ran, last, chainId)), ...upgrades(ran, created, told)];
}

/**
 * Every authorization whose signer is known, also one that did not take effect: it is not used up, and whoever has seen it can send it
 * when it fits.
 *
 * @source docs/spec/preview.md 8.8; EIP-7702
 */
async function delegations(
  { message, before, after }: RanCall,
  last: StateReader,
  chainId: number,
): Promise<ContractChange[]> {
  const delegated: ContractChange[] = [];
  const nonces = new Map<Hex, bigint>([
    [bytesToHex(message.from), ((await before.account(message.from))?.nonce ?? 0n) + 1n],
  ]);
  for (const authorization of message.authorizationList ?? []) {
    const authority = await authorityOf(authorization);
    if (authority === undefined) continue;
    const address = bytesToHex(authority);
    const { nonce } = authorization;
    const expected = nonces.get(address) ?? (await before.account(authority))?.nonce ?? 0n;
    const isForHere = authorization.chainId === 0n || authorization.chainId === BigInt(chainId);
    const isBlocked = await hasOtherCode(before, authority);
    const isNow = isForHere && !isBlocked && nonce === expected;
    if (isNow) nonces.set(address, expected + 1n);
    const left = (await last.account(authority))?.nonce ?? 0n;
    const validity = isNow
      ? 'now'
      : !isForHere
        ? 'otherChain'
        : nonce < left
          ? 'past'
          : isBlocked
            ? 'blocked'
            : 'later';
    delegated.push({
      event: 'delegated',
      address,
      before: await delegationOf(before, authority),
      after: await delegationOf(after, authority),
      target: isZeroBytes(authorization.address) ? null : bytesToHex(authorization.address),
      nonce: toQuantity(nonce),
      chainId: toQuantity(authorization.chainId),
      validity,
      ...(authorization.chainId === 0n && { everyChain: true }),
    });
  }
  return delegated;
}

async function codeOf(state: StateReader, address: Uint8Array): Promise<Uint8Array | undefined> {
  return (await hasCode(state, address)) ? state.code((await state.account(address))!.codeHash) : undefined;
}

/** What an account delegates to; null for nothing. */
async function delegationOf(state: StateReader, address: Uint8Array): Promise<Hex | null> {
  const code = await codeOf(state, address);
  return code !== undefined && isDelegation(code) ? bytesToHex(delegateOf(code)) : null;
}

/** Whether an account is a contract: it has code, and not that of another account. */
export async function hasOtherCode(state: StateReader, address: Uint8Array): Promise<boolean> {
  const code = await codeOf(state, address);
  return code !== undefined && !isDelegation(code);
}

/** The addresses that a contract named last by an event, by contract and slot. */
type Told = Map<string, Hex>;

function tellUpgrade({ address, topics, data }: FrameLog, told: Told): void {
  const slot = (Object.keys(EVENTS) as Upgradable[]).find((one) => EVENTS[one] === topics[0]);
  if (slot === undefined) return;
  const words = [...topics.slice(1).map((topic) => topic.slice(2)), ...(data.slice(2).match(/.{64}/g) ?? [])];
  const named = words[slot === 'admin' ? 1 : 0];
  told.set(`${address} ${slot}`, named === undefined ? ZERO : `0x${named.slice(24)}`);
}

function upgrades({ changes }: RanCall, created: ReadonlySet<Hex>, told: Told): ContractChange[] {
  const upgraded: ContractChange[] = [];
  for (const { address: bytes, slots } of changes) {
    const address = bytesToHex(bytes);
    if (created.has(address)) continue;
    for (const { key, before, after } of slots) {
      const slot = PROXY_SLOTS[bytesToHex(key)];
      if (slot === undefined) continue;
      const named = told.get(`${address} ${slot}`);
      const [was, is] = [bytesToHex(before.subarray(12)), bytesToHex(after.subarray(12))];
      const evented = named === is;
      upgraded.push({
        event: 'upgraded',
        address,
        slot,
        before: was,
        after: is,
        evented,
        ...(named !== undefined && { told: named }),
      });
    }
  }
  return upgraded;
}

/** Whether a slot is one of a proxy, which says whose code runs. */
export const isProxySlot = (key: Hex) => PROXY_SLOTS[key] !== undefined;

const BEACON_IMPLEMENTATION: Hex = '0x5c60da1b';

/**
 * Proxies whose beacon names another implementation after the calls, though nothing of theirs changed.
 *
 * @source docs/spec/preview.md 8.8
 */
export async function beaconUpgrades(
  trees: readonly CallFrame[],
  { probes, pause }: Inspection,
): Promise<ContractChange[]> {
  const asked = new Set<string>();
  const upgraded: ContractChange[] = [];
  for (const tree of trees) {
    for (const { frame, parent } of codeRuns(tree)) {
      const paused = pause();
      if (paused !== undefined) await paused;
      const { type, from, to, input } = frame;
      if (type !== 'STATICCALL' || parent === undefined || to === undefined || !input.startsWith(BEACON_IMPLEMENTATION))
        continue;
      if (asked.has(`${from} ${to}`)) continue;
      asked.add(`${from} ${to}`);
      const before = await probes.address('before', to, BEACON_IMPLEMENTATION);
      const after = await probes.address('after', to, BEACON_IMPLEMENTATION);
      if (before === undefined || after === undefined || before === after) continue;
      upgraded.push({ event: 'upgraded', address: from, slot: 'implementation', before, after, evented: false });
    }
  }
  return upgraded;
}

/**
 * Warns of delegations, and of upgrades that the contract did not tell, or not as they are.
 *
 * @param holds - contracts that are a user's, or hold what a user gained
 * @source docs/spec/preview.md 8.7
 */
export function warnOfChanges(changes: readonly ContractChange[], holds: ReadonlySet<Hex>, warn: Warn): void {
  for (const change of changes) {
    if (change.event === 'upgraded' && !change.evented) {
      const { address, slot, told, after } = change;
      const severity = holds.has(address) ? 'danger' : 'warning';
      if (told === undefined) warn({ code: 'silent-upgrade', severity, address, slot });
      else warn({ code: 'upgrade-differs', severity, address, slot, told, after });
    }
    if (change.event === 'delegated') {
      const { address, target, validity, everyChain } = change;
      const isHarmless = (target === null && validity === 'now') || (validity === 'past' && everyChain === undefined);
      const severity = isHarmless ? 'note' : validity === 'blocked' ? 'warning' : 'danger';
      warn({ code: 'delegated', severity, address, target, validity, ...(everyChain && { everyChain }) });
    }
  }
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
  warn({ code: 'no-code', severity: 'warning', address: bytesToHex(to) });
}
