import { type BlockHeader, headerHash } from '../../ethereum/header.js';
import type { CliqueSealing } from '../../networks/network.js';
import { equalBytes } from '../../primitives/bytes.js';
import { bytesToHex, hexToBytes } from '../../primitives/hex.js';
import { judge, type ProofFailure, Refusal } from '../verdict.js';
import { recoverSigner, SIGNATURE_BYTES } from './recover-signer.js';

/** Why a Clique seal is refused. */
export type CliqueFailureReason =
  /** Genesis, which has no seal, or a block after the last Clique block. */
  | 'NOT_OF_CLIQUE'
  /** The extra data does not consist of 32 bytes, the signers at an epoch block, and a seal. */
  | 'SEAL_LENGTH'
  /** The seal is not a valid signature. */
  | 'SEAL_INVALID'
  /** The seal is not by an authorized signer. */
  | 'SEAL_BY_STRANGER';

/** A verified Clique seal. */
export interface VerifiedSeal {
  readonly verified: true;
  /** Address of the signer, 20 bytes. */
  readonly signer: Uint8Array;
}

/** The signer, or why the seal is refused. */
export type CliqueVerdict = VerifiedSeal | ProofFailure<CliqueFailureReason>;

const VANITY_BYTES = 32;
const ADDRESS_BYTES = 20;

/** The digest that a Clique seal signs, 32 bytes: the hash of the header without the seal. */
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
    if (signer === undefined) throw new Refusal('SEAL_INVALID', 'extraData', 'does not end with a valid signature');
    if (!sealing.signers.some((allowed) => equalBytes(hexToBytes(allowed, ADDRESS_BYTES), signer))) {
      throw new Refusal(
        'SEAL_BY_STRANGER',
        'extraData',
        `is sealed by ${bytesToHex(signer)}, which is not an authorized signer`,
      );
    }
    return { verified: true, signer };
  });
}
