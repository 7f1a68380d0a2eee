import { EMPTY_REQUESTS_HASH, EMPTY_TRIE_ROOT, EMPTY_UNCLES_HASH, MAX_EXTRA_DATA } from '../../ethereum/constants.js';
import type { BlockHeader } from '../../ethereum/header.js';
import { HARDFORKS, type Hardfork, type Network } from '../../networks/network.js';
import { equalBytes, isZeroBytes } from '../../primitives/bytes.js';
import { judge, type ProofFailure, Refusal } from '../verdict.js';

/** The rule of its fork that a header breaks. */
export type HeaderRuleFailureReason =
  /** A field of the block's fork is missing, or a field of another fork is present. */
  | 'FIELD_OF_OTHER_FORK'
  /** A field that is constant on the network has another value. */
  | 'CONSTANT_MISMATCH'
  /** More gas used than the limit, or extra data of more than 32 bytes after Clique. */
  | 'LIMIT_EXCEEDED';

/** Whether a header follows the rules of its fork. */
export type HeaderRuleVerdict = { readonly verified: true } | ProofFailure<HeaderRuleFailureReason>;

/** The fork that added each later field. */
const FORK_OF_FIELD = {
  baseFeePerGas: 'london',
  withdrawalsRoot: 'shanghai',
  blobGasUsed: 'cancun',
  excessBlobGas: 'cancun',
  parentBeaconBlockRoot: 'cancun',
  requestsHash: 'prague',
} as const satisfies Partial<Record<keyof BlockHeader, Hardfork>>;

/**
 * Verifies that a header has the fields of its fork, and after Paris the constant fields of a network without miners. If Maru
 * seals, also the constants of a network without withdrawals, blobs, requests and beacon roots.
 *
 * @source docs/spec/json-rpc.md 5.1; EIP-3675 for all networks after Paris
 */
export function verifyHeaderRules(network: Pick<Network, 'forks' | 'sealing'>, header: BlockHeader): HeaderRuleVerdict {
  const rank = newestFork(network, header);
  const from = (fork: Hardfork) => rank >= HARDFORKS.indexOf(fork);
  return judge(() => {
    for (const [field, fork] of Object.entries(FORK_OF_FIELD)) {
      if ((header[field as keyof typeof FORK_OF_FIELD] !== undefined) === from(fork)) continue;
      throw new Refusal(
        'FIELD_OF_OTHER_FORK',
        field,
        from(fork) ? `is missing after ${fork}` : `is present before ${fork}`,
      );
    }
    if (header.gasUsed > header.gasLimit) throw new Refusal('LIMIT_EXCEEDED', 'gasUsed', 'is above the gas limit');
    if (!from('paris')) return { verified: true };
    if (header.extraData.length > MAX_EXTRA_DATA) {
      throw new Refusal('LIMIT_EXCEEDED', 'extraData', `has ${header.extraData.length} bytes`);
    }
    const holds: Partial<Record<keyof BlockHeader, boolean>> = {
      difficulty: header.difficulty === 0n,
      nonce: isZeroBytes(header.nonce),
      sha3Uncles: equalBytes(header.sha3Uncles, EMPTY_UNCLES_HASH),
      ...(network.sealing?.maru !== undefined && constantsUnderMaru(header)),
    };
    for (const [field, fine] of Object.entries(holds)) {
      if (!fine) throw new Refusal('CONSTANT_MISMATCH', field, 'is not the constant value of this network');
    }
    return { verified: true };
  });
}

/** A missing field breaks no rule here. */
function constantsUnderMaru(header: BlockHeader) {
  const { withdrawalsRoot, requestsHash, parentBeaconBlockRoot } = header;
  return {
    withdrawalsRoot: withdrawalsRoot === undefined || equalBytes(withdrawalsRoot, EMPTY_TRIE_ROOT),
    blobGasUsed: (header.blobGasUsed ?? 0n) === 0n,
    excessBlobGas: (header.excessBlobGas ?? 0n) === 0n,
    parentBeaconBlockRoot: parentBeaconBlockRoot === undefined || isZeroBytes(parentBeaconBlockRoot),
    requestsHash: requestsHash === undefined || equalBytes(requestsHash, EMPTY_REQUESTS_HASH),
  };
}

/** Rank of the newest fork in force, by the block's number or time. */
function newestFork({ forks }: Pick<Network, 'forks'>, { number, timestamp }: BlockHeader): number {
  const active = forks.filter((fork) =>
    fork.block === undefined ? fork.timestamp! <= timestamp : fork.block <= number,
  );
  return Math.max(0, ...active.map(({ hardfork }) => HARDFORKS.indexOf(hardfork)));
}
