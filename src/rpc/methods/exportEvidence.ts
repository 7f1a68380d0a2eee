import { PlumblineError } from '../../errors.js';
import type { EvidenceBundle, EvidenceClaim } from '../../evidence/evidence-bundle.js';
import { bytesToHex } from '../../primitives/hex.js';
import { parseAddress, parseStorageKeys, requireObject } from '../parsing/parse-params.js';
import type { Method } from '../protocol/method.js';
import { invalidParams } from '../protocol/rpc-errors.js';
import type { RpcContext } from './context.js';

/** `node.exportEvidence`: the claim. */
export const exportEvidence: Method<RpcContext>['handle'] = async (context, [claim]): Promise<EvidenceBundle> => {
  const parsed = parseClaim(claim);
  if (context.collectEvidence !== undefined) return context.collectEvidence(parsed);
  const text = 'evidence is collected by a light node that follows layer-1 consensus; open it with layerOne.consensus';
  throw new PlumblineError('METHOD_NOT_ENABLED', text, { method: 'exportEvidence' });
};

function parseClaim(value: unknown): EvidenceClaim {
  const { block, address, storageKeys = [], ...others } = requireObject(value, 'claim', 'params');
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw invalidParams(`claim.${unknown}`, 'is not a member of a claim');
  if ((block === undefined) === (address === undefined))
    throw invalidParams('claim', 'must have either address or block');
  if (block === undefined) {
    const keys = parseStorageKeys(storageKeys, 'claim.storageKeys');
    return { address: bytesToHex(parseAddress(address, 'claim.address')), storageKeys: keys.map(bytesToHex) };
  }
  if (Number.isSafeInteger(block) && (block as number) >= 0) return { block: block as number };
  throw invalidParams('claim.block', 'must be the number of a block, from 0 to 2^53 - 1');
}
