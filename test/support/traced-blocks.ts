import { expect } from 'vitest';
import { loadHasher } from '../../src/kernel/hasher.js';
import { bytesToHex } from '../../src/primitives/hex.js';
import type { StateTrace } from '../../src/state/trace.js';
import { checkTraces } from '../../src/state/trace-check.js';
import { WitnessState } from '../../src/state/witness-state.js';
import type { ZkAccountChange } from '../../src/state/world-state.js';
import { change, set, state } from './small-state.js';

/** Accounts 1, with slots 1 and 2 that hold 7 and 8, and 2, without; blocks from there, and what is said of their traces. */
export async function openTraced() {
  const hasher = await loadHasher('poseidon2');
  const same = state(1n, 1n);
  const started = new WitnessState(hasher);
  started.apply([change(1, undefined, same, [set(1, 0, 7), set(2, 0, 8)]), change(2, undefined, same)]);
  const [first] = started.copy().apply([change(1, same, same)]);
  const { leafIndex } = (first as { proof: { leafIndex: number } }).proof;

  /** The traces of blocks that follow each other. */
  function tracesOf(...blocks: ZkAccountChange[]): StateTrace[][] {
    const held = started.copy();
    return blocks.map((block) => held.apply([block]));
  }

  /** What is said of these blocks: `holds`, or reason, place and message without the place. */
  function saidOf(blocks: StateTrace[][], order = false): string | string[] {
    const verdict = checkTraces(hasher, started.accounts.topRoot, blocks, { order });
    if (verdict.verified) return 'holds';
    expect(verdict.message.startsWith(`${verdict.at} `)).toBe(true);
    return [verdict.reason, verdict.at, verdict.message.slice(verdict.at.length + 1)];
  }

  return {
    started,
    /** Storage root of account 1 as started, and of an account without storage. */
    root: bytesToHex(started.storageAt(leafIndex, {} as never).topRoot),
    emptyRoot: bytesToHex(new WitnessState(hasher).accounts.topRoot),
    tracesOf,
    saidOf,
    /** Reason and place alone. */
    placeOf: (blocks: StateTrace[][], order = false) => saidOf(blocks, order).slice(0, 2),
  };
}

export type Traced = Awaited<ReturnType<typeof openTraced>>;
