import { readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';

/** A request of a test suite, as `bench/recorded/record.mjs` writes it. */
export interface RecordedRequest {
  readonly method: string;
  readonly params: readonly unknown[];
  /** What the node chose when it was recorded, and a later request names: a hash, or the id of a snapshot. */
  readonly chosen?: string;
  /** The answer was an error. */
  readonly fails?: true;
}

/** Chain id and number of accounts of the devnet that was asked. */
export const RECORDED_CHAIN = { chainId: 31_337, accounts: 20 };

/** The requests of `bench/recorded/README.md`. */
export function recordedRequests(): readonly RecordedRequest[] {
  const text = brotliDecompressSync(readFileSync('bench/recorded/token-tests.jsonl.br')).toString();
  return text.split('\n').map((line) => JSON.parse(line) as RecordedRequest);
}

/**
 * Asks one after the other, as the suite did. What the node chooses stands in place of what was chosen when it was recorded.
 *
 * @returns the requests that failed where the recorded one did not, or the other way round
 */
export async function replay(
  requests: readonly RecordedRequest[],
  ask: (method: string, params: readonly unknown[]) => Promise<{ readonly result?: unknown; readonly error?: unknown }>,
): Promise<readonly RecordedRequest[]> {
  const chosenNow = new Map<unknown, unknown>();
  const others: RecordedRequest[] = [];
  for (const request of requests) {
    const { method, params, chosen, fails = false } = request;
    const asked = params.map((param) => chosenNow.get(param) ?? param);
    const { result, error } = await ask(method, asked);
    if ((error !== undefined) !== fails) others.push(request);
    if (chosen !== undefined) chosenNow.set(chosen, chosenOf(result) ?? chosen);
  }
  return others;
}

/** Of a transaction or a receipt the hash of its block, of a block its own. */
function chosenOf(result: unknown): unknown {
  if (typeof result !== 'object' || result === null) return result;
  const { blockHash, hash } = result as { readonly blockHash?: unknown; readonly hash?: unknown };
  return blockHash ?? hash;
}
