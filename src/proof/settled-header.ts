import type { AccountValue } from '../accumulator/account-value.js';
import { EMPTY_CODE_HASH, HISTORY_CODE_HASH, HISTORY_CONTRACT, HISTORY_WINDOW } from '../ethereum/constants.js';
import type { Hasher } from '../kernel/contracts.js';
import { bigIntToBytes, equalBytes, isZeroBytes } from '../primitives/bytes.js';
import { type EthereumProofFailureReason, verifyEthereumProof } from './ethereum-proof.js';
import { type VerifiedHeader, verifyHeader } from './headers.js';
import { type LineaProofFailureReason, verifyLineaProof } from './linea-proof.js';
import { judge, type ProofFailure, Refusal } from './verdict.js';

/** A layer-2 block, and the finalized block whose zk state holds its hash. */
export interface SettledHeaderRequest {
  /** Number of the block whose header you need. */
  readonly block: number;
  /** Number of the finalized block. */
  readonly finalized: number;
  /** Root of the zk state after the finalized block, 32 bytes, from layer 1. */
  readonly stateRoot: Uint8Array;
}

/** Why a header is not settled. */
export type SettledHeaderFailureReason =
  | LineaProofFailureReason
  /** The zk state does not hold the hash of this block: it is not below the finalized one, or more than 8191 blocks below. */
  | 'OUT_OF_RING'
  /** The zk state has no history contract. */
  | 'CONTRACT_MISSING'
  /** The history contract does not have the code of EIP-2935. */
  | 'CONTRACT_CODE'
  /** The hash was not written: the contract did not exist at that block. */
  | 'HASH_MISSING'
  /** The header does not have the proved hash. */
  | 'HEADER_HASH'
  /** The header has the proved hash, and another number. */
  | 'HEADER_NUMBER';

/** The hash of a block, proved by the zk state, or why it is not. */
export type SettledHashVerdict =
  | { readonly verified: true; readonly hash: Uint8Array }
  | ProofFailure<SettledHeaderFailureReason>;

/** A header under its proved hash, or why it is refused. */
export type SettledHeaderVerdict = VerifiedHeader | ProofFailure<SettledHeaderFailureReason>;

/**
 * Slot of the history contract that holds the hash of a block, 32 bytes.
 *
 * @param finalized - the block whose state is read
 * @returns undefined if that state does not hold the hash: its slot then holds the hash of another block
 * @source docs/spec/settled.md 2
 */
export function historySlot(block: number, finalized: number): Uint8Array | undefined {
  const isHeld = block >= 0 && block < finalized && block >= finalized - HISTORY_WINDOW;
  return isHeld ? bigIntToBytes(BigInt(block % HISTORY_WINDOW), 32) : undefined;
}

/**
 * The hash of a block by values that were proved of the history contract.
 *
 * @param proved - the history contract's account, and the value of the slot of `historySlot`
 */
export function settledHash(
  {
    account,
    value: hash,
  }: { readonly account: Pick<AccountValue, 'keccakCodeHash'> | undefined; readonly value: Uint8Array },
  block: number,
): SettledHashVerdict {
  return judge(() => {
    if (account === undefined || equalBytes(account.keccakCodeHash, EMPTY_CODE_HASH)) {
      throw new Refusal('CONTRACT_MISSING', 'accountProof', 'there is no history contract in this state');
    }
    if (!equalBytes(account.keccakCodeHash, HISTORY_CODE_HASH)) {
      throw new Refusal('CONTRACT_CODE', 'accountProof', 'the history contract does not have the code of EIP-2935');
    }
    if (isZeroBytes(hash)) {
      throw new Refusal('HASH_MISSING', 'storageProofs[0]', `the hash of block ${block} was never written`);
    }
    return { verified: true, hash };
  });
}

/**
 * Verifies the header of a block by the zk state after a later, finalized block.
 *
 * @param answer - `linea_getProof` of the history contract at the finalized block, with the slot of the block alone: its number
 *   modulo 8191
 * @param header - `result` of `eth_getBlockByHash` or `eth_getBlockByNumber`
 * @throws PlumblineError `PROOF_MALFORMED`, `INVALID_LENGTH`; `HEADER_UNSUPPORTED` as `verifyHeader`
 * @source docs/spec/settled.md 3
 *
 * @example
 * ```ts
 * import { devnet } from 'plumbline-l2/fees';
 * import { createInlineNode } from 'plumbline-l2/inline';
 * import { anchorSlots, bytesToHex, hexToBytes, loadHasher, verifyL1Anchor, verifySettledHeader } from 'plumbline-l2/verify';
 *
 * const node = await createInlineNode();
 * for (let i = 0; i < 5; i++) await node.request({ method: 'evm_mine' });
 * const finalized = (await node.request({ method: 'eth_getBlockByNumber', params: ['finalized', false] }))!;
 * const header = await node.request({ method: 'eth_getBlockByNumber', params: ['0x2', false] });
 * const history = '0x0000f90827f1c53a10cb7a02335b175320002935';
 * const slot = `0x${'2'.padStart(64, '0')}` as const;
 * const answer = await node.request({ method: 'linea_getProof', params: [history, [slot], finalized.number] });
 *
 * // The root of the zk state, from layer 1.
 * const { rollup } = devnet();
 * const layerOne = (await node.l1.request({ method: 'eth_getBlockByNumber', params: ['latest', false] }))!;
 * const slots = anchorSlots(rollup, Number(finalized.number)).map((one) => bytesToHex(one));
 * const proof = await node.l1.request({ method: 'eth_getProof', params: [rollup.address, slots, layerOne.number] });
 * const l1StateRoot = hexToBytes(layerOne.stateRoot);
 * const anchor = verifyL1Anchor({ l1StateRoot, rollup, l2BlockNumber: Number(finalized.number) }, proof);
 * if (!anchor.verified) throw new Error(anchor.reason);
 *
 * const request = { block: 2, finalized: Number(finalized.number), stateRoot: anchor.stateRoot! };
 * verifySettledHeader(await loadHasher('poseidon2'), request, answer, header).verified; // => true
 * await node.close();
 * ```
 */
export function verifySettledHeader(
  hasher: Hasher,
  { block, finalized, stateRoot }: SettledHeaderRequest,
  answer: unknown,
  header: unknown,
): SettledHeaderVerdict {
  const key = historySlot(block, finalized);
  if (key === undefined) return outOfRing(block, finalized);
  const proof = verifyLineaProof(hasher, { address: HISTORY_CONTRACT, storageKeys: [key], stateRoot }, answer);
  if (!proof.verified) return proof;
  const proved = settledHash({ account: proof.account, value: proof.slots[0]!.value }, block);
  return proved.verified ? headerOfHash(proved.hash, block, header) : proved;
}

/**
 * The hash of a block by the history contract in the state of a later block, whose header is proved.
 *
 * @param answer - `eth_getProof` of the history contract at `top`, with the slot of the block alone
 * @throws PlumblineError `PROOF_MALFORMED`, `INVALID_LENGTH`
 */
export function hashInRing(
  block: number,
  top: number,
  stateRoot: Uint8Array,
  answer: unknown,
): SettledHashVerdict | ProofFailure<EthereumProofFailureReason> {
  const key = historySlot(block, top);
  if (key === undefined) return outOfRing(block, top);
  const proof = verifyEthereumProof({ address: HISTORY_CONTRACT, storageKeys: [key], stateRoot }, answer);
  if (!proof.verified) return proof;
  const { account, slots } = proof;
  return settledHash({ account: account && { keccakCodeHash: account.codeHash }, value: slots[0]!.value }, block);
}

/** The header that has a proved hash. @throws PlumblineError `PROOF_MALFORMED`, `HEADER_UNSUPPORTED` */
export function headerOfHash(hash: Uint8Array, block: number, header: unknown): SettledHeaderVerdict {
  const verdict = verifyHeader(header, { hash });
  if (!verdict.verified) return { ...verdict, reason: 'HEADER_HASH' };
  const { number } = verdict.header;
  if (number === block) return verdict;
  return { verified: false, reason: 'HEADER_NUMBER', at: 'number', message: `is ${number}, requested was ${block}` };
}

function outOfRing(block: number, finalized: number): ProofFailure<'OUT_OF_RING'> {
  const message = `the state after block ${finalized} holds the hashes of the ${HISTORY_WINDOW} blocks below it, and not that of block ${block}`;
  return { verified: false, reason: 'OUT_OF_RING', at: '', message };
}
