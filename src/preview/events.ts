import type { FrameLog } from '../evm/tracing/tracer.js';
import type { Hex } from '../primitives/hex.js';
import type { Right } from './preview.js';

/** What an event of a contract claims. */
export type EventClaim =
  | {
      /** The number is an amount or an id. `mayBeId`: the form is that of a collection. */
      readonly claim: 'transfer';
      readonly from: Hex;
      readonly to: Hex;
      readonly number: bigint;
      readonly mayBeId: boolean;
    }
  | {
      readonly claim: 'multi';
      readonly kind: 'erc1155' | 'erc6909';
      readonly from: Hex;
      readonly to: Hex;
      readonly ids: readonly bigint[];
      readonly amounts: readonly bigint[];
    }
  | { readonly claim: 'wrap' | 'unwrap'; readonly account: Hex; readonly amount: bigint }
  | { readonly claim: 'allowance'; readonly owner: Hex; readonly spender: Hex; readonly amount: bigint }
  | { readonly claim: 'token'; readonly owner: Hex; readonly spender: Hex; readonly id: bigint }
  | { readonly claim: 'operator'; readonly owner: Hex; readonly spender: Hex; readonly approved: boolean }
  | {
      readonly claim: 'permit2';
      readonly token: Hex;
      readonly owner: Hex;
      readonly spender: Hex;
      readonly amount: bigint;
    }
  | {
      /** `owner` is left out where it is the contract. */
      readonly claim: 'right';
      readonly right: Right;
      readonly owner?: Hex;
      readonly spender: Hex;
      readonly told: bigint | boolean;
      readonly id?: bigint;
    };

type Reader = (words: readonly string[], topics: number) => EventClaim | undefined;

/** Thrown for a word that is not what the event says it is. */
class NotDecodable extends Error {}

const ZEROS = '0'.repeat(24);
const address = (word: string): Hex => {
  if (!word.startsWith(ZEROS)) throw new NotDecodable();
  return `0x${word.slice(24)}`;
};
const number = (word: string) => BigInt(`0x${word}`);
const boolean = (word: string) => {
  const value = number(word);
  if (value > 1n) throw new NotDecodable();
  return value === 1n;
};

/** The numbers of an array, at the byte that a word names. */
function numbers(data: readonly string[], offset: string): bigint[] {
  const at = Number(number(offset)) / 32;
  const length = Number(number(data[at] ?? 'f'.repeat(64)));
  if (!Number.isInteger(at) || at + 1 + length > data.length) throw new NotDecodable();
  return data.slice(at + 1, at + 1 + length).map(number);
}

/*
 * By topic 0: what the event means, from its words: those of the indexed topics, then those of the data. Reads nothing where the
 * event does not have this form.
 */
const READERS: Readonly<Record<Hex, Reader>> = {
  // Transfer(address,address,uint256)
  '0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef': ([from, to, word, more], topics) => {
    if (word === undefined || more !== undefined || topics === 2) return undefined;
    return {
      claim: 'transfer',
      from: address(from!),
      to: address(to!),
      number: number(word),
      mayBeId: topics !== 3,
    };
  },
  // TransferSingle(address,address,address,uint256,uint256)
  '0xc3d58168c5ae7397731d063d5bbf3d657854427343f4c083240f7aacaa2d0f62': ([, from, to, id, amount, more], topics) => {
    if (topics !== 4 || amount === undefined || more !== undefined) return undefined;
    const parties = { from: address(from!), to: address(to!) };
    return { claim: 'multi', kind: 'erc1155', ...parties, ids: [number(id!)], amounts: [number(amount)] };
  },
  // TransferBatch(address,address,address,uint256[],uint256[])
  '0x4a39dc06d4c0dbc64b70af90fd698a233a518aa5d07e595d983b8c0526c8f7fb': ([, from, to, ...data], topics) => {
    if (topics !== 4) return undefined;
    if (data.length < 4) throw new NotDecodable();
    const [ids, amounts] = [numbers(data, data[0]!), numbers(data, data[1]!)];
    if (ids.length !== amounts.length) throw new NotDecodable();
    return { claim: 'multi', kind: 'erc1155', from: address(from!), to: address(to!), ids, amounts };
  },
  // Deposit(address,uint256)
  '0xe1fffcc4923d04b559f4d29a8bfc6cda04eb5b0d3c460751c2402c5c5cc9109c': (words, topics) =>
    wrapping('wrap', words, topics),
  // Withdrawal(address,uint256)
  '0x7fcf532c15f0a6db0bd6d0e038bea71d30d808c7d98cb3bf7268a95bf5081b65': (words, topics) =>
    wrapping('unwrap', words, topics),
  // Approval(address,address,uint256)
  '0x8c5be1e5ebec7d5bd14f71427d1e84f3dd0314c0f7b2291e5b200ac8c7c3b925': ([owner, spender, word, more], topics) => {
    if (word === undefined || more !== undefined || topics === 2) return undefined;
    const parties = { owner: address(owner!), spender: address(spender!) };
    return topics === 3
      ? { claim: 'allowance', ...parties, amount: number(word) }
      : { claim: 'token', ...parties, id: number(word) };
  },
  // ApprovalForAll(address,address,bool)
  '0x17307eab39ab6107e8899845ad3d59bd9653f200f220920489ca2b5937696c31': ([owner, spender, approved, more], topics) => {
    if (topics !== 3 || approved === undefined || more !== undefined) return undefined;
    return { claim: 'operator', owner: address(owner!), spender: address(spender!), approved: boolean(approved) };
  },
  // Approval(address,address,address,uint160,uint48)
  '0xda9fa7c1b00402c17d0161b249b1ab8bbec047c5a52207b9c112deffd817036b': (words, topics) => permit2(words, topics, 5),
  // Permit(address,address,address,uint160,uint48,uint48)
  '0xc6a377bfc4eb120024a8ac08eef205be16b817020812c73223e81d1bdb9708ec': (words, topics) => permit2(words, topics, 6),
  // Lockdown(address,address,address)
  '0x89b1add15eff56b3dfe299ad94e01f2b52fbcb80ae1a3baea6ae8c04cb2b98a4': ([owner, token, spender, more], topics) => {
    if (topics !== 2 || spender === undefined || more !== undefined) return undefined;
    const parties = { owner: address(owner!), token: address(token!), spender: address(spender) };
    return { claim: 'permit2', ...parties, amount: 0n };
  },
  // Transfer(address,address,address,uint256,uint256) of ERC-6909
  '0x1b3d7edb2e9c0b0e7c525b20aaaef0f5940d2ed71663c7d39266ecafac728859': ([from, to, id, , amount, more], topics) => {
    if (topics !== 4 || amount === undefined || more !== undefined) return undefined;
    const parties = { from: address(from!), to: address(to!) };
    return { claim: 'multi', kind: 'erc6909', ...parties, ids: [number(id!)], amounts: [number(amount)] };
  },
  // Approval(address,address,uint256,uint256) of ERC-6909
  '0xb3fd5071835887567a0671151121894ddccc2842f1d10bedad13e0d17cace9a7': ([owner, spender, id, amount, more]) => {
    if (amount === undefined || more !== undefined) return undefined;
    const parties = { owner: address(owner!), spender: address(spender!) };
    return { claim: 'right', right: 'allowance-6909', ...parties, told: number(amount), id: number(id!) };
  },
  // AuthorizedOperator(address,address) of ERC-777
  '0xf4caeb2d6ca8932a215a353d0703c326ec2d81fc68170f320eb2ab49e9df61f9': ([operator, holder, more]) => {
    if (holder === undefined || more !== undefined) return undefined;
    return { claim: 'right', right: 'operator-777', owner: address(holder), spender: address(operator!), told: true };
  },
  // OperatorSet(address,address,bool) of ERC-6909
  '0xceb576d9f15e4e200fdb5096d64d5dfd667e16def20c1eefd14256d8e3faa267': ([owner, spender, approved, more]) => {
    if (approved === undefined || more !== undefined) return undefined;
    const parties = { owner: address(owner!), spender: address(spender!) };
    return { claim: 'right', right: 'operator-6909', ...parties, told: boolean(approved) };
  },
  // BorrowAllowanceDelegated(address,address,address,uint256) of Aave
  '0xda919360433220e13b51e8c211e490d148e61a3bd53de8c097194e458b97f3e1': ([owner, spender, , amount, more]) => {
    if (amount === undefined || more !== undefined) return undefined;
    const parties = { owner: address(owner!), spender: address(spender!) };
    return { claim: 'right', right: 'debt', ...parties, told: number(amount) };
  },
  // SetAuthorization(address,address,address,bool) of Morpho
  '0xd5e969f01efe921d3f766bdebad25f0a05e3f237311f56482bf132d0326309c0': ([, owner, spender, approved, more]) => {
    if (approved === undefined || more !== undefined) return undefined;
    const parties = { owner: address(owner!), spender: address(spender!) };
    return { claim: 'right', right: 'manager', ...parties, told: boolean(approved) };
  },
  // OwnershipTransferred(address,address)
  '0x8be0079c531659141344cd1fd0a4f28419497f9722a3daafe3b4186f6b6457e0': (words) => ownership('owner', words),
  // OwnershipTransferStarted(address,address)
  '0x38d16b8cac22d99fc7c124b9cd0de2d3fa1faef420bfe791d8c362d765e22700': (words) => ownership('pending-owner', words),
  // EnabledModule, AddedOwner, ChangedFallbackHandler, ChangedGuard, ChangedMasterCopy, each of one address, of a Safe
  '0xecdf3a3effea5783a3c4c2140e677577666428d44ed9d474a0b3a4c9943f8440': (words) => ofSafe('safe-module', words),
  '0x9465fa0c962cc76958e6373a993326400c1c94f8be2fe3a952adfa7f60b2ea26': (words) => ofSafe('safe-owner', words),
  '0x5ac6c46c93c8d0e53714ba3b53db3e7c046da994313d7ed0d192028bc7c228b0': (words) =>
    ofSafe('safe-fallback-handler', words),
  '0x1151116914515bc0891ff9047a6cb32cf902546f83066499bcf8ba33d2353fa2': (words) => ofSafe('safe-guard', words),
  '0x75e41bc35ff1bf14d81d1d2f649c0084a0f974f9289c803ec9898eeec4c8d0b8': (words) => ofSafe('safe-singleton', words),
  // ChangedThreshold(uint256) of a Safe
  '0x610f7ff2b304ae8903c3de74c60c6ab1f7d6226b3f52c5161905bb5ad4039c93': ([threshold, more]) => {
    if (threshold === undefined || more !== undefined) return undefined;
    return { claim: 'right', right: 'safe-threshold', spender: address(''.padStart(64, '0')), told: number(threshold) };
  },
};

function ownership(right: Right, [owner, spender, more]: readonly string[]) {
  if (spender === undefined || more !== undefined) return undefined;
  return { claim: 'right', right, owner: address(owner!), spender: address(spender), told: true } as const;
}

function ofSafe(right: Right, [spender, more]: readonly string[]) {
  if (spender === undefined || more !== undefined) return undefined;
  return { claim: 'right', right, spender: address(spender), told: true } as const;
}

function wrapping(claim: 'wrap' | 'unwrap', [account, amount, more]: readonly string[], topics: number) {
  if (topics !== 2 || amount === undefined || more !== undefined) return undefined;
  return { claim, account: address(account!), amount: number(amount) };
}

function permit2(
  [owner, token, spender, amount, expiration, ...more]: readonly string[],
  topics: number,
  count: number,
) {
  if (topics !== 4 || more.length !== count - 5 || expiration === undefined) return undefined;
  const parties = { owner: address(owner!), token: address(token!), spender: address(spender!) };
  return { claim: 'permit2', ...parties, amount: number(amount!) } as const;
}

/**
 * What a log claims, if it has one of the known forms.
 *
 * @returns undefined for other logs; `unknown` for one of these events that cannot be decoded
 * @source docs/spec/preview.md 8.2
 */
export function claimOf({ topics, data }: FrameLog): EventClaim | 'unknown' | undefined {
  const read = topics[0] && READERS[topics[0]];
  if (!read || (data.length - 2) % 64 !== 0) return undefined;
  const words = topics.slice(1).map((topic) => topic.slice(2));
  for (let at = 2; at < data.length; at += 64) words.push(data.slice(at, at + 64));
  try {
    return read(words, topics.length);
  } catch (error) {
    if (error instanceof NotDecodable) return 'unknown';
    throw error;
  }
}
