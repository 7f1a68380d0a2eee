import type { TrustLevel } from '../chain/block.js';
import type { Hex } from '../primitives/hex.js';
import type { ClaimRefusal } from '../proof/messages.js';

/** A message from a rollup to layer 1. Amounts are quantities in wei. */
export interface MessageJson {
  /** 32 bytes, computed here from the other members. */
  readonly hash: Hex;
  readonly from: Hex;
  readonly to: Hex;
  /** Paid to the account that claims it. */
  readonly fee: Hex;
  readonly value: Hex;
  readonly nonce: Hex;
  readonly data: Hex;
  /** What a message between the token bridges of the profile moves; left out of any other message. */
  readonly tokenTransfer?: TokenTransfer;
}

/** Tokens that a message between token bridges moves. */
export interface TokenTransfer {
  /** Contract of the token on the chain that it comes from. */
  readonly token: Hex;
  /** Chain that the token comes from. */
  readonly chainId: Hex;
  /** In the smallest unit of the token. */
  readonly amount: Hex;
  /** Who gets them on layer 1. */
  readonly recipient: Hex;
}

/** The block of layer 1 whose state an answer rests on. */
export interface LayerOneView {
  /**
   * `settled`: layer-1 consensus finalized the block. `finalized`: its endpoints say so, and that is not proved. `held`: it is of the devnet
   * that answers.
   */
  readonly level: 'settled' | 'finalized' | 'held';
  readonly block: { readonly number: number; readonly hash: Hex; readonly timestamp: number };
  /** The newest block of the rollup that is final there. */
  readonly finalizedBlock: number;
}

/** Blocks whose messages are known to be complete. Nothing is known of any other block. */
export interface ProvedBlocks {
  readonly from: number;
  readonly to: number;
  /** The lowest trust level among them. */
  readonly level: TrustLevel;
}

/** Which messages `node.messages` reads. */
export interface MessageQuery {
  /** The sender of the messages, or their recipient on layer 1. */
  readonly address: Hex;
  /** Numbers of the first and the last block. */
  readonly fromBlock: number;
  readonly toBlock: number;
}

/** A message that was sent on the rollup. */
export interface SentMessage extends MessageJson {
  readonly blockNumber: number;
  readonly blockHash: Hex;
  readonly transactionHash: Hex;
  /** Index within the block. */
  readonly logIndex: number;
  /**
   * `notFinal`: its block is not final on layer 1. `anchored`: it is, and the message was not claimed. `claimed`: it was. All at the block
   * `layerOne` of the answer.
   */
  readonly state: 'notFinal' | 'anchored' | 'claimed';
}

/** The messages of an address. */
export interface MessageList {
  /** In order of block and of log. */
  readonly messages: readonly SentMessage[];
  readonly proved: ProvedBlocks;
  readonly layerOne: LayerOneView;
}

/** Where `node.prepareClaim` looks for a message, and who gets its fee. */
export interface ClaimOptions {
  /** Number of the first block. The endpoints are asked for the block when both are left out. */
  readonly fromBlock?: number;
  /** Number of the last block; that of `fromBlock` when left out. */
  readonly toBlock?: number;
  /** Who gets the fee of the message; the sender of the claim when left out. */
  readonly feeRecipient?: Hex;
}

/** What a claim needs, proved on layer 1. */
export interface PreparedClaim {
  /** Whether the message was claimed already. */
  readonly status: 'anchored' | 'claimed';
  readonly message: MessageJson;
  /** From the leaf up, 32 bytes each. */
  readonly siblings: readonly Hex[];
  readonly leafIndex: number;
  readonly root: Hex;
  /** As layer 1 stores it with the root. */
  readonly depth: number;
  /** The blocks of the rollup that were final together. They are not proved: the root is. */
  readonly finalization: { readonly from: number; readonly to: number };
  readonly layerOne: LayerOneView;
  /** Whether slots and balance of the contract let the claim pass. The recipient may still refuse the call: `wouldPass` says that. */
  readonly slotsAllow: boolean;
  /**
   * Whether the claim passes: it was executed on the proved state of the block `layerOne`, without a gas price, from the fee recipient or the
   * zero address. Left out where the slots refuse it, where consensus of layer 1 is not followed, and where its endpoints do not give the
   * state.
   */
  readonly wouldPass?: boolean;
  /** What the claim returned, where `wouldPass` is false: the recipient refuses it. */
  readonly revert?: { readonly data: Hex; readonly reason?: string };
  /** The error of the contract, where `slotsAllow` is false. */
  readonly refusal?: ClaimRefusal;
  /** The claim, to be sent on layer 1. */
  readonly transaction: { readonly to: Hex; readonly data: Hex; readonly value: '0x0' };
}

/** What was found of a message. `status` says it. */
export type ClaimPreparation =
  | PreparedClaim
  /** Its block is not final on layer 1 yet. */
  | {
      readonly status: 'notFinal';
      readonly message: MessageJson;
      readonly blockNumber: number;
      readonly proved: ProvedBlocks;
      readonly layerOne: LayerOneView;
    }
  /** An old message: layer 1 has recorded it itself, as it did before there were trees. It is claimed without a proof. */
  | {
      readonly status: 'inbox';
      readonly message: MessageJson;
      readonly blockNumber: number;
      readonly proved: ProvedBlocks;
      readonly layerOne: LayerOneView;
      /** The claim, to be sent on layer 1. Pauses, the rate limit and the recipient may still refuse it. */
      readonly transaction: PreparedClaim['transaction'];
    }
  /** It was sent in a final block, and no root that layer 1 stores was found to hold it: endpoints hide logs, or the events of layer 1. */
  | {
      readonly status: 'notAnchored';
      readonly message: MessageJson;
      readonly blockNumber: number;
      readonly proved: ProvedBlocks;
      readonly layerOne: LayerOneView;
    }
  /** It is not in the blocks that were read. Nothing is known of other blocks. */
  | { readonly status: 'notFound'; readonly proved: ProvedBlocks; readonly layerOne: LayerOneView };

/** What the rollup has of a message from layer 1. */
export interface DepositStatus {
  /** `notReceived`: not anchored there, or no such message. `received`: it can be claimed there. `claimed`: it was. */
  readonly status: 'notReceived' | 'received' | 'claimed';
  /** The final block of the rollup whose zk state was read, and its level. */
  readonly zkBlock: number;
  readonly level: LayerOneView['level'];
}

/** As `ClaimPreparation`, with the siblings as `proof`. */
export type MessageProofJson =
  | (Omit<PreparedClaim, 'siblings'> & { readonly proof: readonly Hex[] })
  | Exclude<ClaimPreparation, PreparedClaim>;
