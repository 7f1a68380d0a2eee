import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TEST_TOKEN as token, tokenBalanceSlot } from '../../src/chain/devnet/state/dev-accounts.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { accountAt, PRICE, stranger, word } from '../support/dev-node.js';
import {
  type Answer,
  aboutAccount,
  forgedRevert,
  inProof,
  type Lie,
  openStage,
  otherDigit,
  otherQuantity,
  type Pick,
  type Question,
  type Stage,
} from '../support/liar.js';
import { signTransaction, transferCalldata } from '../support/sign.js';

const holder = accountAt(0);
const slotOf = (address: Hex) => bytesToHex(tokenBalanceSlot(hexToBytes(address)));
const balanceOf = (address: Hex): Question => [
  'eth_call',
  { to: token, data: `0x70a08231${word(BigInt(address)).slice(2)}` },
  'latest',
];
const estimate: Question = [
  'linea_estimateGas',
  { from: holder, to: token, data: transferCalldata(stranger('77'), 5n) },
];

async function history(dev: PlumblineNode): Promise<void> {
  const data = transferCalldata(stranger('77'), 5n);
  for (const fields of [
    { to: token, data },
    { to: stranger('11'), value: 3n },
  ]) {
    const nonce = await dev.request({ method: 'eth_getTransactionCount', params: [holder, 'latest'] });
    const raw = signTransaction(0, { nonce: Number(nonce), gasLimit: 100_000n, ...PRICE, ...fields });
    await dev.request({ method: 'eth_sendRawTransaction', params: [raw] });
  }
}

const CUT = /^NODE_(MISSING|HASH_MISMATCH)$/;
/** Questions that need the account of the token, its code and a slot of it. */
const tokenQuestion = (variant: number): Question =>
  [balanceOf(holder), estimate, ['eth_getStorageAt', token, slotOf(holder), 'latest'] as const][variant % 3]!;
const balance: Question = ['eth_getBalance', holder, 'latest'];
/** Another digit of one node of a list. */
function otherNode(nodes: Answer, pick: Pick): void {
  const at = pick(nodes.length);
  nodes[at] = otherDigit(nodes[at], pick);
}

const LIES: Lie[] = [
  {
    name: 'an error with code 3 and data',
    ask: (variant) =>
      [
        balanceOf(holder),
        estimate,
        balance,
        ['eth_getStorageAt', token, slotOf(holder), 'latest'] as const,
        ['eth_getProof', token, [], 'latest'] as const,
      ][variant % 5]!,
    tell: ({ method }, _, pick) => (method === 'eth_getProof' ? forgedRevert(pick) : undefined),
    alone: {
      check: /^UPSTREAM_ERROR$/,
      what: /^http:\/\/127\.0\.0\.1:\d+(:| answered eth_\w+ of block \w+ with error 3, it says ")execution reverted: forged"?$/,
    },
  },
  {
    name: 'an error with code 3 and data in place of code',
    ask: (variant) =>
      [['eth_getCode', token, 'latest'] as const, balanceOf(accountAt(variant)), estimate][variant % 3]!,
    tell: ({ method }, _, pick) => (method === 'eth_getCode' ? forgedRevert(pick) : undefined),
    alone: { check: /^UPSTREAM_ERROR$/, what: /it says "execution reverted: forged"$/ },
  },
  {
    name: 'a storage value',
    ask: tokenQuestion,
    tell: inProof(token, (proof, pick) => {
      for (const slot of proof.storageProof) slot.value = otherQuantity(slot.value, pick);
    }),
    alone: { check: /^VALUE_MISMATCH$/, what: aboutAccount(token), at: /^storageProof\[\d+\]\.value$/ },
  },
  {
    name: 'a storage value and its leaf',
    ask: tokenQuestion,
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
    name: 'an empty storage proof',
    ask: (variant) =>
      variant % 2 === 0
        ? ['eth_getStorageAt', token, slotOf(accountAt(variant)), 'latest']
        : balanceOf(accountAt(variant)),
    tell: inProof(token, (proof) => {
      for (const slot of proof.storageProof) Object.assign(slot, { value: '0x0', proof: [] });
    }),
    alone: { check: /^NODE_MISSING$/, what: aboutAccount(token), at: /^storageProof\[\d+\]\.proof$/ },
  },
  {
    name: 'storage proofs left out',
    ask: (variant) => balanceOf(accountAt(variant)),
    tell: inProof(token, (proof, pick) => {
      if (proof.storageProof.length > 0) proof.storageProof.splice(pick(proof.storageProof.length), 1);
    }),
    alone: { check: /^SLOT_COUNT_MISMATCH$/, what: aboutAccount(token), at: /^storageProof$/ },
  },
  {
    name: 'a balance',
    ask: balance,
    tell: inProof(holder, (proof, pick) => {
      proof.balance = otherQuantity(proof.balance, pick);
    }),
    alone: { check: /^VALUE_MISMATCH$/, what: aboutAccount(holder), at: /^balance$/ },
  },
  {
    name: 'a nonce',
    ask: (variant) => (variant % 2 === 0 ? ['eth_getTransactionCount', holder, 'latest'] : estimate),
    tell: inProof(holder, (proof, pick) => {
      proof.nonce = otherQuantity(proof.nonce, pick);
    }),
    alone: { check: /^VALUE_MISMATCH$/, what: aboutAccount(holder), at: /^nonce$/ },
  },
  {
    name: 'a node of an account proof',
    ask: (variant) => (variant % 2 === 0 ? balance : ['eth_getProof', holder, [], 'latest']),
    tell: inProof(holder, (proof, pick) => otherNode(proof.accountProof, pick)),
    alone: { check: /^NODE_HASH_MISMATCH$/, what: aboutAccount(holder), at: /^accountProof\[\d+\]$/ },
  },
  {
    name: 'code',
    ask: (variant) => [['eth_getCode', token, 'latest'] as const, balanceOf(holder), estimate][variant % 3]!,
    tell: ({ method, params }, result, pick) =>
      method === 'eth_getCode' && params[0] === token ? otherDigit(result, pick) : undefined,
    alone: { check: /^CODE_HASH_MISMATCH$/, what: new RegExp(`^code of ${token}$`, 'i') },
  },
  {
    name: 'no code, or more of it',
    ask: (variant) => [['eth_getCode', token, 'latest'] as const, balanceOf(accountAt(variant))][variant % 2]!,
    tell: ({ method, params }, result, _, variant) => {
      if (method !== 'eth_getCode' || params[0] !== token) return undefined;
      return variant === 0
        ? '0x'
        : variant % 2 === 0
          ? `${result}${'00'.repeat(variant)}`
          : result.slice(0, -2 * variant);
    },
    alone: { check: /^CODE_HASH_MISMATCH$/, what: new RegExp(`^code of ${token}$`, 'i') },
  },
  {
    name: 'an account "missing"',
    ask: (variant) => ['eth_getBalance', accountAt(variant), 'latest'],
    tell: ({ method }, result, _, variant) => {
      if (method !== 'eth_getProof' || result.address.toLowerCase() !== accountAt(variant).toLowerCase())
        return undefined;
      const accountProof = variant % 2 === 0 ? result.accountProof.slice(0, -1) : [];
      return { ...result, nonce: '0x0', balance: '0x0', codeHash: word(0n), storageHash: word(0n), accountProof };
    },
    alone: { check: CUT, what: /^account 0x[0-9a-f]{40}$/, at: /^accountProof/ },
  },
  {
    name: 'an account that is not there',
    ask: (variant) => ['eth_getBalance', stranger(`e${variant}`), 'latest'],
    tell: ({ method }, result, pick, variant) =>
      method === 'eth_getProof' && result.address === stranger(`e${variant}`)
        ? { ...result, balance: otherQuantity(result.balance, pick) }
        : undefined,
    alone: { check: /^VALUE_MISMATCH$/, what: /^account 0x(e\d)+$/, at: /^balance$/ },
  },
  {
    name: 'the proof of another account',
    ask: (variant) => ['eth_getBalance', accountAt(variant), 'latest'],
    tell: ({ method }, result, _, variant) =>
      method === 'eth_getProof' && result.address.toLowerCase() === accountAt(variant).toLowerCase()
        ? { ...others.get(accountAt((variant + 1) % 10).toLowerCase())!, address: result.address }
        : undefined,
    alone: { check: /^NODE_/, what: /^account/, at: /^accountProof/ },
  },
  {
    name: 'an access list with a slot missing',
    ask: (variant) => [
      'linea_estimateGas',
      { from: accountAt(variant), to: token, data: transferCalldata(stranger('77'), 5n) },
    ],
    tell: ({ method }, result, pick) => {
      if (method !== 'eth_createAccessList') return undefined;
      const entry = result.accessList.find(({ storageKeys }: { storageKeys: Hex[] }) => storageKeys.length > 0);
      entry.storageKeys.splice(pick(entry.storageKeys.length), 1);
      return result;
    },
    alone: 'right',
  },
  {
    name: 'an access list of other slots and accounts, or none',
    ask: (variant) => [
      'linea_estimateGas',
      { from: accountAt(variant), to: token, data: transferCalldata(stranger('77'), 5n) },
    ],
    tell: ({ method }, _, pick, variant) => {
      if (method !== 'eth_createAccessList') return undefined;
      const entry = { address: stranger(`c${pick(10)}`), storageKeys: [word(BigInt(pick(99)))] };
      return [{ accessList: [] }, { accessList: [entry] }, null, { accessList: [{ address: '0x' }] }, 'no'][
        variant % 5
      ];
    },
    alone: 'right',
  },
];
/** True proofs of the accounts, for the one that is put in place of another. */
const others = new Map<string, object>();

describe('lies about the state', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage(history);
    for (let i = 0; i < 10; i++) {
      const proof = (await stage.truth(['eth_getProof', accountAt(i), [], 'latest'])) as object;
      others.set(accountAt(i).toLowerCase(), proof);
    }
  });
  afterAll(() => stage.close());

  test.each(LIES.map((lie) => [lie.name, lie] as const))('%s', async (_, lie) => {
    expect(await stage.check(lie)).toEqual([]);
  });
});
