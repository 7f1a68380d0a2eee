import type { Hex, PlumblineNode, UntypedMethod } from 'plumbline-l2';
import { PageError } from '../lib/explain.js';
import { wholeAddress } from './secrets.js';
import { filled, type Settings } from './settings.js';

/** Layer 1 as the page itself reads it: the devnet's simulated one, or the first endpoint that the visitor named. */
export interface LayerOne {
  request(method: string, params: readonly unknown[]): Promise<unknown>;
  /** What its word is worth: a devnet's own is held, an endpoint's is passed on and not checked by this page. */
  readonly source: 'held' | 'forwarded';
}

/** No answer came from layer 1. */
export class LayerOneUnreachable extends PageError {}

/** Selectors of the rollup contract's getters. */
const CURRENT_L2_BLOCK_NUMBER = '0x695378f5';
const STATE_ROOT_HASHES = '0x8be745d1';
const TIMEOUT_MS = 15_000;

export function layerOneOf(node: PlumblineNode, settings: Settings): LayerOne | undefined {
  if (settings.kind === 'devnet') {
    return { source: 'held', request: (method, params) => node.l1.request<UntypedMethod>({ method, params }) };
  }
  const [first] = filled(settings.layerOne);
  return first && { source: 'forwarded', request: (method, params) => post(wholeAddress(first), method, params) };
}

/** Newest finalized layer-2 block, as the rollup contract says. */
export async function settledBlock(layerOne: LayerOne, rollup: Hex): Promise<number> {
  const params = [{ to: rollup, data: CURRENT_L2_BLOCK_NUMBER }, 'latest'];
  return Number(BigInt(wordOf(await layerOne.request('eth_call', params))));
}

/** Root of the zk state after a block, as the rollup contract says; undefined when it holds none. */
export async function settledRoot(layerOne: LayerOne, rollup: Hex, block: number): Promise<Hex | undefined> {
  const data = STATE_ROOT_HASHES + block.toString(16).padStart(64, '0');
  const root = wordOf(await layerOne.request('eth_call', [{ to: rollup, data }, 'latest']));
  return /^0x0*$/.test(root) ? undefined : root;
}

/** @throws Error for what no getter of the contract gives back, such as nothing at all */
function wordOf(answer: unknown): Hex {
  if (typeof answer === 'string' && /^0x[0-9a-f]{64}$/i.test(answer)) return answer as Hex;
  throw new PageError(
    'LAYER_ONE',
    'Layer 1 knows no rollup contract of this network: is its endpoint one of the right network?',
  );
}

/** Errors name the origin alone: the rest of the address may be a key. */
async function post(url: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const { origin } = new URL(url);
  let answer: { result?: unknown; error?: { code: number } };
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      redirect: 'error',
    });
    answer = (await response.json()) as typeof answer;
  } catch {
    throw new LayerOneUnreachable('LAYER_ONE', `layer 1 at ${origin} cannot be reached`);
  }
  if (answer.error !== undefined)
    throw new PageError('LAYER_ONE', `layer 1 at ${origin} answered with error ${answer.error.code}`);
  return answer.result;
}
