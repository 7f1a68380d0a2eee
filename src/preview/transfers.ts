import { SYSTEM_ADDRESS } from '../evm/system-calls.js';
import type { CallFrame } from '../evm/tracing/tracer.js';
import { bytesToHex, type Hex } from '../primitives/hex.js';
import { toQuantity } from '../primitives/quantity.js';
import { claimOf, type EventClaim } from './events.js';
import type { Asset, Transfer, Warn } from './preview.js';
import type { Probes } from './probes.js';
import { ENTRY_CHARACTERS, type Inspection, isLog, itemsOf } from './tree-items.js';

export const ZERO: Hex = '0x0000000000000000000000000000000000000000';

const NATIVE: Asset = { kind: 'native' };
const MOVES_VALUE = ['CALL', 'CREATE', 'CREATE2', 'SELFDESTRUCT'];
const SELECTOR = { supportsInterface: '0x01ffc9a7', decimals: '0x313ce567', ownerOf: '0x6352211e' } as const;
/** Argument of `supportsInterface` for ERC-721, as a word. */
const ERC721 = 0x80ac58cdn << 224n;

/** Where the logs of moved ether come from, from Amsterdam on. */
const ETHER_LOGS = bytesToHex(SYSTEM_ADDRESS);

/** A text that is the same for the same asset only. */
export const assetKey = (asset: Asset): string => Object.values(asset).join(' ');

/**
 * The transfers of a call, in order.
 *
 * @param warn - takes the events that cannot be understood
 * @source docs/spec/preview.md 8.1 to 8.4
 */
export async function transfersOf(
  tree: CallFrame,
  { probes, pause, grow }: Inspection,
  warn: Warn,
): Promise<Transfer[]> {
  const transfers: Transfer[] = [];
  for (const item of itemsOf(tree)) {
    const paused = pause();
    if (paused !== undefined) await paused;
    if (isLog(item)) {
      // From Amsterdam on, moves of ether have logs too (EIP-7708): the frames below tell them.
      if (item.address === ETHER_LOGS) continue;
      const claim = claimOf(item);
      if (claim === 'unknown') warn({ code: 'unknown-transfer', severity: 'warning', address: item.address });
      else if (claim !== undefined) {
        grow(ENTRY_CHARACTERS * (claim.claim === 'multi' ? claim.ids.length : 1));
        for (const transfer of await claimedTransfers(item.address, claim, probes)) transfers.push(transfer);
      }
      continue;
    }
    const { type, from, to = ZERO, value = '0x0' } = item;
    const isToItself = type === 'SELFDESTRUCT' && from === to;
    if (!MOVES_VALUE.includes(type) || BigInt(value) === 0n || isToItself) continue;
    grow(ENTRY_CHARACTERS);
    transfers.push({ asset: NATIVE, from, to, amount: value, cause: 'native' });
  }
  for (const { asset } of transfers)
    if (asset.kind === 'unknown') warn({ code: 'unknown-transfer', severity: 'warning', address: asset.address });
  return transfers;
}

async function claimedTransfers(address: Hex, claim: EventClaim, probes: Probes): Promise<Transfer[]> {
  switch (claim.claim) {
    case 'transfer': {
      const { from, to } = claim;
      const asset = await assetOf(address, claim.number, claim.mayBeId, probes);
      const amount = toQuantity(asset.kind === 'erc721' ? 1n : claim.number);
      return [{ asset, from, to, amount, cause: 'event' }];
    }
    case 'multi': {
      const { kind, from, to, ids, amounts } = claim;
      return ids.map((id, i) => ({
        asset: { kind, address, id: toQuantity(id) },
        from,
        to,
        amount: toQuantity(amounts[i]!),
        cause: 'event',
      }));
    }
    case 'wrap':
    case 'unwrap': {
      const asset: Asset = { kind: 'erc20', address };
      const [from, to] = claim.claim === 'wrap' ? [ZERO, claim.account] : [claim.account, ZERO];
      return [{ asset, from, to, amount: toQuantity(claim.amount), cause: claim.claim }];
    }
    default:
      return [];
  }
}

/** Whether the number of a `Transfer` is an amount or an id. @source docs/spec/preview.md 8.3 */
async function assetOf(address: Hex, number: bigint, mayBeId: boolean, probes: Probes): Promise<Asset> {
  const says = await probes.word('after', address, SELECTOR.supportsInterface, ERC721);
  if (says === 1n) return { kind: 'erc721', address, id: toQuantity(number) };
  if (!mayBeId) return { kind: 'erc20', address };
  if ((await probes.word('after', address, SELECTOR.decimals)) !== undefined) return { kind: 'erc20', address };
  const owner = await probes.word('after', address, SELECTOR.ownerOf, number);
  return owner === undefined ? { kind: 'unknown', address } : { kind: 'erc721', address, id: toQuantity(number) };
}

/** What transfers tell of each account: by asset, the sums by account. */
export function toldBy(transfers: Iterable<Transfer>) {
  const told = new Map<string, { readonly asset: Asset; readonly sums: Map<Hex, bigint>; lastTo: Hex }>();
  for (const { asset, from, to, amount } of transfers) {
    const key = assetKey(asset);
    const entry = told.get(key) ?? { asset, sums: new Map<Hex, bigint>(), lastTo: to };
    told.set(key, entry);
    entry.lastTo = to;
    entry.sums.set(from, (entry.sums.get(from) ?? 0n) - BigInt(amount));
    entry.sums.set(to, (entry.sums.get(to) ?? 0n) + BigInt(amount));
  }
  return told;
}
