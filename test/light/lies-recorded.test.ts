import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { GenesisAccount } from '../../src/chain/devnet/state/genesis.js';
import type { Hex } from '../../src/primitives/hex.js';
import { fixtureJson, hasFixture } from '../support/fixtures.js';
import { type Lie, openStage, otherDigit, otherQuantity, type Question, type Stage } from '../support/liar.js';

interface RecordedState {
  readonly preState: Record<Hex, { nonce?: Hex; balance?: Hex; code?: Hex; storage?: Record<Hex, Hex> }>;
}

/** What one recorded block touches of the state before it, under a root of its own: the whole state is not recorded. */
const BLOCK = 'blocks/linea-mainnet-28279154.json';
const { preState } = hasFixture(BLOCK) ? fixtureJson<RecordedState>(BLOCK) : { preState: {} };
const accounts = Object.entries(preState) as [Hex, RecordedState['preState'][Hex]][];
const alloc = Object.fromEntries(
  accounts.map(([address, { nonce = '0x0', balance = '0x0', ...rest }]): [Hex, GenesisAccount] => [
    address,
    { nonce: BigInt(nonce), balance: BigInt(balance), ...rest },
  ]),
);
const coded = accounts.filter(([, { code }]) => code !== undefined && code !== '0x');
/** Slots that are not zero, of any account. */
const slots = coded.flatMap(([address, { storage = {} }]) =>
  Object.entries(storage).flatMap(([slot, value]) => (BigInt(value) === 0n ? [] : [[address, slot as Hex] as const])),
);

const at = <T>(list: readonly T[], variant: number): T => list[(variant * 3) % list.length]!;
const slotQuestion = (variant: number): Question => ['eth_getStorageAt', ...at(slots, variant), 'latest'];
const LIES: Lie[] = [
  {
    name: 'a storage value',
    ask: slotQuestion,
    tell: ({ method }, result, pick) => {
      if (method !== 'eth_getProof' || result.storageProof.length === 0) return undefined;
      const [slot] = result.storageProof;
      slot.value = otherQuantity(slot.value, pick);
      return result;
    },
    alone: { check: /^VALUE_MISMATCH$/, what: /^account 0x/, at: /^storageProof\[0\]\.value$/ },
  },
  {
    name: 'an empty storage proof',
    ask: slotQuestion,
    tell: ({ method }, result) => {
      if (method !== 'eth_getProof' || result.storageProof.length === 0) return undefined;
      Object.assign(result.storageProof[0], { value: '0x0', proof: [] });
      return result;
    },
    alone: { check: /^NODE_MISSING$/, what: /^account 0x/, at: /^storageProof\[0\]\.proof$/ },
  },
  {
    name: 'an account "missing"',
    ask: (variant) => ['eth_getBalance', at(accounts, variant)[0], 'latest'],
    tell: ({ method, params }, result, _, variant) =>
      method === 'eth_getProof' && params[0] === at(accounts, variant)[0]
        ? { ...result, nonce: '0x0', balance: '0x0', accountProof: result.accountProof.slice(0, -1) }
        : undefined,
    alone: { check: /^NODE_MISSING$/, what: /^account 0x/, at: /^accountProof$/ },
  },
  {
    name: 'code',
    ask: (variant) => ['eth_getCode', at(coded, variant)[0], 'latest'],
    tell: ({ method }, result, pick) => (method === 'eth_getCode' ? otherDigit(result, pick) : undefined),
    alone: { check: /^CODE_HASH_MISMATCH$/, what: /^code of 0x/ },
  },
];

describe.skipIf(!hasFixture(BLOCK))('lies about the touched state of a recorded block', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage(async () => {}, { chain: { kind: 'devnet', alloc } });
  });
  afterAll(() => stage.close());

  test.each(LIES.map((lie) => [lie.name, lie] as const))('%s', async (_, lie) => {
    expect(await stage.check(lie)).toEqual([]);
  });
});
