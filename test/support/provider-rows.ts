import { gzipSync } from 'node:zlib';
import { vi } from 'vitest';
import { accountAt, stranger } from './dev-node.js';
import { type LightScene, lightScene } from './light-node.js';
import type { SeenCall } from './mock-chain.js';
import { TurnClock } from './turn-clock.js';

interface WireCall extends SeenCall {
  readonly id: unknown;
}

/** How an endpoint answers one HTTP request in place of the right answer. */
interface Reply {
  readonly status?: number;
  /** JSON, or the text or bytes as they are. */
  readonly body: unknown;
  readonly encoding?: 'gzip';
}

/** A provider's way to say no. */
export interface ProviderRow {
  readonly name: string;
  /** What the endpoint does. */
  readonly did: string;
  /** What the node does. */
  readonly done: string;
  /** The answer to a request; undefined for the right one. @param replies - the right answers to the calls */
  says(calls: readonly WireCall[], replies: readonly { readonly id?: unknown }[]): Reply | undefined;
  /** What the user reads if it says so each time, with `ENDPOINT` for its origin. */
  readonly reads: string;
  /**
   * Most HTTP requests that the endpoint gets for the question: if it says no once, where that may pass; always; and always beside
   * another endpoint.
   */
  readonly most: { readonly once?: number; readonly alone: number; readonly beside: number };
  /** What is asked; some balances at once when left out. */
  ask?(scene: LightScene): Promise<unknown>;
}

/** What a row came to. */
export interface ProviderOutcome {
  /** HTTP requests that the endpoint got for the question: if it says no once, always, and always beside another endpoint. */
  readonly requests: { readonly once?: number; readonly alone: number; readonly beside: number };
  /** What the user reads; `the right answer` if the question was answered. */
  readonly reads: string;
  readonly isRight: { readonly once?: boolean; readonly beside: boolean };
}

const BALANCES = 12;
export const ANSWERED = 'the right answer';
const hasProof = (calls: readonly WireCall[]) => calls.some(({ method }) => method === 'eth_getProof');

/** Each call that needs a proof is answered with this error, at HTTP 200. */
const withError =
  (code: number, message: string) =>
  (calls: readonly WireCall[], replies: readonly { readonly id?: unknown }[]): Reply | undefined => {
    if (!hasProof(calls)) return undefined;
    const said = calls.map(({ id, method }, i) =>
      method === 'eth_getProof' ? { jsonrpc: '2.0', id, error: { code, message } } : replies[i],
    );
    return { body: said.length === 1 ? said[0] : said };
  };

function limited(name: string, code: number, message: string): ProviderRow {
  return {
    name,
    did: `HTTP 200, ${code} "${message}"`,
    done: 'the node asks other endpoints meanwhile. It pauses this one, each time for longer',
    says: withError(code, message),
    reads: `the endpoints limit the rate; wait, or give more endpoints (ENDPOINT: it says "${message}")`,
    most: { once: 13, alone: 36, beside: 1 },
  };
}

function batchLimit(name: string, did: string, most: number, says: ProviderRow['says']): ProviderRow {
  return {
    name,
    did,
    done: 'the node sends batches of half the size, or of the size that the endpoint names, and remembers it',
    says: (calls, replies) => (calls.length > most ? says(calls, replies) : undefined),
    reads: ANSWERED,
    most: { alone: 7, beside: 7 },
  };
}

function outside(name: string, code: number, message: string): ProviderRow {
  return {
    name,
    did: `${code} "${message}"`,
    done: 'the node asks the next endpoint. It does not count this as a false answer',
    says: withError(code, message),
    reads: `ENDPOINT answered eth_getProof of block 0x2 with error ${code}, it says "${message}"; it does not hold the state of this block, or no proof of it`,
    most: { alone: 1, beside: 1 },
  };
}

/** Each is what a provider or node is known to send. docs/errors.md shows them. */
export const PROVIDER_ROWS: readonly ProviderRow[] = [
  limited('Infura', -32005, 'daily request count exceeded, request rate limited'),
  limited('QuickNode', -32007, '50/second request limit reached - reduce calls per second or upgrade your account'),
  limited('-32012', -32012, 'You have exceeded the requests limit of your plan'),
  limited('Base', -32016, 'over rate limit'),
  limited('OnFinality', -32029, 'Too Many Requests'),
  limited('-32097', -32097, 'Rate limit exceeded'),
  limited('dRPC, code 30', 30, 'Request timeout on the free tier, please upgrade your tier to the paid one'),
  limited('429 in the text', -32000, 'Request failed with status code 429: Too Many Requests'),
  {
    name: 'HTTP 429',
    did: 'HTTP 429, no JSON',
    done: 'as above. The node waits as long as Retry-After says',
    says: (calls) => (hasProof(calls) ? { status: 429, body: 'slow down' } : undefined),
    reads: 'the endpoints limit the rate; wait, or give more endpoints (ENDPOINT: status 429)',
    most: { once: 13, alone: 36, beside: 1 },
  },
  batchLimit('dRPC', 'HTTP 500, code 31 "Batch of more than 3 requests …"', 3, (calls) => ({
    status: 500,
    body: {
      jsonrpc: '2.0',
      id: calls[0]!.id,
      error: { code: 31, message: 'Batch of more than 3 requests are not allowed on free tier' },
    },
  })),
  batchLimit('1RPC', 'HTTP 200, code 31 without a number', 3, () => ({
    body: { jsonrpc: '2.0', id: null, error: { code: 31, message: 'not allowed on this plan' } },
  })),
  batchLimit('a proxy', 'HTTP 413, text', 4, () => ({ status: 413, body: 'Request Entity Too Large' })),
  batchLimit('a gateway', '-32600 "You cannot send more than 5 requests at once"', 5, () => ({
    body: {
      jsonrpc: '2.0',
      id: null,
      error: { code: -32600, message: 'You cannot send more than 5 requests at once' },
    },
  })),
  batchLimit(
    'geth 1.17.10, batch-request-limit 5',
    'an array of one error with the id of the first call',
    5,
    (calls) => ({
      body: [{ jsonrpc: '2.0', id: calls[0]!.id, error: { code: -32600, message: 'batch too large' } }],
    }),
  ),
  batchLimit(
    'geth 1.17.10, batch-response-max-size',
    '-32003 "response too large" from the fourth answer on',
    3,
    (calls, replies) => ({
      body: replies.map((reply, i) =>
        i < 3 ? reply : { jsonrpc: '2.0', id: calls[i]!.id, error: { code: -32003, message: 'response too large' } },
      ),
    }),
  ),
  outside('geth, proof window', -32000, 'missing trie node 1f2e3d (path ) state 0x1f2e3d is not available'),
  outside('reth, proof window', -32602, 'distance to target block exceeds maximum proof window'),
  outside(
    'Erigon, proof window',
    -32000,
    'requested block is too old, block must be within 1000 blocks of the head block number',
  ),
  outside('Nethermind, proof window', -32002, 'No state available for block 0x5'),
  {
    name: 'a plan without one method',
    did: 'HTTP 403 for each request with eth_getBlockReceipts in it',
    done: 'the node no longer sends this method to the endpoint. It asks for receipts one by one',
    says: (calls) =>
      calls.some(({ method }) => method === 'eth_getBlockReceipts') ? { status: 403, body: 'forbidden' } : undefined,
    ask: ({ ask }) => ask('eth_getBlockReceipts', 'latest'),
    reads: ANSWERED,
    most: { alone: 3, beside: 2 },
  },
  {
    name: 'a plan without proofs',
    did: 'HTTP 403 for each request with eth_getProof in it',
    done: 'the node no longer sends this method to the endpoint. It sends the others as before',
    says: (calls) => (hasProof(calls) ? { status: 403, body: 'forbidden' } : undefined),
    async ask(scene) {
      const balance = await scene.ask('eth_getBalance', accountAt(0), 'latest').catch((error: unknown) => ({ error }));
      // The endpoint itself stays open.
      scene.clock.advance(60_000);
      await scene.ask('eth_getBlockByNumber', 'latest', true);
      if (typeof balance === 'object' && balance !== null && 'error' in balance) throw balance.error;
      return balance;
    },
    reads:
      'no endpoint serves this node; check URLs and API keys (ENDPOINT: status 403; check its API key, plan and allowed origins)',
    most: { alone: 3, beside: 3 },
  },
  {
    name: 'a backend that lags by a block',
    did: 'null for a block that it has just named',
    done: 'the node asks it again a little later, at most twice',
    says: (calls) =>
      calls.length === 1 && calls[0]!.method === 'eth_getBlockByHash'
        ? { body: { jsonrpc: '2.0', id: calls[0]!.id, result: null } }
        : undefined,
    ask: ({ ask }) => ask('eth_getBlockByNumber', 'latest', true),
    reads: 'the answer of ENDPOINT to eth_getBlockByHash about body of block 2 was refused: MISSING',
    most: { once: 2, alone: 3, beside: 1 },
  },
  {
    name: 'a portal or error page',
    did: 'HTTP 200, HTML',
    done: 'the node asks the next endpoint. The next request asks this one again',
    says: (calls) => (hasProof(calls) ? { body: '<!doctype html><title>Welcome</title>' } : undefined),
    reads:
      'no endpoint serves this node; check URLs and API keys (ENDPOINT: status 200: HTML instead of JSON; check the path of its URL)',
    most: { alone: 1, beside: 1 },
  },
  {
    name: 'a gzip bomb',
    did: '64 MiB of spaces in 64 KB',
    done: 'the node stops reading at 16 MiB, and asks the next endpoint',
    says: (calls) => (hasProof(calls) ? { body: bomb(), encoding: 'gzip' } : undefined),
    reads: 'no endpoint gave a well-formed answer (ENDPOINT: answer above 16777216 bytes)',
    most: { once: 13, alone: 25, beside: 1 },
  },
];

let packed: Buffer | undefined;
function bomb(): Buffer {
  packed ??= gzipSync(Buffer.alloc(64 * 2 ** 20, ' '));
  return packed;
}

/** Asks a light node the question of a row, without the one that says no always if it is not `isWhole`: of an endpoint that says no once, always, and always beside another one. */
export async function runRow(row: ProviderRow, isWhole = true): Promise<ProviderOutcome> {
  const always = isWhole
    ? await attempt(row, false, Number.POSITIVE_INFINITY)
    : { requests: 0, reads: row.reads, isRight: false };
  const beside = await attempt(row, true, Number.POSITIVE_INFINITY);
  const once = row.most.once !== undefined ? await attempt(row, false, 1) : undefined;
  return {
    requests: {
      ...(once !== undefined && { once: once.requests }),
      alone: always.requests,
      beside: beside.requests,
    },
    reads: always.reads,
    isRight: { ...(once !== undefined && { once: once.isRight }), beside: beside.isRight },
  };
}

const balances = ({ ask }: Pick<LightScene, 'ask'>) =>
  Promise.all(
    Array.from({ length: BALANCES }, (_, i) =>
      ask('eth_getBalance', i < 6 ? accountAt(i) : stranger(`${i}`.padStart(2, '0')), 'latest'),
    ),
  );

async function attempt(row: ProviderRow, isBeside: boolean, times: number) {
  let left = times;
  const scene = await lightScene({
    endpoints: isBeside ? [{}, {}] : [{}],
    chain: { level: 'plain', layerOne: undefined as never },
    more: { clock: new TurnClock() },
  });
  for (let nonce = 0; nonce < 2; nonce++) await scene.dev.transfer(0, { nonce });
  await scene.ask('eth_blockNumber');
  const [endpoint] = scene.endpoints;
  endpoint!.seen.length = 0;
  endpoint!.options.intercept = (response, body, replies) => {
    const said = left > 0 ? row.says((Array.isArray(body) ? body : [body]) as WireCall[], replies) : undefined;
    if (said === undefined) return false;
    left--;
    const text =
      typeof said.body === 'string' || said.body instanceof Uint8Array ? said.body : JSON.stringify(said.body);
    response.writeHead(said.status ?? 200, {
      'content-type': typeof said.body === 'string' ? 'text/html' : 'application/json',
      ...(said.encoding !== undefined && { 'content-encoding': said.encoding }),
    });
    response.end(text);
    return true;
  };
  const ask = row.ask ?? balances;
  const wanted = await (row.ask === undefined
    ? balances({ ask: scene.dev.ask } as never)
    : ask({ ...scene, ask: scene.dev.ask } as never));
  let reads = ANSWERED;
  let isRight = false;
  // The calls of a question wait for a later turn where a busy machine is slow, and would come in more batches.
  const standing = vi.spyOn(performance, 'now').mockReturnValue(performance.now());
  await new Promise(setImmediate);
  try {
    isRight = JSON.stringify(await ask(scene)) === JSON.stringify(wanted);
    if (!isRight) reads = 'a wrong answer';
  } catch (error) {
    reads = (error as Error).message.replace(/http:\/\/127\.0\.0\.1:\d+/g, 'ENDPOINT');
  } finally {
    standing.mockRestore();
  }
  return { requests: endpoint!.seen.length, reads, isRight };
}
