import { beforeAll, describe, expect, it } from 'vitest';
import { rememberingHasher } from '../../conformance/remembering-hasher.js';
import type { Hasher } from '../../src/kernel/contracts.js';
import { loadHasher } from '../../src/kernel/hasher.js';
import { hexToBytes } from '../../src/primitives/hex.js';
import { formatTrace, parseBlockTraces, parseTrace, type StateTraceJson } from '../../src/state/trace.js';
import { checkTraces } from '../../src/state/trace-check.js';
import { bitFlips, type Json, shapeEdits } from '../support/damage.js';
import { fixtureJson } from '../support/fixtures.js';
import { outcome } from '../support/trace-outcome.js';

interface Block {
  parentRoot: string;
  root: string;
  traces: StateTraceJson[];
}

let hasher: Hasher;
beforeAll(async () => {
  hasher = rememberingHasher(await loadHasher('poseidon2'));
});

const kindOf = ({ type, location }: StateTraceJson) => `${location === '0x' ? 'account' : 'slot'} ${type}`;

describe('checking traces', () => {
  const { chains } = fixtureJson<{ chains: { blocks: Block[] }[] }>('state/generated-blocks-poseidon2.json.gz');
  const blocks = chains.flatMap((chain) => chain.blocks).sort((a, b) => a.traces.length - b.traces.length);
  const kinds = ['account', 'slot'].flatMap((tree) => [0, 1, 2, 3, 4].map((type) => `${tree} ${type}`));

  /** The shortest block with a trace of that kind, and that trace, to be damaged in place. */
  function sample(kind: string) {
    const block = structuredClone(blocks.find(({ traces }) => traces.some((trace) => kindOf(trace) === kind))!);
    return { block, trace: block.traces.find((trace) => kindOf(trace) === kind)! };
  }

  it.each(kinds)('finds every damaged field of a trace (%s)', (kind) => {
    const { block, trace } = sample(kind);
    const check = () => outcome(hasher, block.parentRoot, [block.traces]);
    expect(check()).toBe('holds');
    const passed: string[] = [];
    let tried = 0;
    for (const name of bitFlips(trace as unknown as Json, 1)) {
      tried++;
      if (check() === 'holds') passed.push(name);
    }
    for (const name of shapeEdits(trace as unknown as Json)) {
      tried++;
      if (check() === 'holds') passed.push(name);
    }
    expect(tried).toBeGreaterThan(300);
    expect(check()).toBe('holds');
    // Any key between the two leaves is as absent as the one that was read. An empty location is the account tree's.
    const allowed = [
      ...(kind.endsWith(' 1') ? ['.key byte 0'] : []),
      ...(kind.startsWith('a') ? ['.location: empty'] : []),
    ];
    expect(passed.filter((name) => !allowed.includes(name))).toEqual([]);
  });

  it('names the fault', () => {
    const { block, trace } = sample('account 3');
    const reasons = new Map<string, string>();
    for (const name of bitFlips(trace as unknown as Json, 1)) {
      reasons.set(name.replace(/ .*/, ''), outcome(hasher, block.parentRoot, [block.traces]));
    }
    expect(reasons.get('.key')).toMatch('KEY_MISMATCH');
    expect(reasons.get('.oldValue')).toBe('VALUE_MISMATCH');
    expect(reasons.get('.newSubRoot')).toBe('NEW_SUB_ROOT_MISMATCH');
    expect(reasons.get('.proof.siblings[12]')).toMatch(/BRANCH_MISMATCH|NOT_CANONICAL/);
    expect(outcome(hasher, `0x${'01'.repeat(32)}`, [block.traces])).toBe('PARENT_ROOT_MISMATCH');
  });

  it('finds missing, repeated and swapped traces', () => {
    const counted = { dropped: 0, doubled: 0, swapped: 0 };
    for (const { parentRoot, traces } of blocks.slice(-6)) {
      for (const [i, trace] of traces.entries()) {
        // Reads change nothing: without the order of patterns, one more or less is no fault.
        if (trace.type < 2) continue;
        counted.dropped++;
        const last = i === traces.length - 1;
        const without = traces.toSpliced(i, 1);
        if (!last) expect(outcome(hasher, parentRoot, [without])).not.toBe('holds');
        counted.doubled++;
        expect(outcome(hasher, parentRoot, [traces.toSpliced(i, 0, trace)])).not.toBe('holds');
        const next = traces[i + 1];
        if (next === undefined || next.type < 2 || next.location !== trace.location) continue;
        counted.swapped++;
        expect(outcome(hasher, parentRoot, [traces.toSpliced(i, 2, next, trace)])).not.toBe('holds');
      }
    }
    expect(Math.min(...Object.values(counted))).toBeGreaterThan(20);
  });

  it('checks storage against the account values', () => {
    const seen = new Set<string>();
    for (const { parentRoot, traces } of blocks) {
      const slot = traces.findIndex(({ location, type }) => location !== '0x' && type >= 2);
      if (slot === -1) continue;
      const address = traces[slot]!.location;
      const without = traces.filter(({ location }) => location !== address);
      seen.add(outcome(hasher, parentRoot, [without]));
      // Storage alone, in a block without any trace of its account.
      const alone = traces.filter(({ location }) => location === address);
      seen.add(outcome(hasher, parentRoot, [alone]));
    }
    // The latter where an account was deleted and created again: its old storage and its new one follow each other.
    expect([...seen].sort()).toEqual(['NEXT_FREE_NODE_MISMATCH', 'STORAGE_ROOT_MISMATCH']);
  });

  it('checks the order of block application on request', () => {
    let swaps = 0;
    for (const { parentRoot, traces } of blocks) {
      expect(outcome(hasher, parentRoot, [traces], true)).toBe('holds');
      // Two reads of the account tree may stand in any order as traces.
      const i = traces.findIndex((trace, t) => [trace, traces[t + 1]].every((it) => it && kindOf(it) === 'account 1'));
      if (i === -1) continue;
      const swapped = traces.toSpliced(i, 2, traces[i + 1]!, traces[i]!);
      expect(outcome(hasher, parentRoot, [swapped])).toBe('holds');
      expect(outcome(hasher, parentRoot, [swapped], true)).toBe('PATTERN_BROKEN');
      swaps++;
    }
    expect(swaps).toBeGreaterThan(0);
  });

  it('keeps roots from block to block', () => {
    for (const chain of chains.slice(0, 3)) {
      const lists = chain.blocks.map(({ traces }) => traces);
      const parentRoot = chain.blocks[0]!.parentRoot;
      const verdict = checkTraces(hasher, hexToBytes(parentRoot, 32), parseBlockTraces([[], ...lists, []]));
      if (!verdict.verified) throw new Error(verdict.message);
      const roots = [parentRoot, ...chain.blocks.map(({ root }) => root), chain.blocks.at(-1)!.root];
      expect(verdict.blockRoots).toEqual(roots.map((root) => hexToBytes(root, 32)));
      const gap = lists.toSpliced(1, 1);
      if (lists[1]!.some(({ type }) => type >= 2)) expect(outcome(hasher, parentRoot, gap)).not.toBe('holds');
    }
  });

  it('accepts the variants of old records', () => {
    const pad = (address: string) => `0x${'00'.repeat(12)}${address.slice(2)}`;
    const { trace } = sample('slot 4');
    const { deletedValue, ...old } = trace;
    const parsed = parseTrace({ ...old, location: pad(trace.location) });
    expect(formatTrace(parsed)).toEqual(old);
    expect(deletedValue).toBeDefined();
    const account = sample('account 3').trace;
    expect(formatTrace(parseTrace({ ...account, key: pad(account.key) }))).toEqual(account);
    const notPadded = `0x01${'00'.repeat(31)}`;
    expect(() => parseTrace({ ...account, key: notPadded })).toThrow('must be an address');
  });
});
