import { signWithDevKey } from '../../chain/devnet/mining/impersonation.js';
import { hashPersonalMessage, hashTypedData } from '../../ethereum/typed-data.js';
import { bigIntToBytes, concatBytes } from '../../primitives/bytes.js';
import { bytesToHex, type Hex } from '../../primitives/hex.js';
import { parseAddress, parseBytes, requireObject } from '../parsing/parse-params.js';
import type { MethodCallOptions } from '../protocol/method.js';
import { NEEDS_KEYS } from '../protocol/method-rows.js';
import { invalidParams } from '../protocol/rpc-errors.js';
import type { SentCallJson, TypedDataJson } from '../schema/json.js';
import { defineMethod } from './context.js';
import { requireDevnet } from './devnet-method.js';
import { readSentTransaction } from './eth_sendTransaction.js';
import { requirePermitted } from './permitted-accounts.js';

/** Signs a message with the prefix of EIP-191, version 0x45. */
export const personal_sign = defineMethod<[message: Hex, address: Hex], Hex>(
  'personal_sign',
  NEEDS_KEYS,
  (_, [message, address], call) => signMessage(message, address, call),
);

/** As `personal_sign`, the address first. */
export const eth_sign = defineMethod<[address: Hex, message: Hex], Hex>(
  'eth_sign',
  NEEDS_KEYS,
  (_, [address, message], call) => signMessage(message, address, call),
);

/** The data is an object, or its JSON. @source EIP-712, "Specification of the eth_signTypedData JSON RPC" */
export const eth_signTypedData_v4 = defineMethod<[address: Hex, data: TypedDataJson | string], Hex>(
  'eth_signTypedData_v4',
  NEEDS_KEYS,
  (_, [address, data], call) =>
    signed(address, hashTypedData(requireObject(fromJson(data), 'typedData', 'params')), call),
);

/** Fills in what `eth_sendTransaction` does. @returns the bytes that `eth_sendRawTransaction` takes */
export const eth_signTransaction = defineMethod<[transaction: SentCallJson], Hex>(
  'eth_signTransaction',
  NEEDS_KEYS,
  async (context, [param], call) => {
    const devnet = requireDevnet(context, 'eth_signTransaction');
    return bytesToHex(
      await devnet.sign(await readSentTransaction(context, param, call, (from) => requirePermitted(from, call))),
    );
  },
);

function signMessage(message: unknown, address: unknown, call: MethodCallOptions): Promise<Hex> {
  return signed(address, hashPersonalMessage(parseBytes(message, 'message')), call);
}

/** @returns r, s and v (27 or 28), 65 bytes */
async function signed(address: unknown, hash: Uint8Array, call: MethodCallOptions): Promise<Hex> {
  const signer = parseAddress(address);
  requirePermitted(signer, call);
  const { r, s, yParity } = await signWithDevKey(signer, hash);
  return bytesToHex(concatBytes(bigIntToBytes(r, 32), bigIntToBytes(s, 32), Uint8Array.of(27 + yParity)));
}

function fromJson(data: unknown): unknown {
  if (typeof data !== 'string') return data;
  try {
    // The encoding limits the depth.
    return JSON.parse(data);
  } catch {
    throw invalidParams('typedData', 'is not JSON');
  }
}
