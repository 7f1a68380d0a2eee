import type { SizedTransaction } from '../src/fees/transaction-bytes.js';
import type { AccessListEntry, Authorization, CallRequest } from '../src/primitives/call-request.js';
import { hexToBytes } from '../src/primitives/hex.js';
import { quantityToBigInt } from '../src/primitives/quantity.js';

/** The JSON forms of calls and transactions in fixtures. */
export interface CallJson {
  from?: string;
  to?: string | null;
  input?: string;
  data?: string;
  accessList?: { address: string; storageKeys: string[] }[];
  authorizationList?: Record<'chainId' | 'address' | 'nonce' | 'yParity' | 'r' | 's', string>[];
  [amount: string]: unknown;
}

export interface TransactionJson extends CallJson {
  type: string;
  from: string;
  nonce: string;
  gas: string;
}

/** A call object of a fixture, parsed. */
export function readCall(json: CallJson): CallRequest {
  const data = json.input ?? json.data;
  return {
    from: json.from === undefined ? undefined : hexToBytes(json.from, 20),
    to: typeof json.to === 'string' ? hexToBytes(json.to, 20) : undefined,
    data: data === undefined ? undefined : hexToBytes(data),
    gas: amount(json, 'gas'),
    gasPrice: amount(json, 'gasPrice'),
    maxFeePerGas: amount(json, 'maxFeePerGas'),
    maxPriorityFeePerGas: amount(json, 'maxPriorityFeePerGas'),
    maxFeePerBlobGas: amount(json, 'maxFeePerBlobGas'),
    value: amount(json, 'value'),
    nonce: amount(json, 'nonce'),
    chainId: amount(json, 'chainId'),
    accessList: json.accessList?.map(readAccessListEntry),
    authorizationList: json.authorizationList?.map(readAuthorization),
  };
}

/** A transaction of a fixture, its signature apart. */
export function readTransaction(json: TransactionJson): SizedTransaction {
  const { gas, value, data, from, nonce, ...fields } = readCall(json);
  return {
    ...fields,
    type: Number(json.type),
    from: from!,
    nonce: nonce!,
    gasLimit: gas!,
    value: value ?? 0n,
    data: data ?? new Uint8Array(0),
  };
}

function amount(json: CallJson, name: string): bigint | undefined {
  const value = json[name];
  return typeof value === 'string' ? quantityToBigInt(value) : undefined;
}

function readAccessListEntry(entry: { address: string; storageKeys: string[] }): AccessListEntry {
  return { address: hexToBytes(entry.address, 20), storageKeys: entry.storageKeys.map((key) => hexToBytes(key, 32)) };
}

function readAuthorization(item: NonNullable<CallJson['authorizationList']>[number]): Authorization {
  return {
    chainId: quantityToBigInt(item.chainId),
    address: hexToBytes(item.address, 20),
    nonce: quantityToBigInt(item.nonce),
    yParity: quantityToBigInt(item.yParity),
    r: quantityToBigInt(item.r),
    s: quantityToBigInt(item.s),
  };
}
