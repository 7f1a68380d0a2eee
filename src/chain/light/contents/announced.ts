import { PlumblineError } from '../../../errors.js';
import { loadSignerRecovery } from '../../../ethereum/signer.js';
import { parseSignedTransaction, type SignedTransaction } from '../../../ethereum/transaction.js';
import { keccak256 } from '../../../kernel/keccak.js';
import { equalBytes } from '../../../primitives/bytes.js';
import { bytesToHex } from '../../../primitives/hex.js';
import { readTransaction } from '../../../proof/transaction-answer.js';
import type { EndpointGroup } from '../../../upstream/group.js';
import { requestFirstFound } from '../first-found.js';

/**
 * Asks endpoints for a transaction that is in their pool. Its bytes are encoded from the answer and must have the hash.
 *
 * @param hash - 32 bytes
 * @returns undefined if the endpoints that were asked do not have it
 * @throws PlumblineError `ANSWER_REFUSED` for another transaction, `PROOF_MALFORMED`, of the endpoints
 */
export async function fetchAnnounced(
  group: EndpointGroup,
  hash: Uint8Array,
  chainId: number,
  signal?: AbortSignal,
): Promise<SignedTransaction | undefined> {
  await loadSignerRecovery();
  return requestFirstFound(group, 'eth_getTransactionByHash', [bytesToHex(hash)], {
    ...(signal !== undefined && { signal }),
    accept: (answer) => {
      if (answer === null) return undefined;
      const raw = readTransaction(answer, '');
      if (equalBytes(keccak256(raw), hash))
        return parseSignedTransaction(raw, chainId, { blobs: true, anyChain: true });
      const details = { what: 'pending transaction', check: 'HASH_MISMATCH', at: '' };
      throw new PlumblineError('ANSWER_REFUSED', 'the endpoint returned another transaction', details);
    },
  });
}
