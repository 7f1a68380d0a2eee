import { beforeEach, describe, expect, test } from 'vitest';
import { TEST_TOKEN as token, tokenBalanceSlot } from '../../src/chain/devnet/state/dev-accounts.js';
import { bytesToHex, hexToBytes } from '../../src/primitives/hex.js';
import { attestedScene } from '../support/attested-chain.js';
import { accountAt, KeptStore, PRICE, stranger, word } from '../support/dev-node.js';
import type { Json } from '../support/lie-edits.js';
import { signTransaction, transferCalldata } from '../support/sign.js';

/*
 * A light node of a layer 1 whose one endpoint, or one consensus server, lies: it answers as the chain itself, or it does not answer.
 */

const holder = accountAt(0);
const slot = bytesToHex(tokenBalanceSlot(hexToBytes(holder)));
const VARIANTS = 200;

type Question = readonly [method: string, ...params: unknown[]];

/** Questions about a block, named as the node is asked, and as the chain itself is. */
function questions(hash: string): ((block: string) => Question)[] {
  const data = `0x70a08231${word(BigInt(holder)).slice(2)}`;
  const transfer = { from: accountAt(1), to: token, data: transferCalldata(stranger('77'), 5n) };
  return [
    (block) => ['eth_getBalance', holder, block],
    (block) => ['eth_getTransactionCount', holder, block],
    (block) => ['eth_getStorageAt', token, slot, block],
    (block) => ['eth_getCode', token, block],
    (block) => ['eth_call', { to: token, data }, block],
    (block) => ['eth_estimateGas', transfer, block],
    (block) => ['eth_createAccessList', transfer, block],
    (block) => ['eth_getBlockByNumber', block, true],
    (block) => ['eth_getBlockReceipts', block],
    (block) => ['eth_getProof', token, [slot], block],
    (block) => ['eth_getLogs', { fromBlock: block, toBlock: block }],
    () => ['eth_getTransactionReceipt', hash],
    () => ['eth_getTransactionByHash', hash],
  ];
}

/** What a node stores of the consensus that it has verified: the nodes of a test need not verify it again. */
async function consensusOf(open: Awaited<ReturnType<typeof attestedScene>>['open']) {
  const first = new KeptStore();
  const { node, ask } = await open({}, {}, { store: first });
  await ask('eth_blockNumber');
  await node.close();
  const keys = (await first.keys('finalizations')).map(String).filter((key) => key.startsWith('consensus '));
  const puts = await Promise.all(
    keys.map(
      async (key) => ({ table: 'finalizations', key, value: (await first.get('finalizations', key))! }) as const,
    ),
  );
  return async () => {
    const store = new KeptStore();
    await store.commit({ puts });
    return store;
  };
}

async function liedTo() {
  const scene = await attestedScene();
  const { dev, servers, carry, finalized, clock, slotNow } = scene;
  const fields = { to: token, data: transferCalldata(stranger('77'), 5n), gasLimit: 100_000n, ...PRICE };
  const hash = await dev.ask<string>(
    'eth_sendRawTransaction',
    signTransaction(0, { nonce: 0, chainId: 1337, ...fields }),
  );
  clock.advance(3_000);
  servers[0]!.attested = { block: await carry(slotNow() - 1, 7, finalized) };
  return { ...scene, hash, ask: questions(hash) };
}

/** The same sequence for the same seed. */
function randomOf(seed: number): (below: number) => number {
  let state = seed * 2_654_435_761 + 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

/** Places of all values below a place. */
function leaves(json: Json, path: readonly (string | number)[] = []): (string | number)[][] {
  if (typeof json !== 'object' || json === null) return [[...path]];
  const entries = Array.isArray(json) ? [...json.entries()] : Object.entries(json);
  return entries.flatMap(([name, inner]) => leaves(inner, [...path, name]));
}

/** A copy with one value another, missing, or null. */
function altered(json: Json, random: (below: number) => number): Json {
  const copy = structuredClone(json);
  const all = leaves(copy);
  const path = all[random(all.length)];
  if (path === undefined || path.length === 0)
    return typeof json === 'string' ? otherText(json, random) : random(2) === 0 ? null : '0x1';
  const last = path.pop()!;
  const at = path.reduce((inner, name) => inner[name], copy);
  const how = random(8);
  if (how === 0) at[last] = null;
  else if (how === 1 && Array.isArray(at)) at.splice(Number(last), 1);
  else if (how === 1) delete at[last];
  else at[last] = typeof at[last] === 'string' ? otherText(at[last], random) : true;
  return copy;
}

function otherText(text: string, random: (below: number) => number): string {
  if (text.length < 3) return `${text}1`;
  const at = 2 + random(text.length - 2);
  return `${text.slice(0, at)}${text[at] === '1' ? '2' : '1'}${text.slice(at + 1)}`;
}

let scene: Awaited<ReturnType<typeof liedTo>>;
beforeEach(async () => {
  scene = await liedTo();
});

/** The chain's own answer. @param block - number in hex */
const truthOf = ({ dev }: typeof scene, question: (block: string) => Question, block: string) => {
  const [method, ...params] = question(block);
  return dev.ask(method, ...params);
};

const zeroed = '0x0';
const inProof = (change: (proof: Json) => void) => (method: string, result: Json) => {
  if (method !== 'eth_getProof') return result;
  const copy = structuredClone(result);
  change(copy);
  return copy;
};

describe('the seven lies', () => {
  const about = (at: number) => (ask: ((block: string) => Question)[]) => ask[at]!;
  test.each([
    ['a storage value is another', about(2), inProof((proof) => (proof.storageProof[0].value = '0x7'))],
    [
      'a storage value is zero, with an empty proof',
      about(2),
      inProof((proof) => Object.assign(proof.storageProof[0], { value: zeroed, proof: [] })),
    ],
    ['a balance is another', about(0), inProof((proof) => (proof.balance = '0x7'))],
    [
      'a contract is missing',
      about(3),
      inProof((proof) => Object.assign(proof, { codeHash: `0x${'c5'.repeat(32)}`, nonce: zeroed, balance: zeroed })),
    ],
    [
      'code is other code',
      about(3),
      (method: string, result: Json) => (method === 'eth_getCode' ? '0x5f5ff3' : result),
    ],
    [
      'a slot is left out of the access list',
      about(4),
      (method: string, result: Json) => (method === 'eth_createAccessList' ? { ...result, accessList: [] } : result),
    ],
    [
      "a header's state root is forged",
      about(0),
      (method: string, result: Json) =>
        method.startsWith('eth_getBlockBy') ? { ...result, stateRoot: `0x${'ee'.repeat(32)}` } : result,
    ],
  ])('%s', async (_, of, lie) => {
    const { open, endpoints, ask } = scene;
    const question = of(ask);
    const truth = await truthOf(scene, question, '0x7');
    let told = 0;
    endpoints[0]!.options.tamper = ({ method }, result) => {
      const said = lie(method, result);
      if (said !== result) told++;
      return said;
    };
    const node = await open();
    const [method, ...params] = question('latest');
    const answer = await node.ask(method, ...params).catch((error: Error) => error);
    if (!(answer instanceof Error)) expect(answer).toEqual(truth);
    expect(told + (method === 'eth_call' ? 1 : 0)).toBeGreaterThan(0);
  });
});

test(`${VARIANTS} other lies of the endpoint`, async () => {
  const { open, endpoints, ask } = scene;
  const store = await consensusOf(open);
  const truths = new Map<string, unknown>();
  const counts = { told: 0, right: 0, refused: 0 };
  for (let seed = 0; seed < VARIANTS; seed++) {
    const random = randomOf(seed + 1);
    const at = seed % ask.length;
    const [tag, number] = seed % 3 === 0 ? ['finalized', '0x3'] : ['latest', '0x7'];
    const question = ask[at]!;
    const key = `${at} ${number}`;
    if (!truths.has(key)) truths.set(key, await truthOf(scene, question, number!));
    // Sometimes all answers of a kind are false, sometimes one.
    const every = 1 + random(3);
    let asked = 0;
    endpoints[0]!.options.tamper = (_, result) => {
      if (++asked % every !== 0 || result === null) return result;
      counts.told++;
      return altered(result, random);
    };
    const { node, ask: askNode } = await open({}, {}, { store: await store() });
    const [method, ...params] = question(tag!);
    const answer = await askNode(method, ...params).catch((error: Error) => error);
    if (answer instanceof Error) counts.refused++;
    else {
      expect(answer, `${seed}: ${method}`).toEqual(truths.get(key));
      counts.right++;
    }
    await node.close();
  }
  expect(counts.told).toBeGreaterThan(VARIANTS);
  // Both happen, or nothing was tested.
  expect(counts.right).toBeGreaterThan(VARIANTS / 20);
  expect(counts.refused).toBeGreaterThan(VARIANTS / 4);
});

test('60 lies of a consensus server', async () => {
  const { open, servers, dev } = scene;
  const heads = new Map(
    await Promise.all(
      ['0x3', '0x7'].map(async (number) => [number, await dev.ask('eth_getBlockByNumber', number, false)] as const),
    ),
  );
  const counts = { right: 0, refused: 0 };
  for (let seed = 0; seed < 60; seed++) {
    const random = randomOf(seed + 1);
    const route = ['/optimistic_update', '/finality_update', '/bootstrap/'][seed % 3]!;
    servers[0]!.beacon.tamper = (path, answer) =>
      path.includes(route) ? { ...answer, body: altered(answer.body, random) } : answer;
    const { node, ask } = await open();
    for (const tag of ['latest', 'finalized']) {
      const answer = await ask('eth_getBlockByNumber', tag, false).catch((error: Error) => error);
      if (answer instanceof Error) counts.refused++;
      else {
        // A head that is older is no lie: the bootstrap's own block, which the node trusts, may be what is left.
        expect(answer, `${seed} ${tag}`).toEqual(
          heads.get(answer.number) ?? (await dev.ask('eth_getBlockByNumber', '0x2', false)),
        );
        counts.right++;
      }
    }
    await node.close();
  }
  expect(counts.right).toBeGreaterThan(10);
  expect(counts.refused).toBeGreaterThan(10);
});
