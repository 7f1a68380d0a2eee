import { beforeAll, describe, expect, it } from 'vitest';
import { loadHasher } from '../../src/kernel/hasher.js';
import { formatTrace, parseBlockTraces, parseTrace } from '../../src/state/trace.js';
import { WitnessState } from '../../src/state/witness-state.js';
import { change, set, state } from '../support/small-state.js';

type Fields = Record<string, unknown>;

/** An insertion of an account, a reading of a slot, and one trace of each other type. */
let account: Fields;
let slot: Fields;
let others: Fields[];
beforeAll(async () => {
  const held = new WitnessState(await loadHasher('poseidon2'));
  const [, inserted] = held.apply([change(1, undefined, state(1n, 5n), [set(1, 0, 7)])]);
  const [, read] = held.apply([change(1, state(1n, 5n), state(1n, 5n), [set(1, 7, 7)])]);
  account = formatTrace(inserted!);
  slot = formatTrace(read!);
  const [absent] = held.apply([change(9, undefined, undefined)]);
  const [updated] = held.apply([change(1, state(1n, 5n), state(1n, 5n), [set(1, 7, 8)])]);
  const [, removed] = held.apply([change(1, state(1n, 5n), state(1n, 5n), [set(1, 8, 0)])]);
  others = [absent!, updated!, removed!].map(formatTrace);
});

const ADDRESS = `0x${'00'.repeat(19)}01`;
const digest = (bytes: number) => `0x${'01'.repeat(bytes)}`;
const leafWith = (trace: Fields, name: string, changes: Fields) => ({
  ...trace,
  [name]: { ...(trace[name] as Fields), ...changes },
});

describe('a trace as JSON', () => {
  it('has the fields of docs/spec/state-trie.md 10', () => {
    expect(Object.keys(account).sort()).toEqual(
      ['location', 'key', 'type', 'newNextFreeNode', 'oldSubRoot', 'newSubRoot', 'leftProof', 'newProof', 'rightProof']
        .concat(['value', 'priorLeftLeaf', 'priorRightLeaf'])
        .sort(),
    );
    expect([account.location, account.key, account.type, account.newNextFreeNode]).toEqual(['0x', ADDRESS, 2, 3]);
    expect(Object.keys(slot).sort()).toEqual(
      ['key', 'leaf', 'location', 'nextFreeNode', 'proof', 'subRoot', 'type', 'value'].sort(),
    );
    expect([slot.location, slot.type]).toEqual([ADDRESS, 0]);
    expect(slot.leaf).toMatchObject({ prevLeaf: 0, nextLeaf: 1 });
    expect(slot.proof).toMatchObject({ leafIndex: 2 });
  });

  it('has the fields of docs/spec/state-trie.md 10: the other types', () => {
    const written = ['newNextFreeNode', 'oldSubRoot', 'newSubRoot'];
    const fields = [
      ['nextFreeNode', 'subRoot', 'leftLeaf', 'rightLeaf', 'leftProof', 'rightProof'],
      [...written, 'proof', 'oldValue', 'newValue', 'priorUpdatedLeaf'],
      [...written, 'leftProof', 'deletedProof', 'rightProof', 'deletedValue'].concat(
        ['Left', 'Deleted', 'Right'].map((side) => `prior${side}Leaf`),
      ),
    ];
    expect(others.map(({ type }) => type)).toEqual([1, 3, 4]);
    for (const [i, trace] of others.entries()) {
      expect(Object.keys(trace).sort()).toEqual([...fields[i]!, 'key', 'location', 'type'].sort());
    }
  });

  it('is read as it was written', () => {
    for (const trace of [account, slot, ...others]) expect(formatTrace(parseTrace(trace))).toEqual(trace);
  });

  it('of a deletion may leave out the value, as old records do, and no other field', () => {
    const { deletedValue: _, ...old } = others[2]!;
    const read = parseTrace(old);
    expect(Object.hasOwn(read, 'deletedValue')).toBe(false);
    expect(formatTrace(read)).toEqual(old);
    const malformed = (message: string) => expect.objectContaining({ code: 'TRACE_MALFORMED', message });
    // A value that is given must be one.
    for (const deletedValue of [undefined, null, 7]) {
      expect(() => parseTrace({ ...old, deletedValue })).toThrow(
        malformed('malformed trace: trace.deletedValue must be a hex string'),
      );
    }
    for (const name of ['deletedProof', 'priorDeletedLeaf', 'newSubRoot', 'newNextFreeNode', 'key']) {
      const { [name]: _, ...without } = others[2]!;
      expect(() => parseTrace(without)).toThrow(
        malformed(expect.stringMatching(`^malformed trace: trace.${name} must `)),
      );
    }
    const { value: __, ...inserted } = account;
    expect(() => parseTrace(inserted)).toThrow(malformed('malformed trace: trace.value must be a hex string'));
  });

  /** What is damaged, how, and the message. */
  const refused: [string, () => unknown, string][] = [
    ['no object', () => 1, 'trace must be an object'],
    ['null', () => null, 'trace must be an object'],
    ['a list', () => [], 'trace must be an object'],
    ['a type of 5', () => ({ ...account, type: 5 }), 'trace.type must be 0 to 4'],
    ['no type', () => ({ ...account, type: '2' }), `trace.type must be an integer from 0 to ${2 ** 40}`],
    [
      'a location of 19 bytes',
      () => ({ ...slot, location: digest(19) }),
      'trace.location must have 20 or 32 bytes, got 19',
    ],
    [
      'a long location that is no address',
      () => ({ ...slot, location: `0x${'00'.repeat(11)}${'01'.repeat(21)}` }),
      'trace.location must be an address: 20 bytes, or 32 bytes that start with 12 zero bytes',
    ],
    [
      'an account key of 21 bytes',
      () => ({ ...account, key: digest(21) }),
      'trace.key must have 20 or 32 bytes, got 21',
    ],
    ['a slot key of 20 bytes', () => ({ ...slot, key: digest(20) }), 'trace.key must have 32 bytes, got 20'],
    ['a key that is no text', () => ({ ...slot, key: 1 }), 'trace.key must be a hex string'],
    ['a value of 32 bytes', () => ({ ...account, value: digest(32) }), 'trace.value must have 192 bytes, got 32'],
    ['a slot value of 192 bytes', () => ({ ...slot, value: digest(192) }), 'trace.value must have 32 bytes, got 192'],
    ['a root of 31 bytes', () => ({ ...slot, subRoot: digest(31) }), 'trace.subRoot must have 32 bytes, got 31'],
    [
      'a position of 2^40 + 1',
      () => ({ ...account, newNextFreeNode: 2 ** 40 + 1 }),
      `trace.newNextFreeNode must be an integer from 0 to ${2 ** 40}`,
    ],
    ['a foreign field', () => ({ ...account, nextFreeNode: 3 }), 'trace.nextFreeNode is not a field of this object'],
    ['no leaf', () => ({ ...slot, leaf: undefined }), 'trace.leaf must be an object'],
    [
      'a foreign field in a leaf',
      () => leafWith(slot, 'leaf', { value: 1 }),
      'trace.leaf.value is not a field of this object',
    ],
    [
      'a neighbour at 2^40',
      () => leafWith(slot, 'leaf', { prevLeaf: 2 ** 40 }),
      `trace.leaf.prevLeaf must be an integer from 0 to ${2 ** 40 - 1}`,
    ],
    [
      'a neighbour below 0',
      () => leafWith(slot, 'leaf', { nextLeaf: -1 }),
      `trace.leaf.nextLeaf must be an integer from 0 to ${2 ** 40 - 1}`,
    ],
    [
      'a leaf key of 31 bytes',
      () => leafWith(slot, 'leaf', { hkey: digest(31) }),
      'trace.leaf.hkey must have 32 bytes, got 31',
    ],
    [
      'a leaf hash of 33 bytes',
      () => leafWith(slot, 'leaf', { hval: digest(33) }),
      'trace.leaf.hval must have 32 bytes, got 33',
    ],
    [
      'a leaf position of 1.5',
      () => leafWith(slot, 'proof', { leafIndex: 1.5 }),
      `trace.proof.leafIndex must be an integer from 0 to ${2 ** 40 - 1}`,
    ],
    [
      'a foreign field in a proof',
      () => leafWith(slot, 'proof', { value: 1 }),
      'trace.proof.value is not a field of this object',
    ],
    [
      'siblings that are no list',
      () => leafWith(slot, 'proof', { siblings: {} }),
      'trace.proof.siblings must be a list',
    ],
    [
      '39 siblings',
      () => leafWith(slot, 'proof', { siblings: Array(39).fill(digest(32)) }),
      'trace.proof.siblings must have 40 entries, got 39',
    ],
    [
      'a sibling of 31 bytes',
      () => leafWith(slot, 'proof', { siblings: [digest(32), digest(31), ...Array(38).fill(digest(32))] }),
      'trace.proof.siblings[1] must have 32 bytes, got 31',
    ],
  ];

  it.each(refused)('is refused with %s', (_, damaged, message) => {
    const [path, ...reason] = message.split(' ');
    expect(() => parseTrace(damaged())).toThrow(
      expect.objectContaining({
        code: 'TRACE_MALFORMED',
        message: `malformed trace: ${message}`,
        details: { path, reason: reason.join(' ') },
      }),
    );
  });

  it('is refused with text that is not hex, with the reason', () => {
    expect(() => parseTrace({ ...slot, key: `0x${'0g'.repeat(32)}` })).toThrow(
      expect.objectContaining({ code: 'TRACE_MALFORMED', message: expect.stringContaining('trace.key ') }),
    );
  });

  it('takes the greatest positions', () => {
    const far = leafWith({ ...account, newNextFreeNode: 2 ** 40 }, 'priorLeftLeaf', { nextLeaf: 2 ** 40 - 1 });
    expect(parseTrace(far)).toMatchObject({ newNextFreeNode: 2 ** 40, priorLeftLeaf: { nextLeaf: 2 ** 40 - 1 } });
  });

  it('takes an address of 32 bytes as its last 20', () => {
    const padded = `0x${'00'.repeat(12)}${'ab'.repeat(20)}`;
    expect(parseTrace({ ...slot, location: padded }).location).toEqual(new Uint8Array(20).fill(0xab));
  });
});

describe('traces of blocks as JSON', () => {
  it('are read block by block', () => {
    expect(parseBlockTraces([[account], [], [slot]])).toEqual([[parseTrace(account)], [], [parseTrace(slot)]]);
  });

  it.each<[unknown, string]>([
    [{}, 'blocks must be a list'],
    [[[], 1], 'blocks[1] must be a list'],
    [[[], [1]], 'blocks[1][0] must be an object'],
  ])('are refused: %j', (json, message) => {
    expect(() => parseBlockTraces(json)).toThrow(`malformed trace: ${message}`);
  });
});
