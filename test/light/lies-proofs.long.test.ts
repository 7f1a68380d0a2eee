import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TEST_TOKEN as token, tokenBalanceSlot } from '../../src/chain/devnet/state/dev-accounts.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { devnet } from '../../src/networks/devnet.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { accountAt, KeptStore, PRICE, stranger, word } from '../support/dev-node.js';
import {
  type Answer,
  forgedRevert,
  type Lie,
  openStage,
  otherDigit,
  otherQuantity,
  type Pick,
  type Question,
  type Stage,
  type Tell,
} from '../support/liar.js';
import { serveMock } from '../support/mock-chain.js';
import { signTransaction } from '../support/sign.js';

const BLOCKS = 14;
const slotOf = (address: Hex) => bytesToHex(tokenBalanceSlot(hexToBytes(address)));

async function history(dev: PlumblineNode): Promise<void> {
  for (let nonce = 0; nonce < BLOCKS; nonce++) {
    const fields = { to: stranger('11'), value: 3n, gasLimit: 21_000n, ...PRICE };
    await dev.request({ method: 'eth_sendRawTransaction', params: [signTransaction(0, { nonce, ...fields })] });
  }
}

/** A proof of an account with two slots, of which one is there. */
const present: Question = ['linea_getProof', token, [slotOf(accountAt(0)), word(99n)], 'latest'];
const absent = (variant: number): Question => ['linea_getProof', stranger(`${variant}e`), [], 'latest'];
const inProof =
  (change: (proof: Answer, pick: Pick, variant: number) => Answer): Tell =>
  ({ method }, result, pick, variant) =>
    method === 'linea_getProof' ? change(result, pick, variant) : undefined;
const zkProof = /^zk proof of 0x[0-9a-f]{40}$/;
const anyCheck = /^[A-Z]+(_[A-Z]+)+$/;

const ZK_LIES: Lie[] = [
  {
    name: 'an error with code 3 and data',
    ask: (variant) => (variant % 2 === 0 ? present : absent(variant)),
    tell: ({ method }, _, pick) => (method === 'linea_getProof' ? forgedRevert(pick) : undefined),
    alone: { check: /^UPSTREAM_ERROR$/, what: /it says "execution reverted: forged"$/ },
  },
  {
    name: 'the account in a zk proof',
    ask: present,
    tell: inProof((proof, pick) => {
      const branch = proof.accountProof.proof;
      branch.value = otherDigit(branch.value, pick, branch.value.length - 8);
      return proof;
    }),
    alone: { check: /^(VALUE_MISMATCH|NOT_CANONICAL)$/, what: zkProof, at: /^accountProof\.proof/ },
  },
  {
    name: 'a slot in a zk proof',
    ask: present,
    tell: inProof((proof, pick) => {
      const branch = proof.storageProofs[0].proof;
      branch.value = otherDigit(branch.value, pick, branch.value.length - 8);
      return proof;
    }),
    alone: { check: /^VALUE_MISMATCH$/, what: zkProof, at: /^storageProofs\[0\]\.proof/ },
  },
  {
    name: 'a node of a zk proof',
    ask: present,
    tell: inProof((proof, pick) => {
      const nodes = [proof.accountProof.proof, proof.storageProofs[0].proof][pick(2)].proofRelatedNodes;
      const at = 1 + pick(nodes.length - 1);
      nodes[at] = otherDigit(nodes[at], pick, nodes[at].length - 8);
      return proof;
    }),
    alone: { check: anyCheck, what: /^(zk proof of|malformed)/, at: /^(accountProof|storageProofs)/ },
  },
  {
    name: 'the neighbour of an absent key',
    ask: absent,
    tell: inProof((proof, pick) => {
      const side = ['leftProof', 'rightProof'][pick(2)]!;
      const leaf = proof.accountProof[side].proofRelatedNodes;
      leaf[41] = otherDigit(leaf[41], pick, leaf[41].length - 8);
      return proof;
    }),
    alone: { check: anyCheck, what: zkProof, at: /^accountProof\.(left|right)Proof/ },
  },
  {
    name: 'the neighbours of another key',
    ask: absent,
    tell: inProof((proof, _, variant) => {
      const rest = (proofs as Answer[]).slice(10, 20).filter(({ accountProof }) => {
        return accountProof.leftLeafIndex !== proof.accountProof.leftLeafIndex;
      });
      const other = rest[variant % rest.length];
      return { ...proof, accountProof: { ...other.accountProof, key: proof.accountProof.key } };
    }),
    alone: { check: /^LEAF_ORDER_BROKEN$/, what: zkProof, at: /^accountProof/ },
  },
  {
    name: 'the leaf index of a zk proof',
    ask: present,
    tell: inProof((proof, pick) => {
      const item = [proof.accountProof, proof.storageProofs[0]][pick(2)];
      item.leafIndex += 1 + pick(1000);
      return proof;
    }),
    alone: { check: /^PATH_MISMATCH$/, what: zkProof, at: /(accountProof|storageProofs\[0\])/ },
  },
  {
    name: 'the root of a zk proof',
    ask: present,
    tell: inProof((proof, pick) => {
      const nodes = proof.accountProof.proof.proofRelatedNodes;
      // Of the last word, but not of its first byte: the word stays below the modulus.
      nodes[0] = otherDigit(nodes[0], pick, nodes[0].length - 6);
      return proof;
    }),
    alone: { check: /^ROOT_MISMATCH$/, what: zkProof, at: /^accountProof\.proof/ },
  },
  {
    name: 'the zk proof of another block',
    ask: present,
    tell: inProof((_, __, variant) => proofs[variant]),
    alone: { check: /^ROOT_MISMATCH$/, what: zkProof, at: /^accountProof\.proof/ },
  },
  {
    name: 'the zk proof of another account',
    ask: (variant) => ['linea_getProof', accountAt(variant), [], 'latest'],
    tell: inProof((_, __, variant) => proofs[20 + ((variant + 1) % 10)]),
    alone: { check: /^KEY_MISMATCH$/, what: zkProof, at: /^accountProof/ },
  },
];
/** True proofs for what is put in place: of the first ten blocks, of ten absent accounts, of the dev accounts. */
const proofs: unknown[] = [];

const isCall = ({ method, params }: { method: string; params: readonly unknown[] }, selector: string) =>
  method === 'eth_call' && (params[0] as { data: string }).data.startsWith(selector);
const [CURRENT, ROOT] = ['0x695378f5', '0x8be745d1'] as const;
const overProof = { chain: { proveLayerOne: true } } as const;

const L1_LIES: Lie[] = [
  {
    name: 'the root of another block by layer 1',
    by: 'l1',
    ask: present,
    tell: (call, _, __, variant) => (isCall(call, ROOT) ? roots[variant] : undefined),
    alone: { check: /^ROOT_MISMATCH$/, what: zkProof },
    beside: { check: /^ROOT_MISMATCH$/, what: zkProof },
  },
  {
    name: 'the root of another block by one of two that have to agree',
    by: 'l1',
    ask: present,
    tell: (call, _, __, variant) => (isCall(call, ROOT) ? roots[variant] : undefined),
    alone: { check: /^UPSTREAM_DISAGREEMENT$/, what: /no two endpoints agree, but 2 must/ },
    withOne: true,
    honest: 2,
    chain: { layerOneAgreeing: 2 },
  },
  {
    name: 'a block by layer 1 that is not finalized',
    by: 'l1',
    ask: present,
    tell: (call, result, _, variant) =>
      isCall(call, CURRENT) ? word(BigInt(result) + 1n + BigInt(variant)) : undefined,
    alone: { check: /^ROOT_MISSING$/, what: /^rollup contract$/ },
    beside: { check: /^ROOT_MISSING$/, what: /^rollup contract$/ },
  },
  {
    name: 'a header of layer 1',
    by: 'l1',
    ask: present,
    tell: ({ method }, result, pick) =>
      method === 'eth_getBlockByNumber' ? { ...result, stateRoot: otherDigit(result.stateRoot, pick) } : undefined,
    alone: { check: /^HASH_MISMATCH$/, what: /^layer-1 header$/, at: /^hash$/ },
  },
  {
    name: 'a proof of layer 1 at another block',
    by: 'l1',
    ask: present,
    tell: ({ method, params }, _, __, variant) =>
      method === 'eth_getProof' ? anchors.get(`${variant} ${(params[1] as Hex[]).length}`) : undefined,
    alone: { check: /^(NODE_HASH_MISMATCH|KEY_MISMATCH|L1_[A-Z_]+|ROOT_[A-Z_]+)$/, what: /^rollup contract$/ },
    ...overProof,
  },
  {
    name: 'a value in a proof of layer 1',
    by: 'l1',
    ask: present,
    tell: ({ method }, result, pick) => {
      if (method !== 'eth_getProof') return undefined;
      for (const slot of result.storageProof) slot.value = otherQuantity(slot.value, pick);
      return result;
    },
    alone: { check: /^VALUE_MISMATCH$/, what: /^rollup contract$/, at: /^storageProof\[\d\]\.value$/ },
    ...overProof,
  },
];
/** What layer 1 said of earlier blocks: roots of the first ten, and proofs of the rollup contract at ten of its own. */
const roots: Hex[] = [];
const anchors = new Map<string, unknown>();

describe('lies about the zk state and layer 1', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage(history);
    const { dev } = stage;
    const ask = (...question: Question) => stage.truth(question);
    for (let block = 1; block <= 10; block++)
      proofs.push(await ask(present[0], present[1], present[2], `0x${block.toString(16)}`));
    for (let i = 0; i < 10; i++) proofs.push(await ask('linea_getProof', stranger(`${i}d`), [], 'latest'));
    for (let i = 0; i < 10; i++) proofs.push(await ask('linea_getProof', accountAt(i), [], 'latest'));
    const to = dev.info.rollupAddress!;
    for (let at = 1; at <= 10; at++) {
      const l1 = (method: string, ...params: unknown[]) => dev.l1.request<UntypedMethod>({ method, params });
      roots.push((await l1('eth_call', { to, data: `${ROOT}${word(BigInt(at)).slice(2)}` }, 'latest')) as Hex);
      for (const slots of [[word(281n)], [word(281n), word(1n)]])
        anchors.set(`${at - 1} ${slots.length}`, await l1('eth_getProof', to, slots, `0x${at.toString(16)}`));
    }
  });
  afterAll(() => stage.close());

  test.each([...ZK_LIES, ...L1_LIES].map((lie) => [lie.name, lie] as const))('%s', async (_, lie) => {
    expect(await stage.check(lie)).toEqual([]);
  });

  test('a false root of layer 1 is forgotten once it has led to a refusal', async () => {
    const l1 = await serveMock(stage.dev.l1);
    const l2 = await serveMock(stage.dev);
    const store = new KeptStore();
    const chain = { kind: 'light', network: devnet(), endpoints: [l2.url], layerOne: [l1.url] } as const;
    const node = await createInlineNode({ chain, store });
    const [method, ...params] = present;
    l1.options.tamper = (call, result) => (isCall(call, ROOT) ? roots[0] : result);
    await expect(node.request<UntypedMethod>({ method, params })).rejects.toThrow(/zk proof of/);
    delete l1.options.tamper;
    expect(await node.request<UntypedMethod>({ method, params })).toEqual(await stage.truth(present));
    await node.close();
    await Promise.all([l1.close(), l2.close()]);
  });
});
