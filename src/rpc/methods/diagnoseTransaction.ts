import { type DiagnosisSubject, diagnose } from '../../diagnosis/diagnose.js';
import type { TransactionDiagnosis } from '../../diagnosis/diagnosis.js';
import type { Method } from '../method.js';
import { parseCallRequest } from '../parse-call.js';
import { parseBytes } from '../parse-params.js';
import { invalidParams } from '../rpc-errors.js';
import type { RpcContext } from './context.js';

const HASH_BYTES = 32;

/** `node.diagnoseTransaction`: a hash, signed bytes, or a call. */
export const diagnoseTransaction: Method<RpcContext>['handle'] = (
  { chain, estimator },
  [transaction],
  limits,
): Promise<TransactionDiagnosis> => {
  const { signal, gas } = limits;
  return diagnose({ chain, estimator }, subjectOf(transaction), { signal, gas });
};

function subjectOf(transaction: unknown): DiagnosisSubject {
  if (typeof transaction === 'string') {
    const bytes = parseBytes(transaction, 'transaction', 'transaction params');
    return bytes.length === HASH_BYTES ? { hash: bytes } : { raw: bytes };
  }
  const { from, ...call } = parseCallRequest(transaction, { lenient: true });
  if (from === undefined) throw invalidParams('from', 'is needed: nonce and balance of the sender are checked');
  return { call: { ...call, from } };
}
