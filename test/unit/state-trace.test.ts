import { beforeAll, describe, expect, it } from 'vitest';
import { rememberingHasher } from '../../conformance/remembering-hasher.js';
import { encodeAccountValue } from '../../src/accumulator/account-value.js';
import { emptyHashes } from '../../src/accumulator/empty-subtrees.js';
import { hashAccountValue, hashAddress } from '../../src/accumulator/keys.js';
import { encodeLeaf, encodeTop, headLeaf, type LeafOpening, tailLeaf } from '../../src/accumulator/leaf-opening.js';
import { schemeFormat } from '../../src/accumulator/scheme.js';
import { isPlumblineError } from '../../src/errors.js';
import type { Hasher } from '../../src/kernel/contracts.js';
import { loadHasher } from '../../src/kernel/hasher.js';
import { bigIntToBytes } from '../../src/primitives/bytes.js';
import { bytesToHex, hexToBytes } from '../../src/primitives/hex.js';
import { KeyHashes } from '../../src/state/hash-cache.js';
import type { StateTrace } from '../../src/state/trace.js';
import { checkTraces } from '../../src/state/trace-check.js';
import { formatTrace, parseBlockTraces, parseTrace, type StateTraceJson } from '../../src/state/trace-json.js';
import { applyTraced } from '../../src/state/traced-application.js';
import { WitnessState } from '../../src/state/traced-state.js';
import { witnessBefore } from '../../src/state/traced-witness.js';
import { WitnessNodes } from '../../src/state/witness-nodes.js';
import type { AccountChange } from '../../src/state/world-state.js';
import { bitFlips, type Json, shapeEdits } from '../support/damage.js';
import { fixtureJson, fixturesPresent } from '../support/fixtures.js';

interface Block {
  parentRoot: string;
  root: string;
  traces: StateTraceJson[];
}

let hasher: Hasher;
beforeAll(async () => {
  hasher = rememberingHasher(await loadHasher('poseidon2'));
});

/** Outcome of checking blocks on the wire: `holds`, the reason of the verdict, or the code of the error. */
function outcome(parentRoot: string, blocks: unknown, order = false): string {
  try {
    const verdict = checkTraces(hasher, hexToBytes(parentRoot, 32), parseBlockTraces(blocks), { order });
    return verdict.verified ? 'holds' : verdict.reason;
  } catch (error) {
    if (isPlumblineError(error, 'TRACE_MALFORMED')) return error.code;
    throw error;
  }
}

const kindOf = ({ type, location }: StateTraceJson) => `${location === '0x' ? 'account' : 'slot'} ${type}`;

describe.skipIf(!fixturesPresent)('checking traces', () => {
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
    const check = () => outcome(block.parentRoot, [block.traces]);
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

  it('names what is wrong', () => {
    const { block, trace } = sample('account 3');
    const reasons = new Map<string, string>();
    for (const name of bitFlips(trace as unknown as Json, 1)) {
      reasons.set(name.replace(/ .*/, ''), outcome(block.parentRoot, [block.traces]));
    }
    expect(reasons.get('.key')).toMatch('KEY_MISMATCH');
    expect(reasons.get('.oldValue')).toBe('VALUE_MISMATCH');
    expect(reasons.get('.newSubRoot')).toBe('NEW_SUB_ROOT_MISMATCH');
    expect(reasons.get('.proof.siblings[12]')).toMatch(/BRANCH_MISMATCH|NOT_CANONICAL/);
    expect(outcome(`0x${'01'.repeat(32)}`, [block.traces])).toBe('PARENT_ROOT_MISMATCH');
  });

  it('finds traces that are left out, doubled or swapped', () => {
    const counted = { dropped: 0, doubled: 0, swapped: 0 };
    for (const { parentRoot, traces } of blocks.slice(-6)) {
      for (const [i, trace] of traces.entries()) {
        // Reads change nothing: without the order of patterns, one more or less is no fault.
        if (trace.type < 2) continue;
        counted.dropped++;
        const last = i === traces.length - 1;
        const without = traces.toSpliced(i, 1);
        if (!last) expect(outcome(parentRoot, [without])).not.toBe('holds');
        counted.doubled++;
        expect(outcome(parentRoot, [traces.toSpliced(i, 0, trace)])).not.toBe('holds');
        const next = traces[i + 1];
        if (next === undefined || next.type < 2 || next.location !== trace.location) continue;
        counted.swapped++;
        expect(outcome(parentRoot, [traces.toSpliced(i, 2, next, trace)])).not.toBe('holds');
      }
    }
    expect(Math.min(...Object.values(counted))).toBeGreaterThan(20);
  });

  it('ties storage to the account values', () => {
    const seen = new Set<string>();
    for (const { parentRoot, traces } of blocks) {
      const slot = traces.findIndex(({ location, type }) => location !== '0x' && type >= 2);
      if (slot === -1) continue;
      const address = traces[slot]!.location;
      const without = traces.filter(({ location }) => location !== address);
      seen.add(outcome(parentRoot, [without]));
      // Storage alone, in a block without any trace of its account.
      const alone = traces.filter(({ location }) => location === address);
      seen.add(outcome(parentRoot, [alone]));
    }
    // The latter where an account was deleted and created again: its old storage and its new one follow each other.
    expect([...seen].sort()).toEqual(['NEXT_FREE_NODE_MISMATCH', 'STORAGE_ROOT_MISMATCH']);
  });

  it('knows the order of block application where asked to', () => {
    let swaps = 0;
    for (const { parentRoot, traces } of blocks) {
      expect(outcome(parentRoot, [traces], true)).toBe('holds');
      // Two reads of the account tree may stand in any order as traces.
      const i = traces.findIndex((trace, t) => [trace, traces[t + 1]].every((it) => it && kindOf(it) === 'account 1'));
      if (i === -1) continue;
      const swapped = traces.toSpliced(i, 2, traces[i + 1]!, traces[i]!);
      expect(outcome(parentRoot, [swapped])).toBe('holds');
      expect(outcome(parentRoot, [swapped], true)).toBe('PATTERN_BROKEN');
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
      if (lists[1]!.some(({ type }) => type >= 2)) expect(outcome(parentRoot, gap)).not.toBe('holds');
    }
  });

  it('reads the habits of old records', () => {
    const pad = (address: string) => `0x${'00'.repeat(12)}${address.slice(2)}`;
    const { trace } = sample('slot 4');
    const { deletedValue, ...old } = trace;
    const parsed = parseTrace({ ...old, location: pad(trace.location) });
    expect(formatTrace(parsed)).toEqual(old);
    expect(deletedValue).toBeDefined();
    const account = sample('account 3').trace;
    expect(formatTrace(parseTrace({ ...account, key: pad(account.key) }))).toEqual(account);
    const notPadded = `0x01${'00'.repeat(31)}`;
    expect(() => parseTrace({ ...account, key: notPadded })).toThrow('is not an address');
  });
});

describe('forged trees', () => {
  const [a, b] = [bigIntToBytes(0xan, 20), bigIntToBytes(0xbn, 20)];
  const zero = new Uint8Array(32);
  const head = (nextLeaf: number): LeafOpening => ({ ...headLeaf(), nextLeaf });
  const tail = (prevLeaf: number): LeafOpening => ({ ...tailLeaf('poseidon2'), prevLeaf });
  const hashOf = (leaf: LeafOpening) => hasher.hash(encodeLeaf('poseidon2', leaf));

  /** A tree of any leaves whatever, at the positions 0, 1, 2 and so on. */
  function forgedTree(...leaves: LeafOpening[]) {
    const nodes = WitnessNodes.under(hasher, emptyHashes(hasher)[40]!);
    for (let position = 0; position < 8; position++) nodes.reach(position);
    for (const [position, leaf] of leaves.entries()) nodes.write(position, hashOf(leaf));
    const root = (nextFreeNode: number) => bytesToHex(hasher.hash(encodeTop('poseidon2', nextFreeNode, nodes.subRoot)));
    const proof = (leafIndex: number) => ({ leafIndex, siblings: nodes.siblings(leafIndex) });
    return { nodes, root, proof };
  }

  function readZero(left: LeafOpening, right: LeafOpening, key: Uint8Array): string {
    const leafA = { prevLeaf: 0, nextLeaf: 1, hkey: hashAddress(hasher, a), hval: zero };
    const { nodes, root, proof } = forgedTree(left, right, leafA);
    const step = { leftLeaf: left, rightLeaf: right, leftProof: proof(0), rightProof: proof(1) };
    const base = { type: 'read-zero', location: undefined, key, nextFreeNode: 3, subRoot: nodes.subRoot } as const;
    return outcome(root(3), [[formatTrace({ ...base, ...step })]]);
  }

  it('an absent key needs two leaves that lead to each other', () => {
    expect(readZero(head(1), tail(0), b)).toBe('holds');
    expect(readZero(head(2), tail(2), a)).toBe('LEAF_LINK_BROKEN');
    expect(readZero(head(1), tail(2), b)).toBe('LEAF_LINK_BROKEN');
    expect(readZero(head(2), tail(0), b)).toBe('LEAF_LINK_BROKEN');
    expect(readZero({ ...head(1), hkey: hashAddress(hasher, b) }, tail(0), b)).toBe('LEAF_ORDER_BROKEN');
  });

  /** An insertion at `position` that is right in all else. */
  function insertion(position: number, ...more: LeafOpening[]): string {
    const { nodes, root, proof } = forgedTree(head(1), tail(0), ...more);
    const parentRoot = root(2);
    const oldSubRoot = nodes.subRoot;
    const value = encodeAccountValue({
      ...{ nonce: 1n, balance: 0n, storageRoot: schemeFormat('poseidon2').emptyRoot, codeSize: 0n },
      ...{ zkCodeHash: schemeFormat('poseidon2').emptyCodeHash, keccakCodeHash: zero },
    });
    const leaf = { prevLeaf: 0, nextLeaf: 1, hkey: hashAddress(hasher, a), hval: hashAccountValue(hasher, value) };
    const leftProof = proof(0);
    nodes.write(0, hashOf(head(position)));
    const newProof = proof(position);
    nodes.write(position, hashOf(leaf));
    const rightProof = proof(1);
    const newSubRoot = nodes.write(1, hashOf(tail(position)));
    const proofs = { leftProof, newProof, rightProof, priorLeftLeaf: head(1), priorRightLeaf: tail(0) };
    const base = { type: 'insert', location: undefined, key: a, value, newNextFreeNode: 3 } as const;
    return outcome(parentRoot, [[formatTrace({ ...base, ...proofs, oldSubRoot, newSubRoot })]]);
  }

  it('an insertion takes the free position, and that is unused', () => {
    expect(insertion(2)).toBe('holds');
    expect(insertion(5)).toBe('LEAF_INDEX_MISMATCH');
    expect(insertion(2, { prevLeaf: 0, nextLeaf: 1, hkey: hashAddress(hasher, b), hval: zero })).toBe(
      'BRANCH_MISMATCH',
    );
  });
});

describe('applying a block step by step', () => {
  const address = (n: number) => bigIntToBytes(BigInt(n), 20);
  const word = (n: number) => bigIntToBytes(BigInt(n), 32);
  const slot = (key: number, before: number, after: number) => ({
    key: word(key),
    before: word(before),
    after: word(after),
  });
  const created = (n: number, ...slots: AccountChange['slots']): AccountChange => ({
    address: address(n),
    after: { nonce: 1n, balance: 5n },
    destroyed: false,
    slots,
  });
  const run = (state: WitnessState, ...changes: AccountChange[]) =>
    applyTraced({ hasher, keys: new KeyHashes(hasher) }, state, changes);
  const shape = (traces: readonly StateTrace[]) =>
    traces.map(({ type, location }) => (location === undefined ? type.toUpperCase() : type));

  function started(): WitnessState {
    const state = new WitnessState(hasher);
    run(state, created(1, slot(1, 0, 7), slot(2, 0, 8)), created(2), created(3));
    return state;
  }

  const same = { nonce: 1n, balance: 5n };

  it('shows the six patterns', () => {
    const of = (change: Partial<AccountChange>) =>
      shape(run(started(), { address: address(1), before: same, destroyed: false, slots: [], ...change }));
    const { before: _, ...missing } = created(9);
    expect(shape(run(started(), { ...missing, after: undefined } as unknown as AccountChange))).toEqual(['READ-ZERO']);
    expect(of({ after: same })).toEqual(['READ']);
    expect(of({ after: same, slots: [slot(1, 7, 7)] })).toEqual(['READ', 'read']);
    expect(of({ after: same, slots: [slot(5, 0, 0)] })).toEqual(['READ', 'read-zero']);
    expect(of({ after: same, slots: [slot(1, 7, 9)] })).toEqual(['update', 'UPDATE']);
    expect(of({ after: same, slots: [slot(1, 7, 0)] })).toEqual(['read', 'delete', 'UPDATE']);
    expect(of({ after: same, slots: [slot(5, 0, 1)] })).toEqual(['insert', 'UPDATE']);
    // Emptied in between, by the slot's own flag: it is going to be removed, so it is read first.
    const cleared = { ...slot(1, 7, 9), cleared: true };
    expect(of({ after: same, slots: [cleared] })).toEqual(['read', 'delete', 'insert', 'UPDATE']);
    expect(of({ after: { nonce: 2n, balance: 5n } })).toEqual(['UPDATE']);
    expect(shape(run(started(), created(7, slot(1, 0, 1))))).toEqual(['insert', 'INSERT']);
    expect(of({ destroyed: true })).toEqual(['DELETE']);
    expect(of({ slots: [slot(1, 7, 0)] })).toEqual(['read', 'DELETE']);
    expect(of({ destroyed: true, after: same, slots: [slot(1, 7, 0), slot(3, 0, 4)] })).toEqual([
      'read',
      'DELETE',
      'insert',
      'INSERT',
    ]);
    expect(of({ destroyed: true, after: same })).toEqual(['DELETE', 'INSERT']);
  });

  it('starts storage over for an account that was recreated without a slot', () => {
    const state = started();
    const recreated = run(state, { address: address(1), before: same, after: same, destroyed: true, slots: [] });
    const parent = state.copy().accounts.topRoot;
    const next: AccountChange = {
      address: address(1),
      before: same,
      after: same,
      destroyed: false,
      slots: [slot(1, 0, 3)],
    };
    const traces = run(state, next);
    expect(shape(traces)).toEqual(['insert', 'UPDATE']);
    expect(traces[0]).toMatchObject({ newNextFreeNode: 3 });
    const before = started().accounts.topRoot;
    expect(checkTraces(hasher, before, [recreated, traces], { order: true })).toMatchObject({
      verified: true,
      blockRoots: [parent, state.accounts.topRoot],
    });
  });

  it('refuses a before-value that is not held, and then changes nothing', () => {
    const state = started();
    const root = state.accounts.topRoot;
    const wrong: AccountChange[] = [
      created(1),
      { address: address(8), before: same, destroyed: false, slots: [] },
      { address: address(1), before: { nonce: 2n, balance: 5n }, after: same, destroyed: false, slots: [] },
      { address: address(1), before: { nonce: 1n, balance: 6n }, after: same, destroyed: false, slots: [] },
      { address: address(1), before: same, after: same, destroyed: false, slots: [slot(1, 6, 1)] },
      { address: address(2), before: same, after: same, destroyed: false, slots: [slot(1, 6, 1)] },
    ];
    for (const change of wrong) {
      expect(() => run(state, created(20), change)).toThrowError(expect.objectContaining({ code: 'STATE_MISMATCH' }));
      expect(state.accounts.topRoot).toEqual(root);
    }
    expect(() => run(state, created(20), created(20))).toThrowError(
      expect.objectContaining({ code: 'INVALID_PARAMETER' }),
    );
  });

  it('a witness of one block knows that block and no other', () => {
    const state = started();
    const change: AccountChange = {
      address: address(1),
      before: same,
      after: same,
      destroyed: false,
      slots: [slot(1, 7, 9)],
    };
    const before = state.accounts.topRoot;
    const traces = run(state, change);
    const witness = witnessBefore(hasher, traces)!;
    expect(witness.accounts.topRoot).toEqual(before);
    expect(run(witness.copy(), change)).toEqual(traces);
    const other: AccountChange = {
      address: address(1),
      before: same,
      after: same,
      destroyed: false,
      slots: [slot(2, 8, 9)],
    };
    expect(() => run(witness.copy(), other)).toThrowError(expect.objectContaining({ code: 'WITNESS_MISSING' }));
    const stranger: AccountChange = { address: address(3), before: same, after: same, destroyed: false, slots: [] };
    expect(() => run(witness, stranger)).toThrowError(expect.objectContaining({ code: 'WITNESS_MISSING' }));
  });
});
