/**
 * Block headers from JSON-RPC: read and hashed, linked to their parents, and held against the rules of their fork
 * (docs/spec/json-rpc.md 5.1). A header is believed for its hash; who vouches for the hash is another question (`seals.ts`).
 */

import { PlumblineError } from '../errors.js';
import { EMPTY_REQUESTS_HASH, EMPTY_TRIE_ROOT, EMPTY_UNCLES_HASH, MAX_EXTRA_DATA } from '../ethereum/constants.js';
import { type BlockHeader, headerHash } from '../ethereum/header.js';
import { HARDFORKS, type Hardfork, type Network } from '../networks/network.js';
import { equalBytes, isZeroBytes } from '../primitives/bytes.js';
import { malformed, member, readBytes, readCount, readNumber256, readObject } from './json-reader.js';
import { judge, type ProofFailure, Refusal } from './verdict.js';

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
type HeaderFailureReason =
  /** The hash of the fields is not the one in the answer. */
  | 'HASH_MISMATCH'
  /** It is not the requested block. */
  | 'OTHER_BLOCK';

/** A header, or why it is refused. */
type HeaderVerdict = VerifiedHeader | ProofFailure<HeaderFailureReason>;

/** Members that later forks added, in the order of the header. A header that has one of them has all before it. */
const LATER_MEMBERS = [
  'baseFeePerGas',
  'withdrawalsRoot',
  'blobGasUsed',
  'excessBlobGas',
  'parentBeaconBlockRoot',
  'requestsHash',
  'blockAccessListHash',
  'slotNumber',
] as const;

/** Members that every header has. */
const FIRST_MEMBERS = [
  ...['parentHash', 'sha3Uncles', 'miner', 'stateRoot', 'transactionsRoot', 'receiptsRoot', 'logsBloom', 'difficulty'],
  ...['number', 'gasLimit', 'gasUsed', 'timestamp', 'extraData', 'mixHash', 'nonce'],
];
/** Members of a block that are not of its header: their values do not change the hash. */
const NOT_HASHED = ['hash', 'size', 'totalDifficulty', 'transactions', 'uncles', 'withdrawals'];
const KNOWN: ReadonlySet<string> = new Set([...FIRST_MEMBERS, ...LATER_MEMBERS, ...NOT_HASHED]);
/** Most unknown members that an error names. */
const NAMED_MEMBERS = 8;
const MAX_SLOT = 2n ** 64n - 1n;

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
  if (has('blockAccessListHash') && !has('slotNumber')) throw malformed(member(at, 'slotNumber'), 'is missing');
  const slotNumber = has('slotNumber') ? number('slotNumber') : 0n;
  if (slotNumber > MAX_SLOT) throw malformed(member(at, 'slotNumber'), 'is not below 2^64');
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
    ...(has('slotNumber') && { blockAccessListHash: bytes('blockAccessListHash', 32), slotNumber }),
  };
}

/** Names of the members of a JSON-RPC block that this version does not know, of those that have a value. */
function unknownMembers(json: unknown): string[] {
  const members = Object.entries(readObject(json, ''));
  return members.flatMap(([name, value]) => (KNOWN.has(name) || value === undefined || value === null ? [] : [name]));
}

/** The error for a header whose hash is not that of the members that this version knows. @param names - of the others */
function headerUnsupported(number: number, names: readonly string[]): PlumblineError<'HEADER_UNSUPPORTED'> {
  const members = names.filter((name) => /^\w{1,40}$/.test(name)).slice(0, NAMED_MEMBERS);
  const told = `${members.join(', ')}${members.length < names.length ? ` and ${names.length - members.length} more` : ''}`;
  const message = `the header of block ${number} has members that this version does not know (${told}): use a newer version`;
  return new PlumblineError('HEADER_UNSUPPORTED', message, { block: String(number), members });
}

/**
 * Verifies the hash of a header, and that it is the requested block. It does not verify that the block is on the chain: see
 * `verifyHeaderLink` and `seals.ts`. Members that a later fork adds are not known here: they are ignored if the hash is that of
 * the known ones. If it is not, this version cannot tell whether the header is false.
 *
 * @param answer - `result` of `eth_getBlockByHash` or `eth_getBlockByNumber`, not null
 * @param asked - hash, 32 bytes, or number in the request
 * @throws PlumblineError `PROOF_MALFORMED`; `HEADER_UNSUPPORTED` for unknown members, and another hash than that of the known ones
 * @source docs/spec/glamsterdam.md 9
 */
export function verifyHeader(
  answer: unknown,
  asked: { readonly hash?: Uint8Array; readonly number?: number } = {},
): HeaderVerdict {
  const header = readHeader(answer);
  const claimed = readBytes(readObject(answer, '').hash, 'hash', 32);
  return judge(() => {
    const hash = headerHash(header);
    const isWhole = equalBytes(hash, claimed) && (asked.hash === undefined || equalBytes(hash, asked.hash));
    const unknown = isWhole ? [] : unknownMembers(answer);
    if (unknown.length > 0) throw headerUnsupported(header.number, unknown);
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

/** Why a header is not the child of another. */
type LinkFailureReason =
  /** The number is not that of the parent plus one. */
  | 'NUMBER_MISMATCH'
  /** Its parent hash is that of another block. */
  | 'PARENT_MISMATCH'
  /** The time is not later than the parent's, or earlier where the network allows equal times. */
  | 'TIMESTAMP_ORDER';

/** A verified link between parent and child. */
interface VerifiedLink {
  readonly verified: true;
}

/** Whether a header is the child of another, or why not. */
type LinkVerdict = VerifiedLink | ProofFailure<LinkFailureReason>;

/**
 * Verifies that a block is the child of another. Both hashes must have been verified, as by `verifyHeader`.
 *
 * @param equalTimestamps - as in the network's profile
 * @source yellow paper 4.3.4; checked with every recorded link of both networks
 */
export function verifyHeaderLink(
  parent: HashedHeader,
  child: HashedHeader,
  equalTimestamps: Network['equalTimestamps'] = 'refused',
): LinkVerdict {
  const [before, after] = [parent.header, child.header];
  return judge(() => {
    if (after.number !== before.number + 1) {
      throw new Refusal('NUMBER_MISMATCH', 'number', `is ${after.number}, that of the parent ${before.number}`);
    }
    if (!equalBytes(after.parentHash, parent.hash)) {
      throw new Refusal('PARENT_MISMATCH', 'parentHash', 'is not the hash of the parent');
    }
    if (after.timestamp < before.timestamp || (after.timestamp === before.timestamp && equalTimestamps !== 'allowed')) {
      const message = `is ${after.timestamp}, that of the parent ${before.timestamp}`;
      throw new Refusal('TIMESTAMP_ORDER', 'timestamp', message);
    }
    return { verified: true };
  });
}

/** The rule of its fork that a header breaks. */
type HeaderRuleFailureReason =
  /** A field of the block's fork is missing, or a field of another fork is present. */
  | 'FIELD_OF_OTHER_FORK'
  /** A field that is constant on the network has another value. */
  | 'CONSTANT_MISMATCH'
  /** More gas used than the limit, or extra data of more than 32 bytes after Clique. */
  | 'LIMIT_EXCEEDED';

/** Whether a header follows the rules of its fork. */
type HeaderRuleVerdict = { readonly verified: true } | ProofFailure<HeaderRuleFailureReason>;

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
