import { PlumblineError } from '../../errors.js';
import {
  type EvidenceBundle,
  type EvidenceClaim,
  MAX_HISTORY,
  type UnchangedSlot,
} from '../../evidence/evidence-bundle.js';
import { bytesToHex } from '../../primitives/hex.js';
import type { Method } from '../method.js';
import { parseAddress, parseStorageKeys, requireObject } from '../parse-params.js';
import { invalidParams } from '../rpc-errors.js';
import type { RpcContext } from './context.js';

/** `node.exportEvidence`: the claim. */
export const exportEvidence: Method<RpcContext>['handle'] = async (context, [claim]): Promise<EvidenceBundle> => {
  const parsed = parseClaim(claim);
  if (context.collectEvidence !== undefined) return context.collectEvidence(parsed);
  const text = 'evidence is collected by a light node that follows layer-1 consensus; open it with layerOne.consensus';
  throw new PlumblineError('METHOD_NOT_ENABLED', text, { method: 'exportEvidence' });
};

function parseClaim(value: unknown): EvidenceClaim {
  const { block, unchanged, address, storageKeys = [], ...others } = requireObject(value, 'claim', 'params');
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw invalidParams(`claim.${unknown}`, 'is not a member of a claim');
  if ((block === undefined) === (address === undefined))
    throw invalidParams('claim', 'must have either address or block');
  if (block === undefined) {
    if (unchanged !== undefined)
      throw invalidParams('claim.unchanged', 'needs a block up to which the slot is unchanged');
    const keys = parseStorageKeys(storageKeys, 'claim.storageKeys');
    return { address: bytesToHex(parseAddress(address, 'claim.address')), storageKeys: keys.map(bytesToHex) };
  }
  if (!isNumber(block)) throw invalidParams('claim.block', 'must be the number of a block, from 0 to 2^53 - 1');
  return unchanged === undefined ? { block } : { block, unchanged: parseUnchanged(unchanged, block) };
}

const isNumber = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0;

function parseUnchanged(value: unknown, block: number): UnchangedSlot {
  const { address, key, from, ...others } = requireObject(value, 'claim.unchanged', 'params');
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) throw invalidParams(`claim.unchanged.${unknown}`, 'is not a member of such a claim');
  if (!isNumber(from) || from > block || block - from > MAX_HISTORY)
    throw invalidParams(
      'claim.unchanged.from',
      `must be the number of a block, 0 to ${MAX_HISTORY} below that of the claim`,
    );
  const [slot] = parseStorageKeys([key], 'claim.unchanged.key');
  return { address: bytesToHex(parseAddress(address, 'claim.unchanged.address')), key: bytesToHex(slot!), from };
}
