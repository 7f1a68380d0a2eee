import { encodeTransaction } from '../ethereum/encode-transaction.js';
import type { SignedTransaction } from '../ethereum/transaction.js';
import type { AccessListEntry, Authorization } from '../primitives/call-request.js';
import { malformed, member, readArray, readBytes, readCount, readNumber256, readObject } from './json-reader.js';

type Json = Readonly<Record<string, unknown>>;

/**
 * Encodes a JSON-RPC transaction as its block does. The sender is not part of the encoding. Redundant members are ignored,
 * except that `v` must match `yParity`, and `chainId` must match a chain id in `v` of a legacy transaction.
 *
 * @param at - its path in the answer
 * @throws PlumblineError `PROOF_MALFORMED`
 * @source ethereum/execution-apis@033ca6e6 src/schemas/transaction.yaml; EIP-2718
 */
export function readTransaction(json: unknown, at: string): Uint8Array {
  const tx = readObject(json, at);
  const number = (name: string) => readNumber256(tx[name], member(at, name));
  const type = typeOf(tx, at);
  const isPriced = type < 2;
  return encodeTransaction(
    {
      type,
      chainId: type === 0 ? undefined : number('chainId'),
      nonce: number('nonce'),
      gasPrice: isPriced ? number('gasPrice') : undefined,
      maxFeePerGas: isPriced ? undefined : number('maxFeePerGas'),
      maxPriorityFeePerGas: isPriced ? undefined : number('maxPriorityFeePerGas'),
      gasLimit: number('gas'),
      to: tx.to === null || tx.to === undefined ? undefined : readBytes(tx.to, member(at, 'to'), 20),
      value: number('value'),
      data: readBytes(tx.input, member(at, 'input')),
      accessList: type === 0 ? undefined : readAccessList(tx.accessList, member(at, 'accessList')),
      ...(type === 3 && {
        maxFeePerBlobGas: number('maxFeePerBlobGas'),
        blobVersionedHashes: readHashes(tx.blobVersionedHashes, member(at, 'blobVersionedHashes')),
      }),
      authorizationList:
        type === 4 ? readAuthorizations(tx.authorizationList, member(at, 'authorizationList')) : undefined,
    },
    { v: type === 0 ? legacyV(tx, at) : parityOf(tx, at), r: number('r'), s: number('s') },
  );
}

/** Older nodes leave out the type of a legacy transaction. */
function typeOf(tx: Json, at: string): SignedTransaction['type'] {
  const type = tx.type === undefined ? 0 : readCount(tx.type, member(at, 'type'));
  if (type !== 0 && type !== 1 && type !== 2 && type !== 3 && type !== 4) {
    throw malformed(member(at, 'type'), `is ${type}, which is not a known transaction type`);
  }
  return type;
}

/** `v` of a legacy transaction. From 35 on it contains the chain id (EIP-155). */
function legacyV(tx: Json, at: string): bigint {
  const v = readNumber256(tx.v, member(at, 'v'));
  // Without a chain id in `v`, nodes may still name their chain: it is not part of the encoding, and the hash decides.
  if (tx.chainId === undefined || tx.chainId === null || v === 27n || v === 28n) return v;
  const named = v < 35n ? undefined : (v - 35n) / 2n;
  if (readNumber256(tx.chainId, member(at, 'chainId')) === named) return v;
  throw malformed(member(at, 'chainId'), 'differs from the chain id in v');
}

/** Nodes return the parity as `yParity`, `v`, or both. */
function parityOf(tx: Json, at: string): bigint {
  const read = (name: string) => (tx[name] === undefined ? undefined : readNumber256(tx[name], member(at, name)));
  const [yParity, v] = [read('yParity'), read('v')];
  const parity = yParity ?? v;
  if (parity === undefined) throw malformed(member(at, 'yParity'), 'is missing');
  if (v !== undefined && v !== parity) throw malformed(member(at, 'v'), 'differs from yParity');
  return parity;
}

function readHashes(json: unknown, at: string): Uint8Array[] {
  return readArray(json, at).map((hash, i) => readBytes(hash, `${at}[${i}]`, 32));
}

function readAccessList(json: unknown, at: string): AccessListEntry[] {
  return readArray(json, at).map((item, i) => {
    const entry = readObject(item, `${at}[${i}]`);
    return {
      address: readBytes(entry.address, `${at}[${i}].address`, 20),
      storageKeys: readHashes(entry.storageKeys, `${at}[${i}].storageKeys`),
    };
  });
}

function readAuthorizations(json: unknown, at: string): Authorization[] {
  return readArray(json, at).map((item, i) => {
    const place = `${at}[${i}]`;
    const entry = readObject(item, place);
    const number = (name: string) => readNumber256(entry[name], member(place, name));
    return {
      chainId: number('chainId'),
      address: readBytes(entry.address, member(place, 'address'), 20),
      nonce: number('nonce'),
      yParity: parityOf(entry, place),
      r: number('r'),
      s: number('s'),
    };
  });
}
