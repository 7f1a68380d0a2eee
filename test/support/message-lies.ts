import { expect } from 'vitest';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { ClaimPreparation, MessageList } from '../../src/messages/withdrawal.js';
import type { Hex } from '../../src/primitives/hex.js';
import { stranger, word } from './dev-node.js';
import type { Json } from './lie-edits.js';
import { hashOf, messageRecord, messageScene, type TestMessage, treeOf } from './message-scene.js';
import type { SeenCall } from './mock-chain.js';
import { seededRandom } from './random.js';

/*
 * Messages and claims where an endpoint of either layer lies. What a node says then is what it says of the true chain, or less: an error,
 * `notFound` in blocks that do not have the message, or `notAnchored`.
 */

const ALICE = stranger('a1');
const message = (nonce: number, more: Partial<TestMessage> = {}): TestMessage => ({
  from: stranger('f0'),
  to: ALICE,
  fee: 0n,
  value: BigInt(nonce) * 10n ** 15n,
  nonce: BigInt(nonce),
  data: '0x',
  ...more,
});
const MESSAGES: readonly (readonly TestMessage[])[] = [
  [message(1), message(2, { data: '0x01' })],
  [message(3), message(4), message(5)],
  Array.from({ length: 32 }, (_, i) => message(6 + i)),
  [message(38)],
];
const all = MESSAGES.slice(1, 3).flat().map(hashOf);
const rootOf = (hashes: readonly Hex[]) => treeOf(hashes).at(-1)![0]!;
const ROOTS = [rootOf(all.slice(0, 32)), rootOf(all.slice(32))];
const FIRST_ROOT = rootOf(MESSAGES[0]!.map(hashOf));
/** The second tree of the second finalization has no root on layer 1. */
const FINALIZATIONS = [
  { first: 1, last: 1, roots: [FIRST_ROOT], anchored: [FIRST_ROOT], depth: 5 },
  { first: 2, last: 3, roots: ROOTS, anchored: ROOTS.slice(0, 1), depth: 5 },
];
const [ANCHORED, CLAIMED, UNANCHORED, UNFINAL, UNKNOWN] = [2, 4, 37, 38, 77].map((nonce) =>
  hashOf(message(nonce, nonce === 2 ? { data: '0x01' } : {})),
) as [Hex, Hex, Hex, Hex, Hex];
/** Block of each message. */
const BLOCK_OF = new Map([
  [ANCHORED, 1],
  [CLAIMED, 2],
  [UNANCHORED, 3],
  [UNFINAL, 4],
]);

type Change = (call: SeenCall, result: Json, random: (below: number) => number) => Json;

const of =
  (method: string, change: (result: Json, random: (below: number) => number, call: SeenCall) => Json): Change =>
  (call, result, random) =>
    call.method === method && result !== null ? change(result, random, call) : result;

function places(json: Json, path: readonly (string | number)[] = []): (string | number)[][] {
  if (typeof json !== 'object' || json === null) return [[...path]];
  return (Array.isArray(json) ? [...json.entries()] : Object.entries(json)).flatMap(([name, inner]) =>
    places(inner, [...path, name]),
  );
}

/** One value of an answer is another one, or is not there. */
function altered(json: Json, random: (below: number) => number): Json {
  const found = places(json);
  const path = found[random(found.length)];
  const last = path?.pop();
  if (path === undefined || last === undefined) return json === '0x1' ? null : '0x1';
  const at = path.reduce((inner, name) => inner[name], json);
  const text = at[last];
  if (random(6) === 0) delete at[last];
  else if (typeof text !== 'string' || text.length < 3) at[last] = typeof text === 'string' ? '0x7' : !text;
  else {
    const digit = 2 + random(text.length - 2);
    at[last] = `${text.slice(0, digit)}${text[digit] === '3' ? '4' : '3'}${text.slice(digit + 1)}`;
  }
  return json;
}

const shuffled = (list: Json[], random: (below: number) => number) => list.sort(() => random(3) - 1);
const logs = (change: (list: Json[], random: (below: number) => number) => Json) => of('eth_getLogs', change);
const receipts = (change: (list: Json[], random: (below: number) => number) => Json) =>
  of('eth_getBlockReceipts', change);
const inLogs = (change: (list: Json[], random: (below: number) => number) => Json) =>
  receipts((list, random) => list.map((one) => ({ ...one, logs: change(one.logs, random) })));

/** Lies of an endpoint of the rollup about logs. They are told in `eth_getLogs`, in receipts, or in both. */
const ABOUT_LOGS: readonly ((list: Json[], random: (below: number) => number) => Json)[] = [
  () => [],
  (list, random) => list.filter((_, i) => i !== random(list.length)),
  (list) => list.slice(1),
  (list) => [...list, ...list.slice(0, 1)],
  (list) => [...list].reverse().map((log, i) => ({ ...log, logIndex: `0x${i.toString(16)}` })),
  (list, random) => shuffled([...list], random),
  (list) => list.map((log) => ({ ...log, blockNumber: '0x3' })),
  (list) => list.map((log) => ({ ...log, topics: [...log.topics.slice(0, 3), UNKNOWN] })),
  (list) => list.map((log) => ({ ...log, topics: [...log.topics.slice(0, 3), ANCHORED] })),
  (list) => list.map((log) => ({ ...log, data: `${log.data.slice(0, -1)}1` })),
  (list) => list.map((log) => ({ ...log, address: stranger('99') })),
  (list, random) => altered(list, random),
];
const OF_ROLLUP: readonly Change[] = [
  ...ABOUT_LOGS.flatMap((change) => [
    logs(change),
    inLogs(change),
    (call: SeenCall, result: Json, random: (below: number) => number) =>
      inLogs(change)(call, logs(change)(call, result, random), random),
  ]),
  of('eth_getBlockReceipts', altered),
  of('eth_getBlockByNumber', altered),
  of('eth_getBlockByHash', altered),
  of('eth_getBlockByNumber', (block) => ({ ...block, logsBloom: `0x${'00'.repeat(256)}` })),
];

const proof = (change: (answer: Json, random: (below: number) => number) => Json) => of('eth_getProof', change);
const slots = (value: (old: Hex) => Hex) =>
  proof((answer) => ({
    ...answer,
    storageProof: answer.storageProof.map((one: Json) => ({ ...one, value: value(one.value) })),
  }));
const ranges = (first: number, last: number) =>
  logs((list) =>
    list.map((log) =>
      log.topics.length === 4
        ? { ...log, topics: [log.topics[0], word(BigInt(first)), word(BigInt(last)), word(1n)] }
        : log,
    ),
  );
const roots = (root: Hex, depth: bigint) =>
  logs((list) =>
    list.map((log) => (log.topics.length === 3 ? { ...log, topics: [log.topics[0], root, word(depth)] } : log)),
  );
const OF_LAYER_ONE: readonly Change[] = [
  ...['0x0', '0x1', '0x5', '0x6', '0x20', `0x${'ff'.repeat(32)}`].map((value) => slots(() => value as Hex)),
  proof((answer) => ({ ...answer, balance: '0xffffffffffffffffffffff' })),
  proof((answer) => ({
    ...answer,
    storageProof: answer.storageProof.map((one: Json) => ({ ...one, proof: [], value: '0x0' })),
  })),
  proof((answer) => ({ ...answer, storageProof: [...answer.storageProof].reverse() })),
  proof((answer) => ({ ...answer, accountProof: answer.accountProof.slice(0, -1) })),
  proof(altered),
  proof(altered),
  of('eth_getBlockByHash', altered),
  logs(() => []),
  logs((list) => list.slice(0, 2)),
  logs((list) => list.filter(({ topics }) => topics.length !== 3)),
  logs(altered),
  ...(
    [
      [0, 3],
      [1, 3],
      [2, 2],
      [3, 3],
      [2, 9],
      [1, 1],
    ] as const
  ).map(([first, last]) => ranges(first, last)),
  logs((list) =>
    list.map((log) => ({ ...log, topics: [log.topics[0], word(2n ** 255n), word(2n ** 256n - 1n), word(0n)] })),
  ),
  ...[1n, 4n, 6n, 32n, 33n, 2n ** 255n].map((depth) => roots(ROOTS[1]!, depth)),
  roots(FIRST_ROOT, 5n),
];

type Answer = ClaimPreparation | MessageList;
const QUESTIONS: readonly (readonly [hash: Hex | undefined, ask: (node: PlumblineNode) => Promise<Answer>])[] = [
  ...[ANCHORED, CLAIMED, UNANCHORED, UNFINAL, UNKNOWN].flatMap((hash) => [
    [hash, (node: PlumblineNode) => node.prepareClaim(hash)] as const,
    [
      hash,
      (node: PlumblineNode) => node.prepareClaim(hash, { fromBlock: BLOCK_OF.get(hash) ?? 1, toBlock: 4 }),
    ] as const,
  ]),
  [undefined, (node) => node.messages({ address: ALICE, fromBlock: 1, toBlock: 4 })],
];

/** What of an answer is proved, without the range of the finalization, which is not. */
const provedOf = (answer: Answer) => ({ ...answer, finalization: undefined, proved: undefined });

/** What an answer says that is not so; undefined if nothing. */
function falsehood(hash: Hex | undefined, answer: Answer, truth: Answer): string | undefined {
  if (hash !== undefined && 'status' in answer && 'status' in truth) {
    const { status } = answer;
    if (status === 'notFound') {
      const block = BLOCK_OF.get(hash);
      const { from, to } = answer.proved;
      return block !== undefined && from <= block && block <= to ? `not in ${from} to ${to}` : undefined;
    }
    // Events of layer 1 were hidden: no state is claimed.
    if (status === 'notAnchored' && ['anchored', 'claimed'].includes(truth.status)) return undefined;
  }
  const [said, so] = [provedOf(answer), provedOf(truth)].map((one) => JSON.stringify(one));
  return said === so ? undefined : `${said} in place of ${so}`;
}

const scene = () =>
  messageScene(
    MESSAGES.map((own) => [{ records: own.map((one) => messageRecord(one)) }]),
    FINALIZATIONS,
    { claimed: [4n] },
  );

/** What the node says of the true chain: checked against what the scene was made of. */
async function truthsOf(node: PlumblineNode): Promise<Answer[]> {
  const truths: Answer[] = [];
  for (const [, ask] of QUESTIONS) truths.push(await ask(node));
  expect(truths.map((truth) => ('status' in truth ? truth.status : truth.messages.map(({ state }) => state)))).toEqual([
    ...['anchored', 'anchored', 'claimed', 'claimed', 'notAnchored', 'notAnchored', 'notFinal', 'notFinal'],
    ...['notFound', 'notFound'],
    MESSAGES.flat().map(({ nonce }) => (nonce === 38n ? 'notFinal' : nonce === 4n ? 'claimed' : 'anchored')),
  ]);
  return truths;
}

/** Tells lies by turns, and asks a new node everything under each. @param judge - what becomes of an answer, or of none */
async function underLies(
  { open, endpoint, execution }: Awaited<ReturnType<typeof messageScene>>,
  { variants, how }: { readonly variants: number; readonly how: 'consensus' | 'second' },
  judge: (answer: Answer | undefined, question: number, lie: string, error?: unknown) => void,
): Promise<void> {
  const random = seededRandom(7);
  for (let i = 0; i < variants; i++) {
    const isOfRollup = i % 2 === 0;
    const lies = isOfRollup ? OF_ROLLUP : OF_LAYER_ONE;
    const number = (i >> 1) % lies.length;
    const name = `lie ${number} of ${isOfRollup ? 'the rollup' : 'layer 1'}`;
    const liar = isOfRollup ? endpoint : execution;
    let lied = 0;
    liar.options.tamper = (call, result) => {
      const before = JSON.stringify(result);
      const said = lies[number]!(call, result as Json, random);
      if (JSON.stringify(said) !== before) lied++;
      return said;
    };
    const node = await open(how);
    for (const [q, [, ask]] of QUESTIONS.entries()) {
      try {
        judge(await ask(node), q, name);
      } catch (error) {
        if ((error as Error).name === 'AssertionError') throw error;
        judge(undefined, q, name, error);
      }
    }
    expect(lied, `${name} was told`).toBeGreaterThan(0);
    await node.close();
    delete liar.options.tamper;
  }
}

/** No lie makes a false state, and none hides a message in blocks that are proved. @param variants - lies, by turns of either layer */
export async function liesAlone(variants: number): Promise<void> {
  const both = await scene();
  const truths = await truthsOf(await both.open());
  const told = { same: 0, less: 0, error: 0 };
  await underLies(both, { variants, how: 'consensus' }, (answer, q, lie) => {
    if (answer === undefined) {
      told.error++;
      return;
    }
    expect(falsehood(QUESTIONS[q]![0], answer, truths[q]!), lie).toBeUndefined();
    if (JSON.stringify(provedOf(answer)) === JSON.stringify(provedOf(truths[q]!))) told.same++;
    else told.less++;
  });
  console.log(`${variants} lies, ${QUESTIONS.length} questions each:`, JSON.stringify(told));
  expect(Math.min(...Object.values(told))).toBeGreaterThan(0);
}

/** With an honest endpoint beside, every answer is that of the true chain. @param variants - lies, by turns of either layer */
export async function liesBesideAnHonestOne(variants: number): Promise<void> {
  const both = await scene();
  const truths = await truthsOf(await both.open());
  await underLies(both, { variants, how: 'second' }, (answer, q, lie, error) => {
    if (answer === undefined) throw error;
    expect(provedOf(answer), lie).toEqual(provedOf(truths[q]!));
  });
}
