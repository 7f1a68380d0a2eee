import 'fake-indexeddb/auto';
import { expect, test } from 'vitest';
import * as hash from '../../src/hash.js';
import { bigIntToBytes } from '../../src/primitives/bytes.js';
import * as state from '../../src/state.js';
import { type HashScheme, openState, openStatePages, type ZkAccountChange } from '../../src/state.js';
import { PageMap } from '../support/paged-state.js';

const created = (n: number): ZkAccountChange => ({
  address: bigIntToBytes(BigInt(n), 20),
  after: { nonce: 1n, balance: BigInt(n) },
  destroyed: false,
  slots: [],
});
let count = 0;
const freshName = () => `state-entry-${count++}`;

test('the names that the entry points export', () => {
  expect(Object.keys(state).sort()).toEqual([
    'KeyFollower',
    'PlumblineError',
    'WitnessState',
    'WitnessTrie',
    'bytesToHex',
    'checkTraces',
    'decodeTrieLog',
    'formatTrace',
    'hexToBytes',
    'isPlumblineError',
    'loadHasher',
    'openPagedState',
    'openState',
    'openStatePages',
    'parseBlockTraces',
    'verifyLineaProof',
    'witnessBefore',
    'witnessFromProofs',
  ]);
  expect(Object.keys(hash).sort()).toEqual([
    'PlumblineError',
    'bytesToHex',
    'decodeAccountValue',
    'encodeAccountValue',
    'hashAccountValue',
    'hashAddress',
    'hashCode',
    'hashWord',
    'hexToBytes',
    'isPlumblineError',
    'loadHashKernel',
    'loadHasher',
    'schemeFormat',
  ]);
});

test.each<HashScheme>(['poseidon2', 'mimc'])('a stored state opens as it was, and goes on: %s', async (scheme) => {
  const pages = new PageMap();
  const whole = await openState({ scheme });
  const first = await openState({ scheme, pages });
  for (const opened of [whole, first]) opened.applyBlock(7, [created(1), created(2)]);
  pages.commit(first.takePages());
  const second = await openState({ scheme, pages, check: 'full', build: 'scalar' });
  expect([second.head, second.root()]).toEqual([7, whole.root()]);
  expect(second.applyBlock(8, [created(3)])).toEqual(whole.applyBlock(8, [created(3)]));
});

test('a state opened without pages has none to store', async () => {
  const opened = await openState({ scheme: 'poseidon2' });
  expect(() => opened.takePages()).toThrow(expect.objectContaining({ code: 'INVALID_PARAMETER' }));
});

test('the pages of a state of the other scheme are refused', async () => {
  const pages = new PageMap();
  const opened = await openState({ scheme: 'mimc', pages });
  opened.applyBlock(0, [created(1)]);
  pages.commit(opened.takePages());
  await expect(openState({ scheme: 'poseidon2', pages })).rejects.toMatchObject({ code: 'STORE_CORRUPT' });
});

test('pages in IndexedDB are there when they are opened again', async () => {
  const name = freshName();
  const pages = await openStatePages(name);
  const opened = await openState({ scheme: 'poseidon2', pages });
  opened.applyBlock(0, [created(1)]);
  const committed = pages.commit(opened.takePages());
  opened.applyBlock(1, [created(2)]);
  await pages.commit(opened.takePages());
  await committed;
  await pages.close();
  const again = await openStatePages(name);
  const reopened = await openState({ scheme: 'poseidon2', pages: again, check: 'full' });
  expect([reopened.head, reopened.root()]).toEqual([1, opened.root()]);
  await again.close();
});

test('what could not be stored is stored with the next commit', async () => {
  const name = freshName();
  const pages = await openStatePages(name);
  const opened = await openState({ scheme: 'poseidon2', pages });
  opened.applyBlock(0, [created(1)]);
  const { puts, deletes } = opened.takePages();
  const notBytes = { key: 'broken', value: 'no bytes' as unknown as Uint8Array };
  await expect(pages.commit({ puts: [...puts, notBytes], deletes })).rejects.toMatchObject({
    code: 'INVALID_PARAMETER',
  });
  opened.applyBlock(1, [created(2)]);
  await pages.commit({ ...opened.takePages(), deletes: ['broken'] });
  await pages.close();
  const again = await openStatePages(name);
  const reopened = await openState({ scheme: 'poseidon2', pages: again, check: 'full' });
  expect([reopened.head, reopened.root()]).toEqual([1, opened.root()]);
  await again.close();
});

test('pages that are opened again elsewhere are written there alone', async () => {
  const name = freshName();
  const first = await openStatePages(name);
  const opened = await openState({ scheme: 'poseidon2', pages: first });
  const second = await openStatePages(name);
  opened.applyBlock(0, [created(1)]);
  await expect(first.commit(opened.takePages())).rejects.toMatchObject({ code: 'STORE_TAKEN_OVER' });
  expect((await openState({ scheme: 'poseidon2', pages: second })).head).toBeUndefined();
  await first.close();
  await second.close();
});

test('hashes refuse inputs of another length', async () => {
  const hasher = await hash.loadHasher('poseidon2');
  const short = new Uint8Array(19);
  for (const refused of [hash.hashAddress, hash.hashWord, hash.hashAccountValue]) {
    expect(() => refused(hasher, short)).toThrow(expect.objectContaining({ code: 'INVALID_LENGTH' }));
  }
  // Of the specification's corner: code set to nothing.
  expect(hash.hashCode(hasher, new Uint8Array())).toEqual(new Uint8Array(32));
});
