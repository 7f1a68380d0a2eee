import { describe, expect, it } from 'vitest';
import type { HashScheme } from '../../src/kernel/contracts.js';
import { bigIntToBytes } from '../../src/primitives/bytes.js';
import { verifyLineaProof } from '../../src/proof/linea-proof.js';
import type { ZkAccountChange } from '../../src/state/world-state.js';
import { referenceHasher } from '../reference/hasher.js';
import { seededRandom } from '../support/random.js';
import { openState } from '../support/world-state.js';

const ADDRESSES = 7;
const KEYS = 6;
const address = (n: number) => bigIntToBytes(BigInt(n) * 0x1234567n, 20);
const word = (n: number) => bigIntToBytes(BigInt(n), 32);
const keys = Array.from({ length: KEYS }, (_, key) => word(key));

interface Model {
  nonce: bigint;
  balance: bigint;
  slots: number[];
}

/** One random block over a plain model of the accounts, which it brings up to date. */
function randomBlock(random: (bound: number) => number, model: (Model | undefined)[]): ZkAccountChange[] {
  const changes: ZkAccountChange[] = [];
  for (let n = 0; n < ADDRESSES; n++) {
    if (random(2) === 0) continue;
    const old = model[n];
    const gone = old !== undefined && random(5) === 0;
    const destroyed = gone || (old !== undefined && random(5) === 0);
    const before = old?.slots ?? keys.map(() => 0);
    const kept = destroyed ? keys.map(() => 0) : before;
    const slots = kept.map((value) => (random(3) === 0 ? random(3) : value));
    const next = gone ? undefined : { nonce: (old?.nonce ?? 0n) + 1n, balance: BigInt(random(1000)), slots };
    model[n] = next;
    changes.push({
      address: address(n),
      destroyed,
      ...(old && { before: { nonce: old.nonce, balance: old.balance } }),
      ...(next && { after: { nonce: next.nonce, balance: next.balance } }),
      slots: gone || n === 0 ? [] : keys.map((key, i) => ({ key, before: word(before[i]!), after: word(slots[i]!) })),
    });
    // Account 0 never gets storage.
    if (n === 0 && next !== undefined) next.slots = keys.map(() => 0);
  }
  return changes;
}

describe.each<[HashScheme, number]>([
  ['poseidon2', 12],
  ['mimc', 3],
])('%s: a random chain', (scheme, blocks) => {
  it('can be proved at every block for every account and slot, and the strict verifier accepts it', async () => {
    const hasher = referenceHasher(scheme);
    const random = seededRandom(blocks);
    const state = await openState(scheme);
    const model: (Model | undefined)[] = [];
    const history: (Model | undefined)[][] = [];
    for (let block = 0; block < blocks; block++) {
      state.applyBlock(block, randomBlock(random, model));
      history.push([...model]);
    }
    const shapes = new Set<string>();
    for (const [block, accounts] of history.entries()) {
      for (let n = 0; n < ADDRESSES; n++) {
        const request = { address: address(n), storageKeys: keys, stateRoot: state.root(block) };
        const answer = JSON.parse(JSON.stringify(state.prove(block, request.address, keys)));
        const verdict = verifyLineaProof(hasher, request, answer);
        if (!verdict.verified) throw new Error(`block ${block}, account ${n}: ${verdict.reason} at ${verdict.at}`);
        const expected = accounts[n];
        expect(verdict.account?.nonce).toBe(expected?.nonce);
        expect(verdict.account?.balance).toBe(expected?.balance);
        expect(verdict.nextFreeNode).toBe(state.nextFreeNode(block));
        expect(verdict.slots.map(({ value }) => value)).toEqual((expected?.slots ?? keys.map(() => 0)).map(word));
        shapes.add(`account ${verdict.account !== undefined}, items ${answer.storageProofs.length}`);
        for (const { exists, place } of verdict.slots) shapes.add(`slot ${exists} ${place !== undefined}`);
      }
    }
    expect([...shapes].sort()).toEqual([
      'account false, items 0',
      'account true, items 0',
      `account true, items ${KEYS}`,
      'slot false false',
      'slot false true',
      'slot true true',
    ]);
  });
});
