import { bytesToHex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import type { VerifiedLineaProof } from '../../proof/linea-proof.js';

type ProvedAccount = Pick<VerifiedLineaProof, 'account' | 'slots'>;

/** A proved account as JSON: numbers as quantities, bytes as hex. */
export function shownAccount({ account, slots }: ProvedAccount) {
  return {
    account: account && {
      nonce: toQuantity(account.nonce),
      balance: toQuantity(account.balance),
      keccakCodeHash: bytesToHex(account.keccakCodeHash),
      codeSize: toQuantity(account.codeSize),
    },
    slots: slots.map(({ key, value, exists }) => ({ key: bytesToHex(key), value: bytesToHex(value), exists })),
  };
}

/** A proved account in lines of text. */
export function accountInWords({ account, slots }: ProvedAccount): string[] {
  if (account === undefined) return ['this account does not exist in this state'];
  return [
    `nonce    ${account.nonce}`,
    `balance  ${account.balance} wei`,
    `code     ${account.codeSize} bytes, keccak-256 ${bytesToHex(account.keccakCodeHash)}`,
    ...slots.map(({ key, value, exists }) => `slot     ${bytesToHex(key)} = ${exists ? bytesToHex(value) : 'not set'}`),
  ];
}
