import { secp256k1 } from '@noble/curves/secp256k1.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { concatBytes } from '../../src/primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { maruBodyRoot, maruHeaderHash, maruStateRoot } from '../../src/proof/seals.js';

/** Secret keys of four validators, of whom three have to seal, and of a stranger. */
const KEYS = [1, 2, 3, 4, 9].map((byte) => new Uint8Array(32).fill(byte));
const addressOf = (key: Uint8Array) => keccak_256(secp256k1.getPublicKey(key, false).subarray(1)).subarray(12);
const validators = KEYS.slice(0, 4).map(addressOf);

export const VALIDATORS: readonly Hex[] = validators.map(bytesToHex);

/** `r | s | recovery id`, from the signing side of the library. */
function seal(hash: Uint8Array, signer: number): Hex {
  const signature = secp256k1.sign(hash, KEYS[signer]!, { prehash: false, format: 'recovered' });
  return bytesToHex(concatBytes(signature.subarray(1), signature.subarray(0, 1)));
}

/** The answers of Maru's interface for a beacon block around an execution block without transactions. */
export interface SealedAnswers {
  // biome-ignore lint/suspicious/noExplicitAny: lies change these answers anywhere.
  readonly block: any;
  // biome-ignore lint/suspicious/noExplicitAny: as above.
  readonly header: any;
}

/**
 * @param execution - answer of `eth_getBlockByNumber`
 * @param signers - places among the validators; 4 is a stranger
 */
export function sealBlock(execution: Record<string, Hex>, signers: readonly number[] = [0, 1, 2, 3]): SealedAnswers {
  const bytes = (name: string) => hexToBytes(execution[name]!);
  const payload = {
    parentHash: bytes('parentHash'),
    feeRecipient: bytes('miner'),
    stateRoot: bytes('stateRoot'),
    receiptsRoot: bytes('receiptsRoot'),
    logsBloom: bytes('logsBloom'),
    prevRandao: bytes('mixHash'),
    blockNumber: Number(execution.number),
    gasLimit: BigInt(execution.gasLimit!),
    gasUsed: BigInt(execution.gasUsed!),
    timestamp: Number(execution.timestamp),
    extraData: bytes('extraData'),
    baseFeePerGas: BigInt(execution.baseFeePerGas!),
    blockHash: bytes('hash'),
    transactions: [],
  };
  const bare = {
    number: payload.blockNumber + 1,
    round: 0,
    timestamp: payload.timestamp,
    proposer: validators[0]!,
    parentRoot: new Uint8Array(32).fill(7),
    stateRoot: new Uint8Array(32),
    bodyRoot: maruBodyRoot({ parentSeals: [], payload }),
  };
  const header = { ...bare, stateRoot: maruStateRoot(bare, validators) };
  const hash = maruHeaderHash(header);
  const message = {
    slot: String(header.number),
    proposer_index: bytesToHex(header.proposer),
    parent_root: bytesToHex(header.parentRoot),
    state_root: bytesToHex(header.stateRoot),
  };
  const snake = (name: string) => name.replace(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`);
  const text = (value: unknown) =>
    value instanceof Uint8Array ? bytesToHex(value) : Array.isArray(value) ? value : String(value);
  const body = {
    attestations: signers.map((signer) => ({ data: { slot: message.slot }, signature: seal(hash, signer) })),
    execution_payload: Object.fromEntries(Object.entries(payload).map(([name, value]) => [snake(name), text(value)])),
  };
  const outer = { body_root: bytesToHex(header.bodyRoot), round: '0', timestamp: String(header.timestamp) };
  return {
    block: { data: { message: { ...message, body } } },
    header: { data: { message: { ...message, ...outer } } },
  };
}
