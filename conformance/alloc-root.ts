import { RLP } from '@ethereumjs/rlp';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { EMPTY_TRIE_ROOT } from '../src/ethereum/constants.js';
import type { AccountChange } from '../src/evm/state-overlay.js';
import { bigIntToMinimalBytes, bytesToBigInt, isZeroBytes } from '../src/primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../src/primitives/hex.js';
import type { Alloc } from './alloc-state.js';

/** A node as RLP encodes it. */
type Node = Uint8Array | Node[];

interface Leaf {
  /** Digits of the hashed key, 64. */
  readonly path: string;
  readonly value: Uint8Array;
}

interface Entry {
  readonly path: string;
  readonly slots: ReadonlyMap<Hex, Uint8Array>;
  readonly leaf: Leaf;
}

/** Paths by key, hex digits: cases have the same few keys over and over. */
const paths = new Map<string, string>();

function pathOf(key: Uint8Array): string {
  const name = bytesToHex(key);
  let path = paths.get(name);
  if (path === undefined) {
    path = bytesToHex(keccak_256(key)).slice(2);
    paths.set(name, path);
  }
  return path;
}

/** State roots of an alloc with changes, without a trie that is kept: for small states. */
export class AllocRoot {
  private readonly entries = new Map<Hex, Entry>();

  constructor(alloc: Alloc) {
    for (const [address, account] of Object.entries(alloc)) {
      const key = hexToBytes(address, 20);
      const slots = Object.entries(account?.storage ?? {}).map(([slot, value]) => [slot, hexToBytes(value!)] as const);
      const entry = entryOf(pathOf(key), new Map(slots as [Hex, Uint8Array][]), {
        nonce: BigInt(account?.nonce ?? 0),
        balance: BigInt(account?.balance ?? 0),
        codeHash: keccak_256(hexToBytes(account?.code ?? '0x')),
      });
      this.entries.set(bytesToHex(key), entry);
    }
  }

  /** @returns the state root after these changes, 32 bytes as hex */
  after(changes: readonly AccountChange[]): Hex {
    const entries = new Map(this.entries);
    for (const { address, after, destroyed, slots } of changes) {
      const key = bytesToHex(address);
      const held = entries.get(key);
      if (after === undefined) entries.delete(key);
      else {
        const written = new Map(destroyed ? [] : held?.slots);
        for (const slot of slots) written.set(bytesToHex(slot.key), slot.after);
        entries.set(key, entryOf(pathOf(address), written, after));
      }
    }
    return bytesToHex(rootOf([...entries.values()].map(({ leaf }) => leaf)));
  }
}

function entryOf(
  path: string,
  slots: ReadonlyMap<Hex, Uint8Array>,
  { nonce, balance, codeHash }: { nonce: bigint; balance: bigint; codeHash: Uint8Array },
): Entry {
  const leaves: Leaf[] = [];
  for (const [slot, value] of slots) {
    if (isZeroBytes(value)) continue;
    leaves.push({ path: pathOf(hexToBytes(slot)), value: RLP.encode(bigIntToMinimalBytes(bytesToBigInt(value))) });
  }
  const fields = [bigIntToMinimalBytes(nonce), bigIntToMinimalBytes(balance), rootOf(leaves), codeHash];
  return { path, slots, leaf: { path, value: RLP.encode(fields) } };
}

/** Root of the Merkle-Patricia trie with these leaves, 32 bytes. @source ethereum/yellowpaper appendix D */
function rootOf(leaves: readonly Leaf[]): Uint8Array {
  if (leaves.length === 0) return EMPTY_TRIE_ROOT;
  const sorted = [...leaves].sort((a, b) => (a.path < b.path ? -1 : 1));
  return keccak_256(RLP.encode(nodeOf(sorted, 0)));
}

/** @param leaves - in order, with the same first `depth` digits */
function nodeOf(leaves: readonly Leaf[], depth: number): Node[] {
  const first = leaves[0]!;
  if (leaves.length === 1) return [compactPath(first.path.slice(depth), true), first.value];
  const last = leaves[leaves.length - 1]!.path;
  let common = depth;
  while (first.path[common] === last[common]) common++;
  if (common > depth) return [compactPath(first.path.slice(depth, common), false), childOf(leaves, common)];
  const branch: Node[] = [];
  let from = 0;
  for (const digit of '0123456789abcdef') {
    let to = from;
    while (leaves[to]?.path[depth] === digit) to++;
    branch.push(to === from ? new Uint8Array(0) : childOf(leaves.slice(from, to), depth + 1));
    from = to;
  }
  return [...branch, new Uint8Array(0)];
}

/** A short node stands in its parent itself. */
function childOf(leaves: readonly Leaf[], depth: number): Node {
  const node = nodeOf(leaves, depth);
  const encoded = RLP.encode(node);
  return encoded.length < 32 ? node : keccak_256(encoded);
}

function compactPath(digits: string, isLeaf: boolean): Uint8Array {
  const isOdd = digits.length % 2 === 1;
  const flag = (isLeaf ? 2 : 0) + (isOdd ? 1 : 0);
  return hexToBytes(`0x${flag}${isOdd ? '' : '0'}${digits}`);
}
