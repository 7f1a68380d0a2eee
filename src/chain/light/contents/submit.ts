import { isPlumblineError, PlumblineError } from '../../../errors.js';
import type { SignedTransaction } from '../../../ethereum/transaction.js';
import { equalBytes } from '../../../primitives/bytes.js';
import { bytesToHex } from '../../../primitives/hex.js';
import { readBytes, readObject } from '../../../proof/json-reader.js';
import type { EndpointGroup } from '../../../upstream/group.js';
import { dependsOnEndpoint } from '../../../upstream/transport/classify-error.js';
import { type AdmissionContext, checkAdmission, parseBroadcast } from '../../admission.js';

/** Time to find out whether a transaction has arrived, milliseconds. */
const LOOK_MS = 5_000;

/**
 * Checks a transaction here as the pool of a node would, hands it on, and compares the hash that comes back.
 *
 * @returns it as it was sent
 * @throws PlumblineError `TRANSACTION_REJECTED`, `INSUFFICIENT_FUNDS` before anything is sent; `UPSTREAM_ERROR` with what
 *   the node says against it; `ANSWER_REFUSED` for another hash
 * @source docs/spec/json-rpc.md 2.5, docs/spec/fees.md 7
 */
export async function submitChecked(
  raw: Uint8Array,
  against: Omit<AdmissionContext, 'isKnown'>,
  group: EndpointGroup,
): Promise<SignedTransaction> {
  const transaction = parseBroadcast(raw, against.network, against.context);
  await checkAdmission(transaction, { ...against, isKnown: () => false });
  let mayHaveArrived = false;
  try {
    return await group.request('eth_sendRawTransaction', [bytesToHex(raw)], {
      share: false,
      forwarded: true,
      // What a pool says against a transaction is its answer, unless that endpoint takes none.
      tryNext: dependsOnEndpoint,
      onFault: ({ kind }) => {
        mayHaveArrived ||= kind === 'timed-out' || kind === 'unavailable' || kind === 'malformed';
      },
      accept: (answer) => {
        if (equalBytes(readBytes(answer, 'the answer', 32), transaction.hash)) return transaction;
        const details = { what: 'transaction hash', check: 'HASH_MISMATCH', at: '' };
        throw new PlumblineError('ANSWER_REFUSED', 'the endpoint names another hash than the transaction has', details);
      },
    });
  } catch (error) {
    // Sent once more after an answer was lost, it may be refused because it was taken before.
    if (mayHaveArrived && isPlumblineError(error, 'UPSTREAM_ERROR') && (await isThere(group, transaction.hash)))
      return transaction;
    throw error;
  }
}

/** Whether an endpoint has a transaction of this hash, in its pool or in a block. */
function isThere(group: EndpointGroup, hash: Uint8Array): Promise<boolean> {
  return group
    .request('eth_getTransactionByHash', [bytesToHex(hash)], {
      share: false,
      timeoutMs: LOOK_MS,
      accept: (answer) => answer !== null && equalBytes(readBytes(readObject(answer, '').hash, 'hash', 32), hash),
    })
    .catch(() => false);
}
