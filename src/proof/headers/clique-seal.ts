import { type BlockHeader, headerHash } from '../../ethereum/header.js';
import type { CliqueSealing } from '../../networks/network.js';
import { equalBytes } from '../../primitives/bytes.js';
import { bytesToHex, hexToBytes } from '../../primitives/hex.js';
import { judge, type ProofFailure, Refusal } from '../verdict.js';
import { recoverSigner, SIGNATURE_BYTES } from './recover-signer.js';

/** Why a Clique seal is refused. */
export type CliqueFailureReason =
  /** Genesis, which nobody sealed, or a block after the last one of Clique. */
  | 'NOT_OF_CLIQUE'
  /** The extra data is not 32 bytes, at an epoch the signers, and a seal. */
  | 'SEAL_LENGTH'
  /** The seal is a signature of no key. */
  | 'SEAL_INVALID'
  /** The seal is of somebody who may not seal. */
  | 'SEAL_BY_STRANGER';

/** Who sealed. */
export interface VerifiedSeal {
  readonly verified: true;
  /** 20 bytes. */
  readonly signer: Uint8Array;
}

/** Who sealed, or why the seal is refused. */
export type CliqueVerdict = VerifiedSeal | ProofFailure<CliqueFailureReason>;

const VANITY_BYTES = 32;
const ADDRESS_BYTES = 20;

/** What the seal of a Clique block signs, 32 bytes: the hash of the header without it. */
export function cliqueSealDigest(header: BlockHeader): Uint8Array {
  return headerHash({ ...header, extraData: header.extraData.subarray(0, -SIGNATURE_BYTES) });
}

/**
 * Verifies that one of the network's signers sealed a header.
 *
 * @param sealing - `sealing.clique` of the network's profile
 * @source docs/spec/json-rpc.md 5.2; EIP-225
 */
export function verifyCliqueSeal(sealing: CliqueSealing, header: BlockHeader): CliqueVerdict {
  const { number, extraData } = header;
  return judge(() => {
    if (number < 1 || number > sealing.lastBlock) {
      throw new Refusal('NOT_OF_CLIQUE', 'number', `is ${number}, Clique sealed blocks 1 to ${sealing.lastBlock}`);
    }
    const between = extraData.length - VANITY_BYTES - SIGNATURE_BYTES;
    const fits = number % sealing.epochLength === 0 ? between > 0 && between % ADDRESS_BYTES === 0 : between === 0;
    if (!fits) throw new Refusal('SEAL_LENGTH', 'extraData', `has ${extraData.length} bytes`);
    const signer = recoverSigner(cliqueSealDigest(header), extraData.subarray(-SIGNATURE_BYTES));
    if (signer === undefined) throw new Refusal('SEAL_INVALID', 'extraData', 'ends with a signature of no key');
    if (!sealing.signers.some((allowed) => equalBytes(hexToBytes(allowed, ADDRESS_BYTES), signer))) {
      throw new Refusal('SEAL_BY_STRANGER', 'extraData', `is sealed by ${bytesToHex(signer)}, who may not`);
    }
    return { verified: true, signer };
  });
}
