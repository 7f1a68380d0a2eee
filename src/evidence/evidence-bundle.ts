import type { LayerOneBlock } from '../consensus/containers.js';
import type { ConsensusAnswer } from '../consensus/judge-consensus.js';
import type { HashScheme } from '../kernel/contracts.js';
import type { Network, RollupContract } from '../networks/network.js';
import type { Hex } from '../primitives/hex.js';
import type { VerifiedEthereumProof } from '../proof/ethereum-proof.js';
import type { VerifiedHeader } from '../proof/headers.js';
import type { VerifiedLineaProof } from '../proof/linea-proof.js';

/** Version of the form of `EvidenceBundle`. */
export const EVIDENCE_FORMAT = 'plumbline-evidence-1';

/** What a bundle proves: an account with slots after a finalized block, or the header of a block below it. */
export type EvidenceClaim =
  | { readonly address: Hex; readonly storageKeys: readonly Hex[] }
  | {
      /** Number of the block. */
      readonly block: number;
      /** A slot that no block after `from` changes, up to `block`. The access lists of the blocks prove it (EIP-7928). */
      readonly unchanged?: UnchangedSlot;
    };

/** A slot of an account (32 bytes), and the number of the block after which the slot has its value. */
export interface UnchangedSlot {
  readonly address: Hex;
  readonly key: Hex;
  /** At most 1024 below the block of the claim. */
  readonly from: number;
}

/** Most blocks over which a slot is shown to be unchanged. */
export const MAX_HISTORY = 1024;

/** The proof that a slot is unchanged: answers of endpoints, unchanged. */
export interface EvidenceHistory {
  /** `eth_getBlockByHash` of the block `from`. */
  readonly header: unknown;
  /** `eth_getProof` of the account there, with the slot. */
  readonly state: unknown;
  /** `eth_getBlockByHash` and `eth_getBlockAccessList` of each block after it, the lowest first. */
  readonly blocks: readonly { readonly header: unknown; readonly list: unknown }[];
}

/**
 * Everything that is needed to verify a claim without any endpoint, from a trusted beacon block on: JSON, 0.1 to 1 MB. The members are
 * answers of endpoints, unchanged.
 *
 * @source docs/spec/settled.md 7
 */
export interface EvidenceBundle {
  readonly format: typeof EVIDENCE_FORMAT;
  /** Of layer 2. */
  readonly chainId: number;
  readonly claim: EvidenceClaim;
  /** Root of the beacon block that the evidence begins with, 32 bytes. */
  readonly checkpoint: Hex;
  /** Beacon API: the bootstrap of the checkpoint, and the updates after it. */
  readonly consensus: { readonly bootstrap: unknown; readonly answers: readonly ConsensusAnswer[] };
  /** `eth_getBlockByHash` of layer 1: the final block. It is there if consensus proves only its hash, as from the Gloas fork on. */
  readonly layerOneHeader?: unknown;
  /** Number of the finalized layer-2 block. */
  readonly finalized: number;
  /** `eth_getProof` of the rollup contract on layer 1, with the slots of `anchorSlots`. */
  readonly rollup: unknown;
  /** `eth_getBlockByHash` of the finalized block. It is there if layer 1 stores the hash of this block. */
  readonly finalizedHeader?: unknown;
  /**
   * `linea_getProof` at the finalized block: of the claimed account, or of the history contract with the slot of the block. With
   * `finalizedHeader`, it is `eth_getProof` at that block, or nothing if the claim is that block.
   */
  readonly state?: unknown;
  /** `eth_getBlockByHash`, for the claim of a block; left out if it is that of `finalizedHeader`. */
  readonly header?: unknown;
  /** Only for the claim that a slot is unchanged. */
  readonly history?: EvidenceHistory;
}

/** What the verification of evidence needs to know about a network. A network profile has these members. */
export interface EvidenceNetwork {
  readonly chainId: number;
  readonly rollup: RollupContract;
  readonly hashSchemes: readonly { readonly fromBlock: number; readonly scheme: HashScheme }[];
  readonly layerOne?: Network['layerOne'];
  readonly accessLists?: Network['accessLists'];
}

/** What you trust when you verify a bundle. */
export interface EvidenceTrust {
  /** The layer-2 network with its rollup contract. */
  readonly network: EvidenceNetwork;
  /** Root of a beacon block of layer 1, 32 bytes. The evidence must begin with it. */
  readonly checkpoint: Uint8Array;
  /** Unix time in milliseconds. Nothing may be signed more than one slot after it. Default: the time of the clock. */
  readonly now?: number;
  /** How old the checkpoint may be at `now`, ms. Default: 14 days. Old keys of a sync committee may be stolen. */
  readonly maxAgeMs?: number;
}

/** The part of a bundle in which a check failed. */
export type EvidenceLink =
  | 'chainId'
  | 'checkpoint'
  | 'consensus'
  | 'layerOneHeader'
  | 'rollup'
  | 'finalizedHeader'
  | 'state'
  | 'header'
  | 'history';

/** A bundle that proves its claim. */
export interface VerifiedEvidence {
  readonly verified: true;
  readonly claim: EvidenceClaim;
  /** The final layer-1 block. */
  readonly layerOne: LayerOneBlock;
  /** How many members of the sync committee signed each update, in order. */
  readonly participants: readonly number[];
  /** The finalized layer-2 block, and what layer 1 stores for it: the root of the zk state after it, or its hash, 32 bytes each. */
  readonly finalized: { readonly number: number; readonly stateRoot?: Uint8Array; readonly blockHash?: Uint8Array };
  /** The claimed account and its slots, in the zk state. */
  readonly proof?: VerifiedLineaProof;
  /** The claimed account and its slots in the ordinary state of the finalized block, if layer 1 stores the hash of this block. */
  readonly ethereumProof?: VerifiedEthereumProof;
  /** The header of the claimed block. */
  readonly header?: VerifiedHeader;
  /** The value of the unchanged slot, 32 bytes. */
  readonly value?: Uint8Array;
}

/** Why a bundle does not prove its claim. */
export interface EvidenceRefusal {
  readonly verified: false;
  readonly link: EvidenceLink;
  /** `OTHER_CHAIN`, `OTHER_CHECKPOINT`, or the reason of the verifier of this link. */
  readonly reason: string;
  /** Path inside the bundle. */
  readonly at: string;
  readonly message: string;
}

export type EvidenceVerdict = VerifiedEvidence | EvidenceRefusal;
