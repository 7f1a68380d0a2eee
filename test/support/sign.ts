import { Common, Hardfork, Mainnet } from '@ethereumjs/common';
import { createFeeMarket1559Tx, createLegacyTx } from '@ethereumjs/tx';
import { eoaCode7702SignAuthorization } from '@ethereumjs/util';
import { DEV_ACCOUNTS } from '../../src/chain/devnet/state/dev-accounts.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';

export interface Unsigned {
  readonly nonce: number | bigint;
  readonly to?: Hex;
  readonly data?: Hex;
  readonly value?: bigint;
  readonly gasLimit: bigint | Hex;
  readonly maxFeePerGas?: bigint;
  readonly maxPriorityFeePerGas?: bigint;
  readonly gasPrice?: bigint;
  readonly chainId?: number;
  /** Of a type 2 transaction. */
  readonly accessList?: { address: Hex; storageKeys: Hex[] }[];
}

/** A transaction signed by a dev account: type 2, or legacy when `gasPrice` is given. The signer is @ethereumjs/tx. */
export function signTransaction(account: number, unsigned: Unsigned): Hex {
  const { chainId = 59_139, gasPrice, ...fields } = unsigned;
  const common = new Common({ chain: { ...Mainnet, chainId }, hardfork: Hardfork.Prague });
  // The limit of init code is the node's to check.
  const options = { common, allowUnlimitedInitCodeSize: true };
  const transaction =
    gasPrice === undefined ? createFeeMarket1559Tx(fields, options) : createLegacyTx({ ...fields, gasPrice }, options);
  return bytesToHex(transaction.sign(hexToBytes(DEV_ACCOUNTS[account]!.privateKey)).serialize());
}

const word = (hex: string) => hex.slice(2).padStart(64, '0');

/** Calldata of `transfer(address,uint256)`. */
export function transferCalldata(to: Hex, amount: bigint): Hex {
  return `0xa9059cbb${word(to)}${word(`0x${amount.toString(16)}`)}`;
}

/** The delegation of a dev account to code, as JSON-RPC has it: for the devnet's chain, signed by @ethereumjs. */
export function authorization(account: number, address: Hex, nonce = 0) {
  const fields = { chainId: '0xe703', address, nonce: `0x${nonce.toString(16)}` } as const;
  const signed = eoaCode7702SignAuthorization(fields, hexToBytes(DEV_ACCOUNTS[account]!.privateKey));
  const [yParity, r, s] = signed
    .slice(3)
    .map((one) => `0x${BigInt(`0x0${bytesToHex(one as Uint8Array).slice(2)}`).toString(16)}`);
  return { ...fields, yParity, r, s };
}
