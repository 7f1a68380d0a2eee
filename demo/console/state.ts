import { signal } from '@preact/signals';
import { createRef } from 'preact';
import { fieldError, PageError } from '../lib/explain.js';
import type { Knowledge } from '../lib/trust.js';
import { question, showLink } from '../state/link.js';
import { ask } from '../state/requests.js';
import { OFFERED, textOf } from './methods.js';

/** One request of the console and what came of it. */
export interface Exchange {
  readonly id: number;
  readonly method: string;
  readonly params: string;
  readonly ms: number;
  readonly known: Knowledge | undefined;
  readonly result?: unknown;
  readonly error?: unknown;
}

const KEPT = 50;
const STORED = 'plumbline-demo-console';

/** Newest first. Requests are kept for the time of this tab, answers until the page is left. */
export const history = signal<readonly Exchange[]>(restore());
/** Where work goes on with a request that is edited. */
export const paramsField = createRef<HTMLTextAreaElement>();
export const draft = signal({ method: OFFERED[0]!.method, params: textOf(OFFERED[0]!.params) });

let nextId = history.value.length + 1;

/** @throws Error when the parameters are no JSON array */
function readParams(text: string): readonly unknown[] {
  if (text.trim() === '') return [];
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw new PageError('PARAMETERS', `The parameters are not JSON: ${(error as Error).message}`);
  }
  if (!Array.isArray(parsed))
    throw new PageError('PARAMETERS', 'The parameters have to be a JSON array, such as ["latest", false]');
  return parsed;
}

/** Sends the draft; an error of the method is an answer, one of the parameters is thrown. */
export async function sendDraft(): Promise<void> {
  const { method, params: text } = draft.value;
  const name = method.trim();
  if (name === '') throw fieldError('Method', 'which one?');
  const params = readParams(text);
  const began = performance.now();
  const begin = { id: nextId++, method: name, params: text };
  let exchange: Exchange;
  try {
    exchange = { ...begin, ...(await ask(name, params)) };
  } catch (error) {
    exchange = { ...begin, ms: performance.now() - began, known: undefined, error };
  }
  history.value = [exchange, ...history.value].slice(0, KEPT);
  showLink(question('console', { method: name, params: text }));
  remember();
}

/** Methods that a link may ask: they change nothing, neither a chain nor what a node keeps. */
const READS =
  /^(?:eth_(?:get(?!Filter)\w+|call|callMany|estimateGas|createAccessList|simulateV1|blockNumber|chainId|gasPrice|feeHistory|maxPriorityFeePerGas|blobBaseFee|accounts|syncing)|linea_\w+|net_\w+|web3_\w+|debug_(?:trace|get)\w+|rpc_modules)$/;

/** Puts what a link says into the form. @returns whether it may be asked without a click */
export function fill(params: URLSearchParams): boolean {
  const method = params.get('method') ?? '';
  draft.value = { method, params: params.get('params') ?? '' };
  return READS.test(method);
}

export function clearHistory(): void {
  history.value = [];
  remember();
}

function remember(): void {
  const kept = history.value.map(({ id, method, params, ms }) => ({ id, method, params, ms, known: undefined }));
  try {
    sessionStorage.setItem(STORED, JSON.stringify(kept));
  } catch {
    // Nothing is kept in this browser.
  }
}

function restore(): readonly Exchange[] {
  try {
    return JSON.parse(sessionStorage.getItem(STORED) ?? '[]') as readonly Exchange[];
  } catch {
    return [];
  }
}
