import { PlumblineError } from '../../errors.js';
import { loadSignerRecovery } from '../../ethereum/signer.js';
import { parseSignedTransaction, type SignedTransaction } from '../../ethereum/transaction.js';
import { keccak256 } from '../../kernel/keccak.js';
import { equalBytes } from '../../primitives/bytes.js';
import { bytesToHex } from '../../primitives/hex.js';
import { malformed, readBytes, readCount, readNumber256, readObject } from '../../proof/json-reader.js';
import { readTransaction } from '../../proof/transaction-answer.js';
import { type EndpointGroup, requestFirstFound } from '../../upstream/group.js';
import type { Exclusion } from '../chain.js';

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

const METHOD = 'linea_getTransactionExclusionStatusV1';
const STAGES: readonly unknown[] = ['SEQUENCER', 'RPC', 'P2P'];

/**
 * Asks an endpoint why a transaction is in no block. Only the transaction hash of the answer can be checked.
 *
 * @param hash - 32 bytes
 * @throws PlumblineError `ANSWER_REFUSED`, `PROOF_MALFORMED`, of the endpoints
 * @source docs/spec/json-rpc.md 2.4
 */
export function fetchExclusion(
  group: EndpointGroup,
  hash: Uint8Array,
  signal?: AbortSignal,
): Promise<Exclusion | undefined> {
  return group.request(METHOD, [bytesToHex(hash)], {
    forwarded: true,
    ...(signal !== undefined && { signal }),
    accept: (answer) => (answer === null ? undefined : readExclusion(answer, hash)),
  });
}

function readExclusion(answer: unknown, hash: Uint8Array): Exclusion {
  const json = readObject(answer, '');
  if (!equalBytes(readBytes(json.txHash, 'txHash', 32), hash)) {
    const details = { what: 'excluded transaction', check: 'OTHER_TRANSACTION', at: 'txHash' };
    throw new PlumblineError('ANSWER_REFUSED', 'txHash is of another transaction', details);
  }
  const { txRejectionStage: stage, reasonMessage: reason, timestamp } = json;
  if (!STAGES.includes(stage)) throw malformed('txRejectionStage', 'is not SEQUENCER, RPC or P2P');
  if (typeof reason !== 'string') throw malformed('reasonMessage', 'is not text');
  const time = typeof timestamp === 'string' ? Date.parse(timestamp) : Number.NaN;
  if (Number.isNaN(time)) throw malformed('timestamp', 'is not a date');
  const { blockNumber } = json;
  const none = blockNumber === undefined || blockNumber === null;
  return {
    transaction: { hash, from: readBytes(json.from, 'from', 20), nonce: readNumber256(json.nonce, 'nonce') },
    stage: stage as Exclusion['stage'],
    reason,
    blockNumber: none ? undefined : readCount(blockNumber, 'blockNumber'),
    timestamp: Math.floor(time / 1000),
  };
}
