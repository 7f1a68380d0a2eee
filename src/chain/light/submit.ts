import { isPlumblineError, PlumblineError } from '../../errors.js';
import type { SignedTransaction } from '../../ethereum/transaction.js';
import { equalBytes } from '../../primitives/bytes.js';
import { bytesToHex } from '../../primitives/hex.js';
import { readBytes, readObject } from '../../proof/json-reader.js';
import { dependsOnEndpoint } from '../../upstream/failure.js';
import type { EndpointGroup } from '../../upstream/group.js';
import { checkAdmission, parseBroadcast } from '../admission.js';
import type { Chain, ChainCall } from '../chain.js';
import type { LightChainParts } from './light-parts.js';

/** Time to find out whether a transaction has arrived, milliseconds. */
const LOOKUP_TIMEOUT_MS = 5_000;

/**
 * Checks a transaction by the rules of a node's pool at the head, sends it to an endpoint, and compares the returned hash.
 *
 * @param call - its signal ends the request to an endpoint, which may have taken the transaction by then
 * @returns the transaction
 * @throws PlumblineError `TRANSACTION_REJECTED`, `INSUFFICIENT_FUNDS` before it is sent; `UPSTREAM_ERROR` with the error of the
 *   endpoint; `ANSWER_REFUSED` for another hash
 * @source docs/spec/json-rpc.md 2.5, docs/spec/fees.md 7
 */
export async function submitChecked(
  raw: Uint8Array,
  chain: Pick<Chain, 'head' | 'stateAt' | 'prices' | 'pendingContext'>,
  { network, upstream: group, loadSizer }: Pick<LightChainParts, 'network' | 'upstream' | 'loadSizer'>,
  call: ChainCall,
): Promise<SignedTransaction> {
  const { signal } = call;
  const head = await chain.head(call);
  const [state, { prices }, , context] = await Promise.all([
    chain.stateAt(head, call),
    chain.prices(head, call),
    // Loads meanwhile.
    loadSizer?.(),
    chain.pendingContext(head, call),
  ]);
  const transaction = await parseBroadcast(raw, network, context);
  await checkAdmission(transaction, { network, state, context, prices, sizer: loadSizer, placeOf: () => undefined });
  let mayHaveArrived = false;
  try {
    return await group.request('eth_sendRawTransaction', [bytesToHex(raw)], {
      deduplicate: false,
      forwarded: true,
      ...(signal && { signal }),
      // An error about the transaction is final. Another endpoint is asked only if the error is about the endpoint.
      tryNext: dependsOnEndpoint,
      onFault: ({ kind }) => {
        mayHaveArrived ||= kind === 'timed-out' || kind === 'unavailable' || kind === 'malformed';
      },
      accept: (answer) => {
        if (equalBytes(readBytes(answer, 'the answer', 32), transaction.hash)) return transaction;
        const details = { what: 'transaction hash', check: 'HASH_MISMATCH', at: '' };
        throw new PlumblineError('ANSWER_REFUSED', 'the endpoint returned the hash of another transaction', details);
      },
    });
  } catch (error) {
    // If an answer was lost, the next endpoint may refuse the transaction because it is known already.
    if (mayHaveArrived && isPlumblineError(error, 'UPSTREAM_ERROR') && (await isKnown(group, transaction.hash)))
      return transaction;
    throw error;
  }
}

/** The answer of one endpoint, unchecked. Another endpoint is asked only if the error is about the endpoint. */
export function forwardRequest(
  group: EndpointGroup,
  method: string,
  params: readonly unknown[],
  signal: AbortSignal | undefined,
): Promise<unknown> {
  return group.request(method, params, {
    deduplicate: false,
    forwarded: true,
    tryNext: dependsOnEndpoint,
    ...(signal !== undefined && { signal }),
    accept: (answer) => answer,
  });
}

/** Whether an endpoint has a transaction of this hash, in its pool or in a block. */
function isKnown(group: EndpointGroup, hash: Uint8Array): Promise<boolean> {
  return group
    .request('eth_getTransactionByHash', [bytesToHex(hash)], {
      deduplicate: false,
      timeoutMs: LOOKUP_TIMEOUT_MS,
      accept: (answer) => answer !== null && equalBytes(readBytes(readObject(answer, '').hash, 'hash', 32), hash),
    })
    .catch(() => false);
}
