import { describe, expect, test } from 'vitest';
import { ZkProofs } from '../../src/chain/light/settlement/zk-proofs.js';
import { CodeCache, ProvedStates } from '../../src/chain/light/state/proved-state.js';
import { devnet } from '../../src/networks/devnet.js';
import { bytesToKey } from '../../src/primitives/bytes.js';
import type { EndpointGroup } from '../../src/upstream/group.js';
import { fixtureJson } from '../support/fixtures.js';
import { hasherOf } from '../support/mock-shomei-scene.js';
import { type AnswerFixture, requestOf } from '../support/proof-fixtures.js';

describe('proved states', () => {
  const root = new Uint8Array(32).fill(1);
  const address = new Uint8Array(20).fill(2);
  const account = { nonce: 0n, balance: 0n, storageRoot: root, codeHash: root };
  const slotOf = (n: number) =>
    new Uint8Array(32)
      .fill(n & 255, 31)
      .fill(n >> 8, 30, 31)
      .fill(n >> 16, 29, 30);
  const prove = (first: number, count: number) => {
    const slots = Array.from({ length: count }, (_, i) => [bytesToKey(slotOf(first + i)), root] as const);
    return new Map([[bytesToKey(address), { account, slots: new Map(slots) }]]);
  };

  test('a state that has grown too large is replaced; its users keep all of it', () => {
    const states = new ProvedStates(new CodeCache());
    const held = states.at(root);
    held.take(prove(0, 1000));
    expect(states.at(root)).toBe(held);
    held.take(prove(1000, 40_000));
    expect(states.at(root)).not.toBe(held);
    expect(states.at(root).size).toBe(0);
    expect(held.slot(address, slotOf(0))).toEqual(root);
    expect(held.slot(address, slotOf(40_999))).toEqual(root);
  });
});

describe('zk proofs', () => {
  const fixture = fixtureJson<AnswerFixture>('state/getproof/generated-poseidon2-account-and-slots.json');

  /** The same answer for whatever is asked, and how often it was. */
  function recorded(keptBytes?: number) {
    let asked = 0;
    const request = async (_method: string, _params: unknown, { accept }: { accept: (answer: unknown) => unknown }) => {
      asked++;
      const answer = structuredClone(fixture.result) as { accountProof: unknown };
      const accepted = accept(answer);
      // A provider in the page holds its answer, too.
      answer.accountProof = undefined;
      return accepted;
    };
    const upstream = { request } as unknown as EndpointGroup;
    const zkProofs = new ZkProofs({ network: devnet(), upstream, table: undefined, keptBytes, loadHasher: hasherOf });
    const { stateRoot: root, ...question } = requestOf(fixture);
    return { prove: (number: number) => zkProofs.prove(question, { number, root }), asked: () => asked };
  }

  test('what was verified is what is given', async () => {
    expect(await recorded().prove(1)).toEqual(fixture.result);
  });

  test('the least recently used one is dropped first', async () => {
    // Room for four, with their keys.
    const { prove, asked } = recorded(4.5 * JSON.stringify(fixture.result).length);
    for (let number = 1; number <= 4; number++) await prove(number);
    await prove(1);
    expect(asked()).toBe(4);
    await prove(5);
    await prove(1);
    expect(asked()).toBe(5);
    await prove(2);
    expect(asked()).toBe(6);
  });

  test('they are limited in bytes: one that is longer than the limit is not kept', async () => {
    const { prove, asked } = recorded(JSON.stringify(fixture.result).length - 1);
    expect(await prove(1)).toEqual(fixture.result);
    expect(await prove(1)).toEqual(fixture.result);
    expect(asked()).toBe(2);
  });
});
