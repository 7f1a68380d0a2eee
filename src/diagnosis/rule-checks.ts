import { checkDenied, requireRecipient, requireTypeAccepted } from '../chain/admission.js';
import { TRANSACTION_GAS_CAP } from '../evm/common.js';
import {
  dataFloorGas,
  intrinsicGas,
  MAX_INIT_CODE_BYTES,
  requireTypeInForce,
} from '../evm/transactions/transaction-checks.js';
import type { Network } from '../networks/network.js';
import type { Conditions } from './conditions.js';
import type { DiagnosedTransaction } from './diagnosed-transaction.js';
import { compared, type Finding, refusedBy } from './finding.js';

/** Checks that need nothing but the transaction and the profile. @param isDevnet - whose profile has all of its rules */
export async function profileChecks(
  candidate: DiagnosedTransaction,
  network: Network,
  isDevnet: boolean,
): Promise<readonly Finding[]> {
  const { chainId, data, gasLimit, to, maxFeePerGas, maxPriorityFeePerGas, raw, impersonated } = candidate;
  const findings: Finding[] = [];
  if (raw !== undefined && impersonated !== true)
    findings.push({ check: 'encoding', outcome: 'ok' }, { check: 'signature', outcome: 'ok' });
  if (chainId !== undefined) findings.push(compared('chain-id', chainId, network.chainId));
  findings.push(
    isDevnet || network.pool?.deniedAddresses !== undefined
      ? await refusedBy('denied', () => checkDenied(candidate, network))
      : {
          check: 'denied',
          outcome: 'unknown',
          reason: 'the profile has no list of the addresses that the network refuses',
        },
    await refusedBy('recipient', () => requireRecipient({ to })),
    compared('calldata', data.length, network.calldataLimit),
  );
  if (gasLimit !== undefined) findings.push(compared('gas-limit', gasLimit, network.txGasLimit));
  if (maxFeePerGas !== undefined && maxPriorityFeePerGas !== undefined)
    findings.push(compared('priority-fee', maxPriorityFeePerGas, maxFeePerGas));
  return findings;
}

/** Rules of the fork and of the next block. */
export async function blockChecks(
  candidate: DiagnosedTransaction,
  { rules, context }: Conditions,
  network: Network,
): Promise<readonly Finding[]> {
  const { type, to, data, gasLimit, blobVersionedHashes } = candidate;
  const findings = [
    await refusedBy('type', () => {
      requireTypeAccepted(candidate, network);
      requireTypeInForce(candidate, rules);
    }).then((finding): Finding => ({ ...finding, found: BigInt(type) })),
  ];
  if (to === undefined && rules.shanghai) findings.push(compared('init-code', data.length, MAX_INIT_CODE_BYTES));
  if (gasLimit === undefined) return findings;
  const message = { ...candidate, gasLimit, nonce: 0n, blobVersionedHashes };
  const [intrinsic, floor] = [intrinsicGas(message, rules), dataFloorGas(message, rules)];
  findings.push(
    compared('gas-minimum', gasLimit, intrinsic > floor ? intrinsic : floor),
    compared('block-gas-limit', gasLimit, context.gasLimit),
  );
  if (rules.osaka) findings.push(compared('gas-cap', gasLimit, TRANSACTION_GAS_CAP));
  return findings;
}
