import { solidityReason } from '../evm/tracing/solidity-reason.js';
import type { TransactionOutcome } from '../evm/transaction-message.js';
import { keccak256 } from '../kernel/keccak.js';
import { bytesToBigInt, isZeroBytes } from '../primitives/bytes.js';
import { bytesToHex } from '../primitives/hex.js';
import { toQuantity } from '../primitives/quantity.js';
import type { PreviewedRevert } from './preview.js';

/** An error of a contract: its signature, such as `TooLittle(uint256,address)`. */
export type ErrorSignature = string;

/** Well-known errors: OpenZeppelin Contracts 5 (ERC-6093, access control, proxies, utilities) and Permit2. */
const WELL_KNOWN: readonly ErrorSignature[] = [
  'ERC20InsufficientBalance(address,uint256,uint256)',
  'ERC20InvalidSender(address)',
  'ERC20InvalidReceiver(address)',
  'ERC20InsufficientAllowance(address,uint256,uint256)',
  'ERC20InvalidApprover(address)',
  'ERC20InvalidSpender(address)',
  'ERC721InvalidOwner(address)',
  'ERC721NonexistentToken(uint256)',
  'ERC721IncorrectOwner(address,uint256,address)',
  'ERC721InvalidSender(address)',
  'ERC721InvalidReceiver(address)',
  'ERC721InsufficientApproval(address,uint256)',
  'ERC721InvalidApprover(address)',
  'ERC721InvalidOperator(address)',
  'ERC1155InsufficientBalance(address,uint256,uint256,uint256)',
  'ERC1155InvalidSender(address)',
  'ERC1155InvalidReceiver(address)',
  'ERC1155MissingApprovalForAll(address,address)',
  'ERC1155InvalidApprover(address)',
  'ERC1155InvalidOperator(address)',
  'ERC1155InvalidArrayLength(uint256,uint256)',
  'ERC2612ExpiredSignature(uint256)',
  'ERC2612InvalidSigner(address,address)',
  'OwnableUnauthorizedAccount(address)',
  'OwnableInvalidOwner(address)',
  'AccessControlUnauthorizedAccount(address,bytes32)',
  'EnforcedPause()',
  'ExpectedPause()',
  'ReentrancyGuardReentrantCall()',
  'SafeERC20FailedOperation(address)',
  'FailedCall()',
  'AddressEmptyCode(address)',
  'InsufficientBalance(uint256,uint256)',
  'InvalidInitialization()',
  'AllowanceExpired(uint256)',
  'InsufficientAllowance(uint256)',
  'InvalidNonce()',
  'SignatureExpired(uint256)',
  'InvalidSigner()',
];

/** Errors by selector. */
export interface CustomErrors {
  /** @returns nothing for an error that is not known */
  describe(data: Uint8Array): { readonly signature?: string; readonly args?: readonly string[] };
}

/** @param given - of the caller; they come before the well-known ones */
export function customErrors(given: readonly ErrorSignature[]): CustomErrors {
  return {
    describe(data) {
      const selector = bytesToHex(data.subarray(0, 4));
      const signature = [...given, ...WELL_KNOWN].find((one) => selectorOf(one) === selector);
      if (signature === undefined) return {};
      const args = argumentsOf(signature, data.subarray(4));
      return { signature, ...(args !== undefined && { args }) };
    },
  };
}

const selectorOf = (signature: string) => bytesToHex(keccak256(new TextEncoder().encode(signature)).subarray(0, 4));

/** Types whose value is one word. */
const ONE_WORD = /^(address|bool|u?int\d*|bytes\d+)$/;

/** @returns undefined where one of the types is an array or a tuple, or where the data is too short */
function argumentsOf(signature: string, data: Uint8Array): string[] | undefined {
  const inner = signature.slice(signature.indexOf('(') + 1, -1);
  const types = inner === '' ? [] : inner.split(',');
  const texts: string[] = [];
  for (const [i, type] of types.entries()) {
    const word = data.subarray(32 * i, 32 * (i + 1));
    if (word.length < 32) return undefined;
    const text = ONE_WORD.test(type) ? wordText(type, word) : dynamicText(type, word, data);
    if (text === undefined) return undefined;
    texts.push(text);
  }
  return texts;
}

function wordText(type: string, word: Uint8Array): string {
  if (type === 'address') return bytesToHex(word.subarray(12));
  if (type === 'bool') return String(!isZeroBytes(word));
  if (type.startsWith('bytes')) return bytesToHex(word.subarray(0, Number(type.slice(5))));
  const value = bytesToBigInt(word);
  return String(type.startsWith('int') ? BigInt.asIntN(256, value) : value);
}

function dynamicText(type: string, word: Uint8Array, data: Uint8Array): string | undefined {
  if (type !== 'string' && type !== 'bytes') return undefined;
  const at = Number(bytesToBigInt(word));
  const length = at + 32 <= data.length ? Number(bytesToBigInt(data.subarray(at, at + 32))) : Number.NaN;
  if (!(at + 32 + length <= data.length)) return undefined;
  const bytes = data.subarray(at + 32, at + 32 + length);
  return type === 'string' ? new TextDecoder().decode(bytes) : bytesToHex(bytes);
}

const ERROR = '0x08c379a0';
const PANIC = '0x4e487b71';

/** Why a call failed. @source docs/spec/preview.md 7 */
export function revertOf({ exception, returnData }: TransactionOutcome, errors: CustomErrors): PreviewedRevert {
  const data = bytesToHex(returnData);
  if (exception !== 'revert') return { kind: 'halt', data };
  if (returnData.length < 4) return { kind: 'empty', data };
  const [selector, text] = [bytesToHex(returnData.subarray(0, 4)), solidityReason(returnData)];
  if (selector === ERROR && text !== undefined) return { kind: 'Error', text, data };
  if (selector === PANIC && text !== undefined) {
    const code = toQuantity(bytesToBigInt(returnData.subarray(4, 36)));
    return { kind: 'Panic', code, text, data };
  }
  return { kind: 'custom', selector, ...errors.describe(returnData), data };
}
