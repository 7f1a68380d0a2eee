import { encodeErrorResult, keccak256, parseAbi } from 'viem';
import { expect } from 'vitest';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { ClaimPreparation, MessageList } from '../../src/messages/withdrawal.js';
import type { Hex } from '../../src/primitives/hex.js';
import { REFUSES } from './bridge.js';
import { stranger, word } from './dev-node.js';
import type { Json } from './lie-edits.js';
import {
  hashOf,
  messageRecord,
  messageScene,
  ROLLUP,
  type TestAccount,
  type TestMessage,
  treeOf,
} from './message-scene.js';
import type { SeenCall } from './mock-chain.js';
import { seededRandom } from './random.js';

/*
 * Messages and claims where an endpoint of either layer lies. What a node says then is what it says of the true chain, or less: an error,
 * `notFound` in blocks that do not have the message, `notAnchored`, or nothing of what the claim would do.
 */

const ALICE = stranger('a1');

/** Contracts on layer 1 that messages go to. Two have the same code and read the same: one lets a message in, one does not. */
const [OPEN, CLOSED, REFUSER, DELEGATED] = ['a2', 'a3', 'a4', 'a5'].map((one) => stranger(one)) as [Hex, Hex, Hex, Hex];
/** What the gates read: a slot of one contract, and a balance. */
const [STORE, KEEPER] = ['a6', 'a7'].map((one) => stranger(one)) as [Hex, Hex];
/** Returns slot 0. */
const STORED: Hex = '0x5f545f5260205ff3';
/** Stops if slot 1 is what `STORE` returns and `KEEPER` has ether; else reverts without data. */
const GATE: Hex = `0x60205f5f5f73${STORE.slice(2)}5afa505f516001541473${KEEPER.slice(2)}31151516604257${'5f5ffd'}5b00`;
const [KEY, OTHER_KEY] = [5n, 6n];
const STOPS: Hex = '0x00';
const delegatedTo = (address: Hex): Hex => `0xef0100${address.slice(2)}`;
/** The accounts of a scene. Its code ends with what no other scene has, and what is never run. */
const accountsBeside = (end: string): readonly TestAccount[] => [
  { at: STORE, code: `${STORED}${end}`, slots: [KEY] },
  { at: KEEPER, balance: 7n },
  { at: OPEN, code: `${GATE}${end}`, slots: [0n, KEY] },
  { at: CLOSED, code: `${GATE}${end}`, slots: [0n, OTHER_KEY] },
  { at: REFUSER, code: `${REFUSES}${end}` },
  { at: DELEGATED, code: delegatedTo(REFUSER) },
];
/** After the final block everything is turned around. */
const LATER: readonly TestAccount[] = [
  { at: STORE, slots: [OTHER_KEY] },
  { at: REFUSER, code: STOPS },
];
const message = (nonce: number, more: Partial<TestMessage> = {}): TestMessage => ({
  from: stranger('f0'),
  to: ALICE,
  fee: 0n,
  value: BigInt(nonce) * 10n ** 15n,
  nonce: BigInt(nonce),
  data: '0x',
  ...more,
});
/** Messages to contracts, and one of more than the rate limit. */
const TO_CONTRACTS = [
  message(40, { to: OPEN, data: '0x01' }),
  message(41, { to: CLOSED, data: '0x01' }),
  message(42, { to: REFUSER }),
  message(43, { to: DELEGATED, data: '0x02' }),
  message(44, { to: OPEN, value: 2n * 10n ** 24n }),
];
const MESSAGES: readonly (readonly TestMessage[])[] = [
  [message(1), message(2, { data: '0x01' }), ...TO_CONTRACTS],
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
const EXECUTED = TO_CONTRACTS.map(hashOf);
/** Block of each message. */
const BLOCK_OF = new Map([
  ...[ANCHORED, ...EXECUTED].map((hash) => [hash, 1] as const),
  [CLAIMED, 2],
  [UNANCHORED, 3],
  [UNFINAL, 4],
]);

/** Asks the true layer 1. */
type AskTruth = (method: string, ...params: readonly unknown[]) => Promise<Json>;
type Change = (call: SeenCall, result: Json, random: (below: number) => number, truth: AskTruth) => Json;
/** One that needs nothing but the answer. */
type Edit = (call: SeenCall, result: Json, random: (below: number) => number) => Json;

const of =
  (method: string, change: (result: Json, random: (below: number) => number, call: SeenCall) => Json): Edit =>
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

/** A contract that says of every claim that it was made, and one of the gates. */
const CLAIMS: Hex = `0x7f${hashOf(TO_CONTRACTS[1]!).slice(2)}7fa4c827e719e911e8f19393ccdb85b5102f08f0910604d340ba38390b7ff2ab0e5f5fa200`;
const NO_CODE = keccak256('0x');
const isRollup = (address: unknown) => address === ROLLUP.toLowerCase();
const isBeside = (address: unknown) => !isRollup(address);
/** Lies about the code of accounts. @param isOf - of which */
const code = (change: (code: Hex) => Json, isOf: (address: unknown) => boolean = () => true): Edit =>
  of('eth_getCode', (result, _, { params: [address] }) => (isOf(address) ? change(result) : result));
/** Lies about the accounts that a claim reads beside the rollup contract. */
const beside = (change: (answer: Json, random: (below: number) => number, call: SeenCall) => Json): Edit =>
  of('eth_getProof', (answer, random, call) => (isRollup(call.params[0]) ? answer : change(answer, random, call)));
const besideSlots = (change: (one: Json) => Json) =>
  beside((answer) => ({
    ...answer,
    storageProof: answer.storageProof.map((one: Json) => ({ ...one, ...change(one) })),
  }));
/** The account and its code, of which one is the hash of the other. */
const withCode =
  (said: Hex): Edit =>
  (call, result, random) =>
    code(() => said, isBeside)(
      call,
      beside((answer) => ({ ...answer, codeHash: keccak256(said) }))(call, result, random),
      random,
    );
/** The same question, of the true chain but of another block, account or slot. */
const instead =
  (
    methods: readonly string[],
    params: (of: readonly Json[]) => readonly Json[],
    back = (answer: Json, _: Json) => answer,
  ): Change =>
  async (call, result, _, truth) =>
    methods.includes(call.method) && isBeside(call.params[0])
      ? back(await truth(call.method, ...params(call.params)), result)
      : result;
const STATE = ['eth_getProof', 'eth_getCode'];
/** Lies of an endpoint of layer 1 about what the execution of a claim reads. */
const OF_EXECUTION: readonly Change[] = [
  // First, before the true code has been run: a process that has it once takes it by its hash.
  ...[isRollup, isBeside].flatMap((isOf) =>
    [STOPS, '0x', CLAIMS, STORED, REFUSES, GATE, delegatedTo(STORE), null].map((said) => code(() => said, isOf)),
  ),
  code((own) => `${own}00`),
  code((own) => own.slice(0, -2)),
  of('eth_getCode', altered),
  ...['0x0', '0x1', '0x5', '0x6', `0x${'ff'.repeat(32)}`].map((value) => besideSlots(() => ({ value }))),
  besideSlots(() => ({ value: '0x0', proof: [] })),
  besideSlots(({ proof }) => ({ proof: proof.slice(0, -1) })),
  beside((answer) => ({ ...answer, storageProof: [] })),
  beside((answer) => ({ ...answer, storageProof: [...answer.storageProof, ...answer.storageProof] })),
  beside((answer) => ({ ...answer, storageHash: `0x${'56'.repeat(32)}` })),
  beside((answer) => ({ ...answer, codeHash: NO_CODE })),
  ...(['0x', STOPS] as const).map(withCode),
  beside((answer) => ({ ...answer, balance: '0x0' })),
  beside((answer) => ({ ...answer, balance: '0xffffffffffffffffffffff' })),
  beside((answer) => ({ ...answer, nonce: '0x7' })),
  beside((answer) => ({ ...answer, accountProof: [] })),
  beside((answer) => ({ ...answer, accountProof: answer.accountProof.slice(0, -1) })),
  beside(() => null),
  ...Array.from({ length: 4 }, () => beside(altered)),
  // Another block.
  ...['latest', '0x0'].flatMap((at) =>
    [STATE, STATE.slice(0, 1), STATE.slice(1)].map((methods) => instead(methods, (of) => [...of.slice(0, -1), at])),
  ),
  // Another account, as itself and under the name of the one that was asked for.
  ...[OPEN, CLOSED, ALICE, ROLLUP].flatMap((other) => [
    instead(STATE, ([, ...more]) => [other, ...more]),
    instead(
      STATE,
      ([, ...more]) => [other, ...more],
      (answer, { address }) => (typeof answer === 'string' ? answer : { ...answer, address }),
    ),
  ]),
  // Other slots, under the names of those that were asked for.
  instead(
    STATE.slice(0, 1),
    ([address, keys, at]) => [address, keys.map((_: Hex, i: number) => word(BigInt(i + 7))), at],
    (answer, { storageProof }) => ({
      ...answer,
      storageProof: answer.storageProof.map((one: Json, i: number) => ({ ...one, key: storageProof[i].key })),
    }),
  ),
  // What is read is refused.
  ...['execution reverted', 'header not found'].map(
    (text): Change =>
      ({ method, params }, result) => {
        if (!STATE.includes(method) || isRollup(params[0])) return result;
        throw Object.assign(new Error(text), { code: 3, data: `${REFUSES.slice(0, 10)}${'00'.repeat(64)}` });
      },
  ),
];

type Answer = ClaimPreparation | MessageList;
type Question = readonly [hash: Hex | undefined, ask: (node: PlumblineNode) => Promise<Answer>];
/** What the claims of messages to contracts would do. */
const OF_CLAIMS: readonly Question[] = [ANCHORED, ...EXECUTED].map((hash) => [
  hash,
  (node: PlumblineNode) => node.prepareClaim(hash, { fromBlock: 1, toBlock: 4 }),
]);
const QUESTIONS: readonly Question[] = [
  ...[ANCHORED, CLAIMED, UNANCHORED, UNFINAL, UNKNOWN].flatMap((hash) => [
    [hash, (node: PlumblineNode) => node.prepareClaim(hash)] as const,
    [
      hash,
      (node: PlumblineNode) => node.prepareClaim(hash, { fromBlock: BLOCK_OF.get(hash) ?? 1, toBlock: 4 }),
    ] as const,
  ]),
  [undefined, (node) => node.messages({ address: ALICE, fromBlock: 1, toBlock: 4 })],
  ...OF_CLAIMS.slice(1),
];

/** What of an answer is proved, without the range of the finalization, which is not. */
const provedOf = (answer: Answer) => ({ ...answer, finalization: undefined, proved: undefined });

/** An answer that says nothing of what the claim would do. */
const withoutRun = (answer: Answer): Answer => ({ ...answer, wouldPass: undefined, revert: undefined }) as never;

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
  const isExecuted = 'wouldPass' in answer || 'revert' in answer;
  const [said, so] = [answer, isExecuted ? truth : withoutRun(truth)].map((one) => JSON.stringify(provedOf(one)));
  return said === so ? undefined : `${said} in place of ${so}`;
}

let scenes = 0;
function scene() {
  const end = word(BigInt(++scenes)).slice(2);
  return messageScene(
    MESSAGES.map((own) => [{ records: own.map((one) => messageRecord(one)) }]),
    FINALIZATIONS,
    { claimed: [4n], codeEnd: end, beside: accountsBeside(end), later: LATER },
  );
}

const SENDING_FAILED = parseAbi(['error MessageSendingFailed(address destination)']);
/** What the claims of `OF_CLAIMS` do, by how the contracts were made. */
const DONE = [
  { slotsAllow: true, wouldPass: true },
  { slotsAllow: true, wouldPass: true },
  {
    slotsAllow: true,
    wouldPass: false,
    revert: { data: encodeErrorResult({ abi: SENDING_FAILED, args: [CLOSED] }) },
  },
  { slotsAllow: true, wouldPass: false, revert: { reason: 'no' } },
  { slotsAllow: true, wouldPass: false, revert: { reason: 'no' } },
  { slotsAllow: false, refusal: 'RateLimitExceeded' },
];

/** What the node says of the true chain: checked against what the scene was made of. */
async function truthsOf(node: PlumblineNode, questions: readonly Question[]): Promise<Answer[]> {
  const truths: Answer[] = [];
  for (const [, ask] of questions) truths.push(await ask(node));
  for (const [q, [hash]] of questions.entries()) {
    const done = DONE[[ANCHORED, ...EXECUTED].indexOf(hash!)];
    if (done !== undefined) expect(truths[q], `question ${q}`).toMatchObject({ status: 'anchored', ...done });
  }
  if (questions === QUESTIONS) {
    const said = truths.map((truth) => ('status' in truth ? truth.status : truth.messages.map(({ state }) => state)));
    expect(said.slice(0, 11)).toEqual([
      ...['anchored', 'anchored', 'claimed', 'claimed', 'notAnchored', 'notAnchored', 'notFinal', 'notFinal'],
      ...['notFound', 'notFound'],
      MESSAGES.flat()
        .filter(({ to }) => to === ALICE)
        .map(({ nonce }) => (nonce === 38n ? 'notFinal' : nonce === 4n ? 'claimed' : 'anchored')),
    ]);
  }
  return truths;
}

interface Telling {
  /** Number of the first lie, and how many are told. */
  readonly first?: number;
  readonly variants: number;
  readonly kinds: readonly Kind[];
  readonly questions: readonly Question[];
  readonly how: 'consensus' | 'second';
}

/** Who lies, and about what. */
const KINDS = {
  'the rollup': { lies: OF_ROLLUP, isOfRollup: true },
  'layer 1': { lies: OF_LAYER_ONE, isOfRollup: false },
  execution: { lies: OF_EXECUTION, isOfRollup: false },
} as const;
type Kind = keyof typeof KINDS;

/**
 * Tells lies by turns, and asks a new node everything under each.
 *
 * @param judge - what becomes of an answer, or of none
 * @returns lies that nothing was asked about
 */
async function underLies(
  { l1, open, endpoint, execution }: Awaited<ReturnType<typeof messageScene>>,
  { first = 0, variants, kinds, questions, how }: Telling,
  judge: (answer: Answer | undefined, question: number, lie: string, error?: unknown) => void,
): Promise<string[]> {
  const random = seededRandom(7 + first);
  const untold: string[] = [];
  for (let i = first; i < first + variants; i++) {
    const kind = kinds[i % kinds.length]!;
    const { lies, isOfRollup } = KINDS[kind];
    const number = Math.floor(i / kinds.length) % lies.length;
    const name = `lie ${number} of ${kind}`;
    const liar = isOfRollup ? endpoint : execution;
    // Each lie is told always at first, then now and then.
    const isAlways = i < kinds.length * lies.length;
    let lied = 0;
    liar.options.tamper = async (call, result) => {
      if (!isAlways && lied > 0 && random(2) === 0) return result;
      const before = JSON.stringify(result);
      try {
        const said = await lies[number]!(call, result as Json, random, l1.dev.ask);
        if (JSON.stringify(said) !== before) lied++;
        return said;
      } catch (error) {
        lied++;
        throw error;
      }
    };
    const node = await open(how);
    for (const [q, [, ask]] of questions.entries()) {
      try {
        judge(await ask(node), q, name);
      } catch (error) {
        if ((error as Error).name === 'AssertionError') throw error;
        judge(undefined, q, name, error);
      }
    }
    if (lied === 0) untold.push(name);
    await node.close();
    delete liar.options.tamper;
  }
  // No access list is asked for, so that none can lie: what a claim reads is found by running it.
  expect(execution.seen.flat().map(({ method }) => method)).not.toContain('eth_createAccessList');
  return untold;
}

/** Lies that one scene is told: its clock goes on while nodes wait, and must stay in one period of its consensus. */
const TOLD_AT_ONCE = 60;

/** No lie makes a false state, and none hides a message in blocks that are proved. @param variants - lies, by turns of either layer */
export async function liesAlone(variants: number): Promise<void> {
  const told = await toldInScenes({
    variants,
    kinds: ['the rollup', 'layer 1'],
    questions: QUESTIONS,
    how: 'consensus',
  });
  expect(Math.min(...Object.values(told))).toBeGreaterThan(0);
}

/** No lie about code, accounts and slots makes a claim pass that does not, or fail that passes. @param variants - lies */
export async function liesToExecution(variants: number = OF_EXECUTION.length): Promise<void> {
  const told = await toldInScenes({ variants, kinds: ['execution'], questions: OF_CLAIMS, how: 'consensus' });
  expect(Math.min(told.same, told.less, told.passes, told.fails)).toBeGreaterThan(0);
}

async function toldInScenes(telling: Telling) {
  const { variants } = telling;
  const sum = { same: 0, less: 0, error: 0, passes: 0, fails: 0 };
  for (let first = 0; first < variants; first += TOLD_AT_ONCE) {
    const told = await toldAlone({ ...telling, first, variants: Math.min(TOLD_AT_ONCE, variants - first) });
    for (const what of Object.keys(sum) as (keyof typeof sum)[]) sum[what] += told[what];
  }
  console.log(`${variants} lies, ${telling.questions.length} questions each:`, JSON.stringify(sum));
  return sum;
}

async function toldAlone(telling: Telling) {
  const { questions } = telling;
  const both = await scene();
  const answers: { readonly answer: Answer; readonly q: number; readonly lie: string }[] = [];
  const told = { same: 0, less: 0, error: 0, passes: 0, fails: 0 };
  const untold = await underLies(both, telling, (answer, q, lie) => {
    if (answer === undefined) told.error++;
    else answers.push({ answer, q, lie });
  });
  // The truth last: nothing of it is known under the first lies, and the scene still answers after all of them.
  const truths = await truthsOf(await both.open(), questions);
  for (const { answer, q, lie } of answers) {
    expect(falsehood(questions[q]![0], answer, truths[q]!), lie).toBeUndefined();
    if ('wouldPass' in answer) told[answer.wouldPass ? 'passes' : 'fails']++;
    if (JSON.stringify(provedOf(answer)) === JSON.stringify(provedOf(truths[q]!))) told.same++;
    else told.less++;
  }
  expect(untold).toEqual([]);
  return told;
}

/** With an honest endpoint beside, every answer is that of the true chain. @param variants - lies, by turns */
export async function liesBesideAnHonestOne(variants: number): Promise<void> {
  const both = await scene();
  const truths = await truthsOf(await both.open(), QUESTIONS);
  const telling = { variants, kinds: Object.keys(KINDS) as Kind[], questions: QUESTIONS, how: 'second' } as const;
  const untold = await underLies(both, telling, (answer, q, lie, error) => {
    if (answer === undefined) throw error;
    expect(provedOf(answer), lie).toEqual(provedOf(truths[q]!));
  });
  expect(untold).toEqual([]);
}
