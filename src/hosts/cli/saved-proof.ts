import { invalidParameter, isPlumblineError, messageOf } from '../../errors.js';
import type { Hasher, HashScheme } from '../../kernel/contracts.js';
import { loadHasher } from '../../kernel/hasher.js';
import { padStart } from '../../primitives/bytes.js';
import { bytesToHex, hexToBytes } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import type { VerifiedEthereumProof } from '../../proof/ethereum-proof.js';
import { readLineaAnswer, type VerifiedLineaProof } from '../../proof/linea-proof.js';

/** A proof as it was saved. What the file does not say of its request is taken from the proof itself. */
export interface SavedProof {
  /** The result of `linea_getProof`. */
  readonly answer: unknown;
  readonly address: unknown;
  readonly storageKeys: readonly unknown[];
  /** Number of the block that was asked for, where the file says so. */
  readonly block: number | undefined;
  readonly stateRoot: unknown;
  readonly scheme: unknown;
}

/**
 * Reads a response as it was saved, its result alone, or an object around one of them.
 *
 * @throws PlumblineError `INVALID_PARAMETER`
 */
export function readSavedProof(parsed: unknown): SavedProof {
  const file = members(parsed);
  const response = members(file.response);
  const error = file.error ?? response.error;
  if (error !== undefined)
    throw invalidParameter('FILE', `holds an error instead of a proof: ${JSON.stringify(error)}`);
  const answer = file.result ?? response.result ?? file.response ?? parsed;
  const { accountProof, storageProofs } = members(answer);
  const [address, keys, block] = paramsOf(file.request);
  const proved = Array.isArray(storageProofs) ? storageProofs.map((item) => members(item).key) : [];
  const storageKeys = file.storageKeys ?? keys ?? proved;
  if (!Array.isArray(storageKeys)) throw invalidParameter('FILE', 'holds storage keys that are not a list');
  return {
    answer,
    address: file.address ?? address ?? members(accountProof).key,
    storageKeys,
    block: numberOf(file.block ?? block),
    stateRoot: file.stateRoot ?? file.root,
    scheme: file.scheme,
  };
}

/** @throws PlumblineError `INVALID_PARAMETER` for a request that cannot be read: the proof may be of another account */
function paramsOf(request: unknown): readonly unknown[] {
  if (request === undefined) return [];
  const { params } = members(request);
  if (Array.isArray(params)) return params;
  throw invalidParameter('FILE', 'holds a request without a list of params');
}

/** A block number as a quantity or a JSON number; undefined for a tag or a hash, which do not name one. */
function numberOf(block: unknown): number | undefined {
  const number = typeof block === 'string' && /^0x[0-9a-f]{1,13}$/i.test(block) ? Number(block) : block;
  return Number.isSafeInteger(number) && (number as number) >= 0 ? (number as number) : undefined;
}

function members(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

/** @throws PlumblineError `INVALID_PARAMETER` that names the option */
export function requiredBytes(option: string, length: number, value: unknown): Uint8Array {
  if (typeof value !== 'string') throw invalidParameter(option, 'is missing; FILE does not hold it either');
  try {
    return hexToBytes(value, length);
  } catch (error) {
    throw invalidParameter(option, `cannot be read: ${messageOf(error)}`);
  }
}

/** A storage key, padded to 32 bytes as `linea_getProof` does. @throws PlumblineError `INVALID_PARAMETER` */
export function readStorageKey(value: unknown): Uint8Array {
  const digits = typeof value === 'string' && /^0x[0-9a-f]{1,64}$/i.test(value) ? value.slice(2) : undefined;
  if (digits === undefined)
    throw invalidParameter('--key', `must be 1 to 32 bytes of hex, got ${JSON.stringify(value)}`);
  return padStart(hexToBytes(`0x${digits.padStart(digits.length + (digits.length % 2), '0')}`), 32);
}

/** What a proof says of itself. Nothing is verified by it. */
interface ClaimedProof {
  /** Of the scheme whose form the proof has. */
  readonly hasher: Hasher;
  /** The root that it leads to, 32 bytes: the hash of its top node; undefined for one that cannot be hashed. */
  readonly root: Uint8Array | undefined;
}

/**
 * Reads a proof in the first of the schemes whose form it has: their nodes have different lengths.
 *
 * @throws PlumblineError `PROOF_MALFORMED` for a proof in none of them
 */
export async function readClaim(answer: unknown, schemes: readonly HashScheme[]): Promise<ClaimedProof> {
  let malformed: unknown;
  for (const scheme of schemes) {
    const hasher = await loadHasher(scheme);
    try {
      const { accountProof: item } = readLineaAnswer(hasher, answer);
      return { hasher, root: hashOf(hasher, (item.present ? item.proof : item.leftProof).nodes[0]!) };
    } catch (error) {
      if (!isPlumblineError(error, 'PROOF_MALFORMED')) throw error;
      malformed ??= error;
    }
  }
  throw malformed;
}

function hashOf(hasher: Hasher, node: Uint8Array): Uint8Array | undefined {
  try {
    return hasher.hash(node);
  } catch (error) {
    if (isPlumblineError(error, 'HASH_INPUT_NOT_CANONICAL')) return undefined;
    throw error;
  }
}

type ProvedAccount = Pick<VerifiedLineaProof, 'account' | 'slots'> | Pick<VerifiedEthereumProof, 'account' | 'slots'>;

/** The code of an account: an account of the ordinary state does not say its length. */
function codeOf(account: NonNullable<ProvedAccount['account']>): { readonly hash: Uint8Array; readonly size?: bigint } {
  if ('codeHash' in account) return { hash: account.codeHash };
  return { hash: account.keccakCodeHash, size: account.codeSize };
}

/** A proved account as JSON: numbers as quantities, bytes as hex. */
export function shownAccount({ account, slots }: ProvedAccount) {
  const code = account && codeOf(account);
  return {
    account: account && {
      nonce: toQuantity(account.nonce),
      balance: toQuantity(account.balance),
      keccakCodeHash: bytesToHex(code!.hash),
      ...(code!.size !== undefined && { codeSize: toQuantity(code!.size) }),
    },
    slots: slots.map(({ key, value, exists }) => ({ key: bytesToHex(key), value: bytesToHex(value), exists })),
  };
}

/** A proved account in lines of text. */
export function accountInWords({ account, slots }: ProvedAccount): string[] {
  if (account === undefined) return ['this account does not exist in this state'];
  const { hash, size } = codeOf(account);
  return [
    `nonce    ${account.nonce}`,
    `balance  ${account.balance} wei`,
    `code     ${size === undefined ? '' : `${size} bytes, `}keccak-256 ${bytesToHex(hash)}`,
    ...slots.map(({ key, value, exists }) => `slot     ${bytesToHex(key)} = ${exists ? bytesToHex(value) : 'not set'}`),
  ];
}
