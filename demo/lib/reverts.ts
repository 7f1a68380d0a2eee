import { TEST_TOKEN } from 'plumbline-l2';
import { decode } from './abi.js';
import { accountName, TOKEN_SYMBOL } from './accounts.js';
import { fieldsOf, reasonOf } from './explain.js';
import { formatUnits, groups } from './format.js';

/** Errors with which contracts revert, by selector. */
export const ERRORS: Readonly<Record<string, string>> = {
  db42144d: 'InsufficientBalance(address owner, uint256 balance, uint256 needed)',
  '192b9e4e': 'InsufficientAllowance(address spender, uint256 allowance, uint256 needed)',
  '618bc7c9': 'TooLittle(uint256 bought, uint256 wanted)',
  e450d38c: 'ERC20InsufficientBalance(address owner, uint256 balance, uint256 needed)',
  fb8f41b2: 'ERC20InsufficientAllowance(address spender, uint256 allowance, uint256 needed)',
  ec442f05: 'ERC20InvalidReceiver(address receiver)',
  '118cdaa7': 'OwnableUnauthorizedAccount(address account)',
  d93c0665: 'EnforcedPause()',
  '7e273289': 'ERC721NonexistentToken(uint256 id)',
  '54613443': 'MessageSendingFailed(address destination)',
};

/** What each asks of the sender. */
const ADVICE: readonly (readonly [name: RegExp, advice: string])[] = [
  [
    /InsufficientBalance$/,
    'Lower the amount, choose another sender, or under “Fees” use “Give the sender plenty” to estimate all the same.',
  ],
  [/InsufficientAllowance$/, 'Let the owner approve a larger amount first.'],
  [/^TooLittle$/, 'Ask for less, or pay more.'],
  [/InvalidReceiver$/, 'Choose another receiver.'],
  [/Unauthorized/, 'Send it from an account with the right to do this.'],
  [/Pause/, 'The contract is paused. It takes such calls again when its owner resumes it.'],
  [
    /^MessageSendingFailed$/,
    'The recipient takes no ether, or not with this call. The claim can be tried again later.',
  ],
  [/Nonexistent/, 'Check the id of the token.'],
];

const PANICS: Readonly<Record<number, readonly [what: string, advice: string]>> = {
  1: ['an assertion does not hold', 'This is a fault of the contract, or of its data.'],
  17: ['a sum or difference does not fit into its number', 'Lower the amount: often a balance is smaller than it.'],
  18: ['a division by zero', 'Check the amounts: one of them must not be zero.'],
  33: ['a number that its enum does not have', 'Check the parameters of the call.'],
  34: ['a damaged byte array in storage', 'This is a fault of the contract, or of its data.'],
  49: ['a removal from an empty list', 'The contract has nothing left to take out.'],
  50: ['an index behind the end of a list', 'Check ids and positions among the parameters.'],
  65: ['a request for too much memory', 'Check lengths among the parameters.'],
  81: ['a call of a function that is not set', 'This is a fault of the contract.'],
};

export interface Reverted {
  readonly text: string;
  readonly advice: string;
}

/**
 * Return data of a revert in words.
 *
 * @param contract - address that was called, by which amounts of the test token are known as such
 * @returns undefined for none, and for texts, which the message has already
 */
export function revertOf(data: unknown, contract?: unknown): Reverted | undefined {
  if (typeof data !== 'string' || !/^0x[0-9a-f]{8}/i.test(data)) return undefined;
  const panic = decode({ '4e487b71': 'Panic(uint256 code)' }, data)?.args[0];
  if (panic !== undefined) {
    const code = Number(BigInt(panic.word));
    const [what, advice] = PANICS[code] ?? ['an unknown reason', 'Check the parameters of the call.'];
    return { text: `The contract stopped by itself, Panic(${code}): ${what}.`, advice };
  }
  if (data.startsWith('0x08c379a0')) return undefined;
  const error = decode(ERRORS, data);
  if (error === undefined) {
    const advice = 'Its source or its documentation says what this error means. Check the amounts and the sender.';
    return { text: `The contract gives an error that this page does not know, ${data.slice(0, 10)}.`, advice };
  }
  const unit = contract === TEST_TOKEN ? TOKEN_SYMBOL : `× 10^${DECIMALS}`;
  const values = error.args.map(({ name, type, word }) => `${name} ${valueText(type, word, unit)}`);
  const advice = ADVICE.find(([name]) => name.test(error.name))?.[1] ?? 'Check the parameters of the call.';
  return {
    text: `The contract gives the error ${error.name}${values.length > 0 ? `: ${values.join(', ')}` : ''}.`,
    advice,
  };
}

/** Decimals of most tokens; those of the contract are not known here. */
const DECIMALS = 18;

function valueText(type: string, word: string, unit: string): string {
  if (type === 'address') return accountName(`0x${word.slice(26)}`);
  const value = BigInt(word);
  return unit !== TOKEN_SYMBOL && value < 10n ** 15n ? groups(value) : `${formatUnits(value, DECIMALS)} ${unit}`;
}

/** What can be decoded of an error: what the contract gave back, or the amounts of it. Undefined where there is nothing. */
export function decodedError(error: unknown): Partial<Reverted> | undefined {
  const { data, contract } = fieldsOf(error);
  const { reason, details } = reasonOf(error);
  if (reason !== 'INSUFFICIENT_FUNDS') return revertOf(data, contract);
  const { required, balance, sender } = details as {
    required?: bigint | string;
    balance?: bigint | string;
    sender?: string;
  };
  if (required === undefined || balance === undefined || sender === undefined) return undefined;
  // As a bigint from a node of this page, as hex over HTTP.
  const ether = (wei: bigint | string) => `${formatUnits(BigInt(wei), 18)} ETH`;
  return {
    text: `The call costs up to ${ether(required)}, with what it sends; ${accountName(sender)} has ${ether(balance)}.`,
  };
}
