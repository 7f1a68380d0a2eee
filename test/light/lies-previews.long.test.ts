import { keccak_256 } from '@noble/hashes/sha3.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { concatBytes } from '../../src/primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { toQuantity } from '../../src/primitives/quantity.js';
import { contracts } from '../support/contracts.js';
import { accountAt, stranger, word } from '../support/dev-node.js';
import {
  aboutAccount,
  forgedRevert,
  inProof,
  type Lie,
  openStage,
  otherDigit,
  otherQuantity,
  type Question,
  type Stage,
} from '../support/liar.js';
import { transferCalldata } from '../support/sign.js';

const holder = accountAt(0);
const receiver = stranger('77');
const token = stranger('70');
const SYMBOL = word(1n);
const DECIMALS = word(2n);
const slotOf = (address: Hex) =>
  bytesToHex(keccak_256(concatBytes(hexToBytes(word(BigInt(address))), hexToBytes(word(0n)))));

/** A preview of a transfer, of another amount in each variant. */
const ask = (variant: number): Question => [
  'previewTransaction',
  { from: holder, to: token, data: transferCalldata(receiver, BigInt(5 + variant)) },
];
/** Another value of one slot of the token. */
const ofSlot = (key: Hex) =>
  inProof(token, (proof, pick) => {
    for (const slot of proof.storageProof) if (slot.key === key) slot.value = otherQuantity(slot.value, pick);
  });
const slotRefused: Lie['alone'] = {
  check: /^VALUE_MISMATCH$/,
  what: aboutAccount(token),
  at: /^storageProof\[\d+\]\.value$/,
};

const LIES: Lie[] = [
  {
    name: 'the balance of the sender',
    ask,
    tell: inProof(holder, (proof, pick) => {
      proof.balance = otherQuantity(proof.balance, pick);
    }),
    alone: { check: /^VALUE_MISMATCH$/, what: aboutAccount(holder), at: /^balance$/ },
  },
  {
    name: 'the nonce of the sender',
    ask,
    tell: inProof(holder, (proof, pick) => {
      proof.nonce = otherQuantity(proof.nonce, pick);
    }),
    alone: { check: /^VALUE_MISMATCH$/, what: aboutAccount(holder), at: /^nonce$/ },
  },
  {
    name: 'the balance of a receiver of ether, who is not there',
    ask: (variant) => ['previewTransaction', { from: holder, to: receiver, value: toQuantity(5 + variant) }],
    tell: inProof(receiver, (proof, pick) => {
      proof.balance = otherQuantity(proof.balance, pick);
    }),
    alone: { check: /^VALUE_MISMATCH$/, what: aboutAccount(receiver), at: /^balance$/ },
  },
  {
    name: 'the code of the token',
    ask,
    tell: ({ method, params }, result, pick) =>
      method === 'eth_getCode' && params[0] === token ? otherDigit(result, pick) : undefined,
    alone: { check: /^CODE_HASH_MISMATCH$/, what: new RegExp(`^code of ${token}$`, 'i') },
  },
  {
    name: 'the code hash of the token',
    ask,
    tell: inProof(token, (proof, pick) => {
      proof.codeHash = otherDigit(proof.codeHash, pick);
    }),
    alone: { check: /^VALUE_MISMATCH$/, what: aboutAccount(token), at: /^codeHash$/ },
  },
  { name: 'what the sender has of the token', ask, tell: ofSlot(slotOf(holder)), alone: slotRefused },
  { name: 'what the receiver has of the token', ask, tell: ofSlot(slotOf(receiver)), alone: slotRefused },
  { name: 'the symbol of the token', ask, tell: ofSlot(SYMBOL), alone: slotRefused },
  { name: 'the decimals of the token', ask, tell: ofSlot(DECIMALS), alone: slotRefused },
  {
    name: 'a slot of the token and its leaf',
    ask,
    tell: inProof(token, (proof, pick) => {
      for (const slot of proof.storageProof) {
        if (slot.proof.length === 0) continue;
        const leaf = slot.proof.at(-1);
        slot.proof.splice(-1, 1, otherDigit(leaf, pick, leaf.length - 8));
        slot.value = otherQuantity(slot.value, pick);
      }
    }),
    alone: { check: /^NODE_HASH_MISMATCH$/, what: aboutAccount(token), at: /^storageProof\[\d+\]\.proof\[\d+\]$/ },
  },
  {
    name: 'slots left out',
    ask,
    tell: inProof(token, (proof) => {
      proof.storageProof.pop();
    }),
    alone: { check: /^SLOT_COUNT_MISMATCH$/, what: aboutAccount(token), at: /^storageProof$/ },
  },
  {
    name: 'a revert in place of a proof or of code',
    ask,
    tell: ({ method }, _, pick, variant) =>
      method === (variant % 2 === 0 ? 'eth_getProof' : 'eth_getCode') ? forgedRevert(pick) : undefined,
    alone: { check: /^UPSTREAM_ERROR$/, what: /it says "execution reverted: forged"$/ },
  },
  {
    name: 'the header',
    ask,
    tell: ({ method, params }, result, pick, variant) => {
      if (method !== 'eth_getBlockByNumber' || params[0] !== 'latest') return undefined;
      const field = ['stateRoot', 'timestamp', 'miner', 'baseFeePerGas', 'mixHash'][variant % 5]!;
      const value = result[field];
      return { ...result, [field]: value.length > 20 ? otherDigit(value, pick) : otherQuantity(value, pick) };
    },
    alone: { check: /^(HASH_MISMATCH|OTHER_BLOCK)$/, what: /^header$/ },
    honest: 2,
  },
];

describe('lies about what a preview reads', () => {
  let stage: Stage;
  beforeAll(async () => {
    const { Named } = await contracts();
    const symbol = `0x${Buffer.from('NAMED').toString('hex').padEnd(62, '0')}0a` as const;
    const storage = { [slotOf(holder)]: word(1_000n), [SYMBOL]: symbol, [DECIMALS]: word(6n) };
    const alloc = { [token]: { nonce: 1n, code: Named!.runtimeCode, storage } };
    stage = await openStage(async () => {}, { chain: { kind: 'devnet', alloc } });
  });
  afterAll(() => stage.close());

  test('the preview that is asked for shows all that is lied about', async () => {
    expect(await stage.truth(ask(0))).toMatchObject({
      calls: [{ status: 'success', transfers: [{ from: holder, to: receiver, amount: '0x5' }] }],
      tokens: { [token]: { symbol: 'NAMED', decimals: 6 } },
      warnings: [{ code: 'new-recipient', severity: 'note', address: receiver }],
    });
  });

  test.each(LIES.map((lie) => [lie.name, lie] as const))('%s', async (_, lie) => {
    expect(await stage.check(lie)).toEqual([]);
  });
});
