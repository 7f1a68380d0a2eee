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
  /** The tokens that a message between the token bridges of the profile moves. Left out for all other messages. */
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

/** The layer-1 block whose state an answer is based on. */
export interface LayerOneView {
  /**
   * `settled`: layer-1 consensus finalized the block. `finalized`: layer-1 endpoints say that it is final, without proof. `held`: it
   * is a block of the devnet that answers.
   */
  readonly level: 'settled' | 'finalized' | 'held';
  readonly block: { readonly number: number; readonly hash: Hex; readonly timestamp: number };
  /** The newest rollup block that is final at this layer-1 block. */
  readonly finalizedBlock: number;
}

/** Blocks whose messages are known to be complete. Nothing is known about other blocks. */
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
   * The state at the block `layerOne` of the answer. `notFinal`: the block of the message is not final on layer 1. `anchored`: the
   * block is final, and the message was not claimed. `claimed`: the message was claimed.
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
  /** Number of the first block. If both are left out, the node asks the endpoints for the block. */
  readonly fromBlock?: number;
  /** Number of the last block. Default: `fromBlock`. */
  readonly toBlock?: number;
  /** Who gets the fee of the message. Default: the sender of the claim. */
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
  /** The rollup blocks that became final together. These numbers are not proved. The root is. */
  readonly finalization: { readonly from: number; readonly to: number };
  readonly layerOne: LayerOneView;
  /** Whether the slots and the balance of the contract allow the claim. The recipient may still refuse the call: see `wouldPass`. */
  readonly slotsAllow: boolean;
  /**
   * Whether the claim passes. It was executed on the proved state of the block `layerOne`, without a gas price, from the fee recipient
   * or the zero address. Left out if the slots refuse the claim, if the node does not follow layer-1 consensus, or if layer-1
   * endpoints do not give the state.
   */
  readonly wouldPass?: boolean;
  /** What the claim returned, if `wouldPass` is false: the recipient refuses it. */
  readonly revert?: { readonly data: Hex; readonly reason?: string };
  /** The error of the contract, if `slotsAllow` is false. */
  readonly refusal?: ClaimRefusal;
  /** The claim, to be sent on layer 1. */
  readonly transaction: { readonly to: Hex; readonly data: Hex; readonly value: '0x0' };
}

/** What was found about a message. `status` says which case it is. */
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
  /** An old message, from the time before message trees. Layer 1 recorded the message itself, so it is claimed without a proof. */
  | {
      readonly status: 'inbox';
      readonly message: MessageJson;
      readonly blockNumber: number;
      readonly proved: ProvedBlocks;
      readonly layerOne: LayerOneView;
      /** The claim, to be sent on layer 1. Pauses, the rate limit and the recipient may still refuse it. */
      readonly transaction: PreparedClaim['transaction'];
    }
  /** It was sent in a final block, but no layer-1 root was found that holds it. Endpoints hide logs, or hide layer-1 events. */
  | {
      readonly status: 'notAnchored';
      readonly message: MessageJson;
      readonly blockNumber: number;
      readonly proved: ProvedBlocks;
      readonly layerOne: LayerOneView;
    }
  /** It is not in the blocks that were read. Nothing is known about other blocks. */
  | { readonly status: 'notFound'; readonly proved: ProvedBlocks; readonly layerOne: LayerOneView };

/** What the rollup knows about a message from layer 1. */
export interface DepositStatus {
  /**
   * `notReceived`: the message is not anchored on the rollup, or does not exist. `received`: it can be claimed there. `claimed`: it
   * was claimed.
   */
  readonly status: 'notReceived' | 'received' | 'claimed';
  /** The final block of the rollup whose zk state was read, and its level. */
  readonly zkBlock: number;
  readonly level: LayerOneView['level'];
}

/** As `ClaimPreparation`, with the siblings as `proof`. */
export type MessageProofJson =
  | (Omit<PreparedClaim, 'siblings'> & { readonly proof: readonly Hex[] })
  | Exclude<ClaimPreparation, PreparedClaim>;
