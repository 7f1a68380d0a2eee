import { signal } from '@preact/signals';
import type { UntypedMethod } from 'plumbline-l2';
import { messageOf, PageError } from '../lib/explain.js';
import type { Knowledge } from '../lib/trust.js';
import { running, takeReport } from './session.js';

export type { Knowledge };

export interface LogEntry {
  readonly id: number;
  readonly at: Date;
  readonly method: string;
  readonly params: readonly unknown[];
  readonly ms: number;
  /** Asked by the page for its own status line. */
  readonly quiet: boolean;
  readonly known: Knowledge | undefined;
  /** Numbers of the blocks it rests on. */
  readonly blocks: readonly number[];
  /** What the node says the answer rests on, as data. */
  readonly evidence: unknown;
  readonly error: { readonly code: string; readonly message: string } | undefined;
}

export interface Answer<Result> {
  readonly result: Result;
  readonly known: Knowledge | undefined;
  readonly ms: number;
}

const KEPT = 500;
let nextId = 1;

/** Newest first. */
export const log = signal<readonly LogEntry[]>([]);

/** Counts requests that may have changed something, for what wants to look again. */
export const asked = signal(0);

export function clearLog(): void {
  log.value = [];
}

/**
 * Asks the node of the page and logs the answer with its class, level and time.
 *
 * @throws what the provider throws, and an Error when no node runs
 */
export async function ask<Result>(
  method: string,
  params: readonly unknown[] = [],
  { quiet = false, signal: abort }: { readonly quiet?: boolean; readonly signal?: AbortSignal } = {},
): Promise<Answer<Result>> {
  const node = running.value?.node;
  if (node === undefined) throw new PageError('PAGE', 'No node is running. Start one under “Node”.');
  return logged(method, params, quiet, async () => {
    const result = (await node.request<UntypedMethod>(
      { method, params },
      abort === undefined ? {} : { signal: abort },
    )) as Result;
    return { result, report: takeReport() };
  });
}

/** Logs work that is answered beside JSON-RPC: `known` says of its result what the node's report says of others. */
export async function askBeside<Result>(
  name: string,
  params: readonly unknown[],
  work: () => Promise<Result>,
  known: (result: Result) => Knowledge & { readonly block: number; readonly evidence: unknown },
): Promise<Answer<Result>> {
  return logged(name, params, false, async () => {
    const result = await work();
    const { block, ...rest } = known(result);
    return { result, report: { ...rest, blocks: [{ number: block }] } };
  });
}

type Report = Knowledge & {
  readonly blocks: readonly { readonly number: number }[];
  readonly zkBlock?: number;
  /** In place of the report itself, where there is more to tell. */
  readonly evidence?: unknown;
};

async function logged<Result>(
  method: string,
  params: readonly unknown[],
  quiet: boolean,
  work: () => Promise<{ result: Result; report: Report | undefined }>,
): Promise<Answer<Result>> {
  const began = performance.now();
  const add = (report: Report | undefined, error?: unknown) => {
    const ms = performance.now() - began;
    // The class of a report is the method's: an error, a refused answer among them, is known in no such way.
    const known = error === undefined && report ? { class: report.class, level: report.level } : undefined;
    const entry: LogEntry = {
      ...{ id: nextId++, at: new Date(), method, params, ms, quiet, known },
      blocks: report?.zkBlock === undefined ? (report?.blocks ?? []).map(({ number }) => number) : [report.zkBlock],
      evidence: report?.evidence ?? report,
      error: error === undefined ? undefined : shortError(error),
    };
    log.value = [entry, ...log.value].slice(0, KEPT);
    if (!quiet) asked.value++;
    return { known, ms };
  };
  try {
    const { result, report } = await work();
    return { result, ...add(report) };
  } catch (error) {
    add(takeReport(), error);
    throw error;
  }
}

function shortError(error: unknown): LogEntry['error'] {
  const { code } = error as { code?: unknown };
  return { code: code === undefined ? '' : String(code), message: messageOf(error) };
}
