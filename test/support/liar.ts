import type { LightChainOptions } from '../../src/chain/light/light-options.js';
import { createInlineNode, type InlineOptions } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { devnet } from '../../src/networks/devnet.js';
import type { Hex } from '../../src/primitives/hex.js';
import type { PreviewCall } from '../../src/rpc/schema/transaction-preview.js';
import { type SeenCall, serveMock } from './mock-chain.js';
import { seededRandom } from './random.js';

/** A method and its parameters; `previewTransaction` with a call. */
export type Question = readonly [method: string, ...params: unknown[]];
/** Gives one of 0 to `bound - 1`. */
export type Pick = (bound: number) => number;
// biome-ignore lint/suspicious/noExplicitAny: answers are taken apart by the lies, each of which knows its shape.
export type Answer = any;

/** What an endpoint says in place of a true answer; undefined leaves it as it is. */
export type Tell = (call: SeenCall, result: Answer, pick: Pick, variant: number) => unknown;

/** Told by a lie in place of a result: the endpoint answers with this JSON-RPC error. */
export class AnsweredError extends Error {
  constructor(
    readonly code: number,
    message: string,
    readonly data: unknown,
  ) {
    super(message);
  }
}

/** An error as a contract that reverts would give it: `Error(string)` of another text each time. */
export function forgedRevert(pick: Pick): AnsweredError {
  const text = pick(0xffffff).toString(16).padStart(64, '0');
  const data = `0x08c379a0${'20'.padStart(64, '0')}${'20'.padStart(64, '0')}${text}`;
  return new AnsweredError(3, 'execution reverted: forged', data);
}

/** A lie in the proof of one account. */
export const inProof =
  (address: Hex, change: (proof: Answer, pick: Pick, variant: number) => void): Tell =>
  ({ method, params }, result, pick, variant) => {
    if (method !== 'eth_getProof' || String(params[0]).toLowerCase() !== address.toLowerCase()) return undefined;
    change(result, pick, variant);
    return result;
  };

/** What a refusal of the proof of an account is about. */
export const aboutAccount = (address: Hex) => new RegExp(`^account ${address}$`, 'i');

/** How a node may not believe: the check that does not hold, what it is about, and the place where it is. */
export interface Refusal {
  readonly check: RegExp;
  readonly what: RegExp;
  readonly at?: RegExp;
}

/** What comes of a lie: it is refused, or the answer is right all the same. */
export type Fate = Refusal | 'right';

/** One kind of lie. */
export interface Lie {
  readonly name: string;
  /** What the node is asked. */
  readonly ask: Question | ((variant: number) => Question);
  readonly tell: Tell;
  /** Whose lie it is; `l2` when left out. */
  readonly by?: 'l2' | 'l1';
  /** With no other endpoint, or with one where nothing could be told of one alone. */
  readonly alone: Fate;
  readonly withOne?: boolean;
  /** With an honest endpoint beside it; the right answer when left out. */
  readonly beside?: Fate;
  /** Honest endpoints beside it; one when left out. */
  readonly honest?: number;
  /** Options of the node. */
  readonly chain?: Partial<LightChainOptions>;
}

/** Variants of each lie. */
export const VARIANTS = 10;

/** A chain, and endpoints that serve it: one that may lie and three that do not, of layer 1 one less. */
export interface Stage {
  readonly dev: PlumblineNode;
  /** The true answer. */
  truth(question: Question): Promise<unknown>;
  /** Tells the lie in every variant to fresh nodes. @returns what is wrong with what came of it, a line each */
  check(lie: Lie): Promise<string[]>;
  /** Methods that were asked of any endpoint. */
  methods(): ReadonlySet<string>;
  close(): Promise<void>;
}

/** What came of a question. */
export interface Outcome {
  readonly answer?: unknown;
  /** What a method threw, before it became a JSON-RPC error. */
  readonly error?: unknown;
  /** What the caller was thrown. */
  readonly thrown?: unknown;
}

/** Opens a devnet and its endpoints; `prepare` makes its history. */
export async function openStage(
  prepare: (dev: PlumblineNode) => Promise<unknown>,
  options: InlineOptions = {},
  common: Partial<LightChainOptions> = {},
): Promise<Stage> {
  const dev = await createInlineNode(options);
  await prepare(dev);
  const [l2, l1] = await Promise.all([
    Promise.all([0, 1, 2, 3].map(() => serveMock(dev))),
    Promise.all([0, 1, 2].map(() => serveMock(dev.l1))),
  ]);
  const truth = (question: Question) => answerOf(dev, question);

  async function askNode(question: Question, chain: Partial<LightChainOptions>): Promise<Outcome> {
    const errors: unknown[] = [];
    const node = await createInlineNode({
      onError: (error) => errors.push(error),
      chain: {
        kind: 'light',
        network: devnet(),
        endpoints: [],
        layerOne: [l1[1]!.url],
        ...common,
        ...chain,
      },
    });
    try {
      return { answer: await answerOf(node, question) };
    } catch (thrown) {
      return { error: errors[0] ?? thrown, thrown };
    } finally {
      await node.close();
    }
  }

  async function check(lie: Lie): Promise<string[]> {
    const wrong: string[] = [];
    const told = new Set<string>();
    const liars = lie.by === 'l1' ? l1 : l2;
    const liar = liars[0]!;
    const urls = (count: number) => liars.slice(0, count + 1).map(({ url }) => url);
    const place = (count: number): Partial<LightChainOptions> =>
      lie.by === 'l1'
        ? { ...lie.chain, endpoints: [l2[1]!.url], layerOne: urls(count) }
        : { ...lie.chain, endpoints: urls(count) };
    for (let variant = 0; variant < VARIANTS; variant++) {
      const question = typeof lie.ask === 'function' ? lie.ask(variant) : lie.ask;
      const expected = await truth(question);
      let lies = 0;
      liar.options.tamper = (call, result) => {
        const said = lie.tell(call, structuredClone(result), seededRandom(variant * 7919 + 17), variant);
        if (said === undefined || JSON.stringify(said) === JSON.stringify(result)) return result;
        lies++;
        told.add(JSON.stringify([question, call, said]));
        if (said instanceof AnsweredError) throw said;
        return said;
      };
      for (const [where, fate, count] of [
        ['alone', lie.alone, lie.withOne === true ? 1 : 0],
        ['beside', lie.beside ?? 'right', lie.honest ?? 1],
      ] as const) {
        lies = 0;
        const outcome = await askNode(question, place(count));
        const fault = lies === 0 ? 'no lie was told' : faultOf(outcome, fate, expected);
        if (fault !== undefined) wrong.push(`${lie.name} ${variant} ${where}: ${fault}`);
      }
      delete liar.options.tamper;
      if (variant >= (typeof lie.ask === 'function' ? 3 : 1)) continue;
      const honest = await askNode(question, place(lie.honest ?? 1));
      const fault = faultOf(honest, 'right', expected);
      if (fault !== undefined) wrong.push(`${lie.name} ${variant}, without a lie: ${fault}`);
    }
    if (told.size < VARIANTS) wrong.push(`${lie.name}: only ${told.size} different lies were told`);
    return wrong;
  }

  return {
    dev,
    truth,
    check,
    methods: () => new Set(l2.flatMap(({ seen }) => seen.flat()).map(({ method }) => method)),
    async close() {
      await Promise.all([...l2, ...l1].map((mock) => mock.close()));
      await dev.close();
    },
  };
}

/** The answer of a node; of a preview what does not depend on the kind of the node. */
async function answerOf(node: PlumblineNode, [method, ...params]: Question): Promise<unknown> {
  if (method !== 'previewTransaction') return node.request<UntypedMethod>({ method, params });
  const { trust: _, seen: __, ...preview } = await node.previewTransaction(params[0] as PreviewCall);
  return preview;
}

/** What is wrong with what came of a question; undefined where it is as it has to be. */
export function faultOf({ answer, error, thrown }: Outcome, fate: Fate, expected: unknown): string | undefined {
  if (fate === 'right') {
    if (error !== undefined) return `refused: ${describe(error)}`;
    return JSON.stringify(answer) === JSON.stringify(expected) ? undefined : `answered ${JSON.stringify(answer)}`;
  }
  if (error === undefined) return `answered ${JSON.stringify(answer)?.slice(0, 200)}`;
  // No call of a lie reverts: a revert, or data of one, would be an endpoint's word that passes for ours.
  const told = thrown as { code?: unknown; data?: unknown };
  if (told.code === 3 || told.data !== undefined) return `answered an error of the endpoint: ${describe(thrown)}`;
  const { code, details = {} } = error as { code?: unknown; details?: Record<string, unknown> };
  const check = code === 'ANSWER_REFUSED' ? details.check : code;
  const what = code === 'ANSWER_REFUSED' ? details.what : (error as Error).message;
  const at = code === 'PROOF_MALFORMED' ? details.path : details.at;
  const fits =
    fate.check.test(String(check)) &&
    fate.what.test(String(what)) &&
    (fate.at === undefined || fate.at.test(String(at)));
  return fits ? undefined : `refused otherwise: ${describe(error)}`;
}

function describe(error: unknown): string {
  const { code, message, details } = error as { code?: unknown; message?: string; details?: unknown };
  return `${code} ${message} ${JSON.stringify(details)}`;
}

/** The hex text with one of its digits another. */
export function otherDigit(text: string, pick: Pick, from = 2): string {
  const at = from + pick(text.length - from);
  const digit = (Number.parseInt(text[at]!, 16) ^ (1 + pick(15))).toString(16);
  return text.slice(0, at) + digit + text.slice(at + 1);
}

/** Another quantity near this one, below 2^256. */
export function otherQuantity(text: string, pick: Pick): string {
  return `0x${BigInt.asUintN(256, BigInt(text) + BigInt(1 + pick(1_000_000))).toString(16)}`;
}
