import { beforeAll, describe, expect, it } from 'vitest';
import { encodeTop } from '../../src/accumulator/leaf-opening.js';
import type { Hasher } from '../../src/kernel/contracts.js';
import { loadHasher } from '../../src/kernel/hasher.js';
import type { StateTrace } from '../../src/state/trace.js';
import { checkTraces } from '../../src/state/trace-check.js';
import { WitnessState } from '../../src/state/witness-state.js';
import { change, state } from '../support/small-state.js';

let hasher: Hasher;
let parent: Uint8Array;
/** One trace of each type, of the account trie, each from the state with accounts 1, 2 and 3. */
const samples: Record<string, StateTrace> = {};
beforeAll(async () => {
  hasher = await loadHasher('poseidon2');
  const started = new WitnessState(hasher);
  started.apply([1, 2, 3].map((n) => change(n, undefined, state(1n, BigInt(n)))));
  parent = started.accounts.topRoot;
  for (const one of [
    change(2, state(1n, 2n), state(1n, 2n)),
    change(9, undefined, undefined),
    change(9, undefined, state(1n, 9n)),
    change(2, state(1n, 2n), state(2n, 2n)),
    change(2, state(1n, 2n), undefined, [], true),
  ]) {
    const [trace] = started.copy().apply([one]);
    samples[trace!.type] = trace!;
  }
});

type Fields = Record<string, unknown>;
const word = (byte: number) => new Uint8Array(32).fill(byte);
const verdictOf = (...traces: StateTrace[]) => checkTraces(hasher, parent, [[], traces]);
/** What is said of a trace of a type with one field changed; `blocks[1][0]` is left out. */
function saidOf(type: string, name: string, changed: (value: unknown) => unknown): string[] {
  const trace = samples[type] as unknown as Fields;
  const verdict = verdictOf({ ...trace, [name]: changed(trace[name]) } as unknown as StateTrace);
  if (verdict.verified) return ['holds'];
  expect(verdict.at.slice(0, 12)).toBe('blocks[1][0]');
  expect(verdict.message.startsWith(`${verdict.at} `)).toBe(true);
  return [verdict.reason, verdict.at.slice(12), verdict.message.slice(verdict.at.length + 1)];
}
const flip = (bytes: unknown) => (bytes as Uint8Array).map((byte, i) => (i === 31 ? byte ^ 1 : byte));
const withField = (name: string, value: unknown) => (object: unknown) => ({ ...(object as Fields), [name]: value });
/** A branch with another hash at level 3. */
const bent = (proof: unknown) => {
  const { leafIndex, siblings } = proof as { leafIndex: number; siblings: Uint8Array[] };
  return { leafIndex, siblings: siblings.with(3, flip(siblings[3])) };
};

describe('the verdict on one trace', () => {
  it('is positive for each type as it was made', () => {
    expect(Object.keys(samples).sort()).toEqual(['delete', 'insert', 'read', 'read-zero', 'update']);
    for (const trace of Object.values(samples)) expect(verdictOf(trace).verified).toBe(true);
  });

  it.each([
    ['read', 'leaf', '.leaf.hkey'],
    ['update', 'priorUpdatedLeaf', '.priorUpdatedLeaf.hkey'],
    ['delete', 'priorDeletedLeaf', '.priorDeletedLeaf.hkey'],
  ])('names the key of another leaf: %s', (type, name, at) => {
    const said = saidOf(type, name, withField('hkey', word(1)));
    expect(said).toEqual(['KEY_MISMATCH', at, 'is not the hash of the key']);
  });

  it.each([
    ['read', 'value'],
    ['update', 'oldValue'],
    ['delete', 'deletedValue'],
  ])('names a value that is not the one in the leaf: %s', (type, name) => {
    const said = saidOf(type, name, flip);
    expect(said).toEqual(['VALUE_MISMATCH', `.${name}`, 'does not match the hash in the leaf']);
  });

  it.each([
    ['read', ['proof']],
    ['read-zero', ['leftProof', 'rightProof']],
    ['insert', ['leftProof', 'newProof', 'rightProof']],
    ['update', ['proof']],
    ['delete', ['leftProof', 'deletedProof', 'rightProof']],
  ])('names the branch that does not lead to the root: %s', (type, names) => {
    for (const name of names) {
      const [reason, at, message] = saidOf(type, name, bent);
      expect([reason, at]).toEqual(['BRANCH_MISMATCH', `.${name}`]);
      expect(message).toMatch(/^its (branch does not match the known node|sibling at level 3 differs)/);
    }
  });

  it.each(['insert', 'update', 'delete'])('names a new root that does not follow: %s', (type) => {
    const said = saidOf(type, 'newSubRoot', flip);
    expect(said).toEqual(['NEW_SUB_ROOT_MISMATCH', '.newSubRoot', 'does not result from the writes']);
  });

  it.each([
    ['read-zero', 'leftLeaf', 'leftProof', 'rightLeaf', 'rightProof'],
    ['insert', 'priorLeftLeaf', 'leftProof', 'priorRightLeaf', 'rightProof'],
    ['delete', 'priorLeftLeaf', 'leftProof', 'priorDeletedLeaf', 'deletedProof'],
    ['delete', 'priorDeletedLeaf', 'deletedProof', 'priorRightLeaf', 'rightProof'],
  ])('names neighbours that do not link to each other: %s, %s', (type, left, leftProof, right, rightProof) => {
    const trace = samples[type] as unknown as Record<string, { leafIndex: number }>;
    const [from, to] = [trace[leftProof]!.leafIndex, trace[rightProof]!.leafIndex];
    expect(saidOf(type, left, withField('nextLeaf', 77))).toEqual([
      'LEAF_LINK_BROKEN',
      '',
      `leaf ${from} does not link to ${to}`,
    ]);
    expect(saidOf(type, right, withField('prevLeaf', 77))).toEqual([
      'LEAF_LINK_BROKEN',
      '',
      `leaf ${to} does not link back to ${from}`,
    ]);
  });

  it.each([
    ['read-zero', 'leftLeaf', 'rightLeaf'],
    ['insert', 'priorLeftLeaf', 'priorRightLeaf'],
    ['delete', 'priorLeftLeaf', 'priorRightLeaf'],
  ])('names a key that is not between its neighbours: %s', (type, left, right) => {
    const out = ['LEAF_ORDER_BROKEN', '', 'the key is not between its neighbours'];
    expect(saidOf(type, left, withField('hkey', word(0x7e)))).toEqual(out);
    expect(saidOf(type, right, withField('hkey', word(0)))).toEqual(out);
  });

  it('names a leaf that is not at the next free position', () => {
    const said = saidOf('insert', 'newProof', withField('leafIndex', 6));
    expect(said).toEqual(['LEAF_INDEX_MISMATCH', '.newProof.leafIndex', 'should be 5']);
  });

  it('names words that are no field elements', () => {
    const message = 'a word is not below the modulus of the hash';
    const wide = (at: number) => (value: unknown) =>
      (value as Uint8Array).map((b, i) => (i >= at && i < at + 4 ? 0xff : b));
    // Of an account's value, the storage root is hashed as it is: bytes 64 to 96.
    for (const [type, name] of [
      ['read', 'value'],
      ['insert', 'value'],
      ['update', 'newValue'],
    ] as const) {
      expect(saidOf(type, name, wide(64))).toEqual(['NOT_CANONICAL', `.${name}`, message]);
    }
    expect(saidOf('read', 'leaf', withField('hval', word(0xff)))[0]).toBe('VALUE_MISMATCH');
    expect(saidOf('read-zero', 'leftLeaf', withField('hval', word(0xff)))).toEqual([
      'NOT_CANONICAL',
      '.leftProof',
      message,
    ]);
    expect(saidOf('read', 'subRoot', () => word(0xff))).toEqual(['NOT_CANONICAL', '', message]);
  });

  it('names the root where the traces start', () => {
    const hex = (bytes: Uint8Array) => `0x${Buffer.from(bytes).toString('hex')}`;
    const { subRoot } = samples.read as { subRoot: Uint8Array };
    const found = hasher.hash(encodeTop('poseidon2', 6, subRoot));
    expect(saidOf('read', 'nextFreeNode', () => 6)).toEqual([
      'PARENT_ROOT_MISMATCH',
      '',
      `starts from root ${hex(found)}, not from ${hex(parent)}`,
    ]);
    expect(saidOf('insert', 'newNextFreeNode', () => 1).slice(0, 2)).toEqual(['PARENT_ROOT_MISMATCH', '']);
    expect(saidOf('insert', 'newNextFreeNode', () => 0)).toEqual([
      'NEXT_FREE_NODE_MISMATCH',
      '',
      'is an insertion with an invalid position',
    ]);
  });
});

it('errors that are not about traces are no verdict', () => {
  const broken: Hasher = {
    ...hasher,
    scheme: hasher.scheme,
    hash: () => {
      throw new Error('no hasher');
    },
  };
  expect(() => checkTraces(broken, parent, [[samples.read!]])).toThrow('no hasher');
});

describe('the verdict on a trace after another', () => {
  const reads = (changes: object) => {
    const verdict = verdictOf(samples.read!, { ...samples.read!, ...changes } as StateTrace);
    return verdict.verified ? 'holds' : [verdict.reason, verdict.at, verdict.message];
  };
  const writes = (changes: object) => {
    const verdict = verdictOf(samples.read!, { ...samples.update!, ...changes } as StateTrace);
    return verdict.verified ? 'holds' : [verdict.reason, verdict.at, verdict.message];
  };

  it('names the next free position, and the root, that do not continue', () => {
    expect([reads({}), writes({})]).toEqual(['holds', 'holds']);
    const free = 'should continue from 5';
    const root = 'does not continue from the current sub root';
    const at = 'blocks[1][1].';
    expect([reads({ nextFreeNode: 6 }), writes({ newNextFreeNode: 4 })]).toEqual(
      [`${at}nextFreeNode`, `${at}newNextFreeNode`].map((path) => ['NEXT_FREE_NODE_MISMATCH', path, `${path} ${free}`]),
    );
    expect([reads({ subRoot: word(1) }), writes({ oldSubRoot: word(1) })]).toEqual(
      [`${at}subRoot`, `${at}oldSubRoot`].map((path) => ['SUB_ROOT_MISMATCH', path, `${path} ${root}`]),
    );
  });
});
