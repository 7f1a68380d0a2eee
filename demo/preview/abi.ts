import type { Hex } from 'plumbline-l2';
import { type Decoded, decode } from '../lib/abi.js';
import { word } from '../lib/calls.js';

/** Functions that the call tree names, by selector. */
const FUNCTIONS: Readonly<Record<string, string>> = {
  a9059cbb: 'transfer(address to, uint256 amount)',
  '23b872dd': 'transferFrom(address from, address to, uint256 amount)',
  '095ea7b3': 'approve(address spender, uint256 amount)',
  '39509351': 'increaseAllowance(address spender, uint256 added)',
  a22cb465: 'setApprovalForAll(address operator, bool approved)',
  '42842e0e': 'safeTransferFrom(address from, address to, uint256 id)',
  '70a08231': 'balanceOf(address owner)',
  dd62ed3e: 'allowance(address owner, address spender)',
  '40c10f19': 'mint(address to, uint256 amount)',
  d0e30db0: 'deposit()',
  '2e1a7d4d': 'withdraw(uint256 amount)',
  d96a094a: 'buy(uint256 wanted)',
  d96073cf: 'swap(uint256 amount, uint256 wanted)',
  '4e71d92d': 'claim()',
};

/** Calldata of a function by its selector; arguments of one word each. */
export function encodeCall(selector: string, ...args: readonly (bigint | Hex)[]): Hex {
  const words = args.map((arg) => word(typeof arg === 'bigint' ? arg.toString(16) : arg.slice(2).toLowerCase()));
  return `0x${selector}${words.join('')}`;
}

/** What a known function is called with; undefined for others, and where the data is too short. */
export function decodeCall(input: Hex): Decoded | undefined {
  return decode(FUNCTIONS, input);
}
