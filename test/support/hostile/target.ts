import { TEST_TOKEN } from '../../../src/chain/devnet/state/dev-accounts.js';
import { createInlineNode, type InlineOptions } from '../../../src/hosts/opening/inline.js';
import type { DictionarySource } from '../../../src/hosts/options/options.js';
import type { PlumblineNode } from '../../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../../src/hosts/provider/provider.js';
import { accountAt, type DevNode, stranger } from '../dev-node.js';
import { hostileBodies } from './bodies.js';
import { type Examples, recordedRequests } from './requests.js';
import { faultOfReply, type HostileScene, isUntyped, onlyReads, post } from './run.js';

/** Blocks that one request may mine here: the library's own limit would take minutes. */
const MINED = 40n;
const MINING = /"(evm|anvil|hardhat)_mine(_detailed)?"/;

/** Whether the body asks for more blocks than these tests have time for. */
function minesLong(body: string): boolean {
  if (!MINING.test(body)) return false;
  const counts = body.match(/0x[0-9a-f]+|\d+/gi) ?? [];
  return counts.some(
    (text) =>
      /^(0x[0-9a-f]+|\d+)$/i.test(text) && BigInt(text.toLowerCase()) > MINED && BigInt(text.toLowerCase()) <= 100_000n,
  );
}

/** Everything of a node that a request could have changed and another one would meet. */
const STATE = [
  ['eth_getBlockByNumber', 'latest', false],
  ['eth_getBlockByNumber', 'finalized', false],
  ['txpool_content'],
  ['eth_accounts'],
  ['eth_getTransactionCount', accountAt(1), 'pending'],
  ['anvil_getAutomine'],
  ['anvil_getIntervalMining'],
  ['eth_getBalance', accountAt(0), 'latest'],
  ['eth_getBalance', stranger('a1'), 'latest'],
  ['eth_getCode', stranger('a1'), 'latest'],
  ['eth_getStorageAt', TEST_TOKEN, '0x1', 'latest'],
].map(([method, ...params], id) => ({ jsonrpc: '2.0', id, method, params }));

/** How bodies reach the node. */
interface Way {
  /** Sends a body. @returns the text that comes back, empty for none, and the status of HTTP where there is one */
  send(body: string): Promise<{ readonly status?: number; readonly text: string }>;
  /** Whether nothing that the body asks for may change the node. */
  onlyReads(body: string): boolean;
}

/** A node that is sent hostile bodies, what it threw, and its answer to `STATE`. */
export class Target {
  readonly thrown: unknown[] = [];
  node!: PlumblineNode;
  private before = '';

  async open(options: InlineOptions): Promise<this> {
    this.node = await createInlineNode({ ...options, onError: (error) => this.thrown.push(error) });
    return this;
  }

  async state(): Promise<string> {
    const { text } = await post(this.node, JSON.stringify(STATE));
    this.thrown.length = 0;
    return text;
  }

  /** Sends a body, and checks the answer, what was thrown, and that nothing changed where all of it only reads. */
  async check(body: string, way: Partial<Way> = {}): Promise<void> {
    const { send, onlyReads: reads }: Way = { send: (text) => post(this.node, text), onlyReads, ...way };
    this.before ||= await this.state();
    const { status, text } = await send(body);
    const untyped = this.thrown.splice(0).find(isUntyped);
    if (untyped !== undefined) throw new Error(`a method threw ${untyped instanceof Error ? untyped.stack : untyped}`);
    const fault = faultOfReply(body, status, text);
    if (fault !== undefined) throw new Error(`the answer ${fault}: ${status ?? ''} ${text.slice(0, 500)}`);
    const mayMine = /setIntervalMining/.test(body);
    if (mayMine) await post(this.node, JSON.stringify({ id: 1, method: 'evm_setIntervalMining', params: [0] }));
    const { before } = this;
    this.before = await this.state();
    if (this.before === before || mayMine || !reads(body)) return;
    const now = JSON.parse(this.before) as unknown[];
    const then = JSON.parse(before) as unknown[];
    const at = now.findIndex((answer, i) => JSON.stringify(answer) !== JSON.stringify(then[i]));
    const [asked, was, is] = [STATE[at], then[at], now[at]].map((part) => JSON.stringify(part).slice(0, 600));
    throw new Error(`reading changed the node: ${asked} was\n${was}, and is\n${is}`);
  }
}

/** For scenes that open a node for each input: to index a dictionary takes as long as all else. */
export const EMPTY_DICTIONARY: DictionarySource = { kind: 'bytes', bytes: new Uint8Array(0) };

/** What bounds the work of one request. */
export const LIMITS = { gasBudget: 60_000_000 } satisfies InlineOptions;

export const asking =
  (node: PlumblineNode): DevNode['ask'] =>
  <T>(method: string, ...params: unknown[]) =>
    node.request<UntypedMethod>({ method, params }) as Promise<T>;

export function bodiesFor(...examples: readonly Examples[]): HostileScene<string>['inputs'] {
  const recorded = recordedRequests(new Set(examples.flatMap((one) => Object.keys(one))));
  return hostileBodies(...examples, recorded).filter((body) => !minesLong(body));
}
