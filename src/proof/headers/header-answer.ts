import { type BlockHeader, headerHash } from '../../ethereum/header.js';
import { equalBytes } from '../../primitives/bytes.js';
import { malformed, member, readBytes, readCount, readNumber256, readObject } from '../json-reader.js';
import { judge, type ProofFailure, Refusal } from '../verdict.js';

/** A header and its hash, 32 bytes. */
export interface HashedHeader {
  readonly header: BlockHeader;
  readonly hash: Uint8Array;
}

/** A header whose hash was recomputed and matches. */
export interface VerifiedHeader extends HashedHeader {
  readonly verified: true;
}

/** Why a header is refused. */
export type HeaderFailureReason =
  /** The hash of the fields is not the one in the answer. */
  | 'HASH_MISMATCH'
  /** It is not the requested block. */
  | 'OTHER_BLOCK';

/** A header, or why it is refused. */
export type HeaderVerdict = VerifiedHeader | ProofFailure<HeaderFailureReason>;

/** Members that later forks added, in the order of the header. A header that has one of them has all before it. */
const LATER_MEMBERS = [
  'baseFeePerGas',
  'withdrawalsRoot',
  'blobGasUsed',
  'excessBlobGas',
  'parentBeaconBlockRoot',
  'requestsHash',
] as const;

/**
 * Reads the header of a JSON-RPC block. Other members are ignored. Members of later forks may be missing or null.
 *
 * @param at - path of the block inside the answer; empty if the answer is the block
 * @throws PlumblineError `PROOF_MALFORMED`
 * @source docs/spec/json-rpc.md 5.1
 */
export function readHeader(json: unknown, at = ''): BlockHeader {
  const block = readObject(json, at);
  const bytes = (name: string, ...lengths: number[]) => readBytes(block[name], member(at, name), ...lengths);
  const number = (name: string) => readNumber256(block[name], member(at, name));
  const has = (name: string) => block[name] !== undefined && block[name] !== null;
  const gap = LATER_MEMBERS.findIndex((name) => !has(name));
  const stray = gap < 0 ? undefined : LATER_MEMBERS.slice(gap).find(has);
  if (stray !== undefined) throw malformed(member(at, stray), `is present without ${LATER_MEMBERS[gap]}`);
  if (has('blobGasUsed') && !has('parentBeaconBlockRoot'))
    throw malformed(member(at, LATER_MEMBERS[gap]!), 'is missing');
  return {
    parentHash: bytes('parentHash', 32),
    sha3Uncles: bytes('sha3Uncles', 32),
    miner: bytes('miner', 20),
    stateRoot: bytes('stateRoot', 32),
    transactionsRoot: bytes('transactionsRoot', 32),
    receiptsRoot: bytes('receiptsRoot', 32),
    logsBloom: bytes('logsBloom', 256),
    difficulty: number('difficulty'),
    number: readCount(block.number, member(at, 'number')),
    gasLimit: number('gasLimit'),
    gasUsed: number('gasUsed'),
    timestamp: readCount(block.timestamp, member(at, 'timestamp')),
    extraData: bytes('extraData'),
    mixHash: bytes('mixHash', 32),
    nonce: bytes('nonce', 8),
    ...(has('baseFeePerGas') && { baseFeePerGas: number('baseFeePerGas') }),
    ...(has('withdrawalsRoot') && { withdrawalsRoot: bytes('withdrawalsRoot', 32) }),
    ...(has('blobGasUsed') && {
      blobGasUsed: number('blobGasUsed'),
      excessBlobGas: number('excessBlobGas'),
      parentBeaconBlockRoot: bytes('parentBeaconBlockRoot', 32),
    }),
    ...(has('requestsHash') && { requestsHash: bytes('requestsHash', 32) }),
  };
}

/**
 * Verifies the hash of a header, and that it is the requested block. It does not verify that the block is on the chain: see
 * `header-link.ts`, `clique-seal.ts` and `maru-seals.ts`.
 *
 * @param answer - `result` of `eth_getBlockByHash` or `eth_getBlockByNumber`, not null
 * @param asked - hash, 32 bytes, or number in the request
 * @throws PlumblineError `PROOF_MALFORMED`
 */
export function verifyHeader(
  answer: unknown,
  asked: { readonly hash?: Uint8Array; readonly number?: number } = {},
): HeaderVerdict {
  const header = readHeader(answer);
  const claimed = readBytes(readObject(answer, '').hash, 'hash', 32);
  return judge(() => {
    const hash = headerHash(header);
    if (!equalBytes(hash, claimed)) throw new Refusal('HASH_MISMATCH', 'hash', 'is not the hash of the fields');
    if (asked.hash !== undefined && !equalBytes(hash, asked.hash)) {
      throw new Refusal('OTHER_BLOCK', 'hash', 'is not the requested hash');
    }
    if (asked.number !== undefined && header.number !== asked.number) {
      throw new Refusal('OTHER_BLOCK', 'number', `is ${header.number}, requested was ${asked.number}`);
    }
    return { verified: true, header, hash };
  });
}
