import type { LeafOpening } from '../../accumulator/leaf-opening.js';
import { PlumblineError } from '../../errors.js';
import { compareBytes, equalBytes } from '../../primitives/bytes.js';
import { bytesToHex } from '../../primitives/hex.js';
import { floorEntry, type KeyIndex, withKey, withoutKey } from './key-index.js';
import { conflict } from './witness-nodes.js';

export const BROKEN_LIST = 'its neighbours in the list of leaves do not link back to it';

export interface KnownLeaf {
  readonly opening: LeafOpening;
  /** Compact form; undefined if only its hash is known. */
  readonly value: Uint8Array | undefined;
}

/** A leaf with its position. */
export interface PlacedOpening {
  readonly position: number;
  readonly opening: LeafOpening;
}

/** The known leaves of a trie, by position and in key order. Unknown ones throw `WITNESS_MISSING`. */
export class WitnessLeaves {
  constructor(
    private readonly leaves = new Map<number, KnownLeaf>(),
    private index?: KeyIndex | undefined,
  ) {}

  copy(): WitnessLeaves {
    return new WitnessLeaves(new Map(this.leaves), this.index);
  }

  at(position: number): KnownLeaf | undefined {
    return this.leaves.get(position);
  }

  openingAt(position: number): LeafOpening {
    const leaf = this.leaves.get(position);
    if (leaf !== undefined) return leaf.opening;
    throw new PlumblineError('WITNESS_MISSING', `leaf ${position} is not known; add its branch`, {
      part: 'leaf',
      position,
    });
  }

  valueAt(position: number): Uint8Array {
    const value = this.leaves.get(position)?.value;
    if (value !== undefined) return value;
    throw new PlumblineError('WITNESS_MISSING', `the value of leaf ${position} is not known; add it`, {
      part: 'value',
      position,
    });
  }

  /** Position of a key, if its leaf is known. */
  positionOf(hkey: Uint8Array): number | undefined {
    const floor = floorEntry(this.index, hkey);
    return floor !== undefined && equalBytes(floor.hkey, hkey) ? floor.position : undefined;
  }

  /** Sets a leaf. The key at a position must not change. */
  set(position: number, leaf: KnownLeaf): void {
    if (!this.leaves.has(position)) this.index = withKey(this.index, { hkey: leaf.opening.hkey, position });
    this.leaves.set(position, leaf);
  }

  remove(position: number): void {
    const leaf = this.leaves.get(position);
    if (leaf === undefined) return;
    this.leaves.delete(position);
    this.index = withoutKey(this.index, leaf.opening.hkey);
  }

  /** The leaf of a key, or the two leaves around it if it is absent. */
  find(hkey: Uint8Array): PlacedOpening | { left: PlacedOpening; right: PlacedOpening } {
    const floor = floorEntry(this.index, hkey);
    if (floor === undefined) throw missingKey(hkey);
    const { position } = floor;
    const opening = this.openingAt(position);
    if (equalBytes(floor.hkey, hkey)) return { position, opening };
    const right = this.leaves.get(opening.nextLeaf)?.opening;
    if (right === undefined) throw missingKey(hkey);
    // In an intact list, a right leaf that is not above the key would have been the floor.
    if (right.prevLeaf !== position || compareBytes(right.hkey, hkey) <= 0) throw conflict(position, BROKEN_LIST);
    return { left: { position, opening }, right: { position: opening.nextLeaf, opening: right } };
  }
}

function missingKey(hkey: Uint8Array): PlumblineError<'WITNESS_MISSING'> {
  const name = bytesToHex(hkey);
  const message = `neither the leaf of key hash ${name} nor both its neighbours are known`;
  return new PlumblineError('WITNESS_MISSING', message, { part: 'leaf', hkey: name });
}
