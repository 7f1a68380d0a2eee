import { DEV_ACCOUNTS } from '../../src/chain/devnet/state/dev-accounts.js';
import type { Hex } from '../../src/primitives/hex.js';

const stranger = (byte: string): Hex => `0x${byte.repeat(20)}`;

/** Where the contracts of test/contracts/Signatures.sol stand. */
export const TOKEN = stranger('70');
export const PERMIT2: Hex = '0x000000000022d473030f116ddee9f6b43ac78ba3';
export const SAFE = stranger('5a');

export interface TypedData {
  readonly types: Readonly<Record<string, readonly { readonly name: string; readonly type: string }[]>>;
  readonly primaryType: string;
  readonly domain: object;
  readonly message: object;
}

/** Members as they are written in a type: `address owner,uint256 value`. */
export const members = (text: string) =>
  text.split(',').map((one) => {
    const [type, name] = one.split(' ') as [string, string];
    return { name, type };
  });

const DETAILS = members('address token,uint160 amount,uint48 expiration,uint48 nonce');
const PERMITTED = members('address token,uint256 amount');

export const TYPES = {
  domain: members('string name,string version,uint256 chainId,address verifyingContract'),
  permit: {
    primaryType: 'Permit',
    Permit: members('address owner,address spender,uint256 value,uint256 nonce,uint256 deadline'),
  },
  daiPermit: {
    primaryType: 'Permit',
    Permit: members('address holder,address spender,uint256 nonce,uint256 expiry,bool allowed'),
  },
  transfer: {
    primaryType: 'TransferWithAuthorization',
    TransferWithAuthorization: members(
      'address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce',
    ),
  },
  permitSingle: {
    primaryType: 'PermitSingle',
    PermitSingle: members('PermitDetails details,address spender,uint256 sigDeadline'),
    PermitDetails: DETAILS,
  },
  permitBatch: {
    primaryType: 'PermitBatch',
    PermitBatch: members('PermitDetails[] details,address spender,uint256 sigDeadline'),
    PermitDetails: DETAILS,
  },
  permitTransfer: {
    primaryType: 'PermitTransferFrom',
    PermitTransferFrom: members('TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline'),
    TokenPermissions: PERMITTED,
  },
  permitWitness: {
    primaryType: 'PermitWitnessTransferFrom',
    PermitWitnessTransferFrom: members(
      'TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline,Note witness',
    ),
    TokenPermissions: PERMITTED,
    Note: members('uint256 number'),
  },
  safeTx: {
    primaryType: 'SafeTx',
    SafeTx: members(
      'address to,uint256 value,bytes data,uint8 operation,uint256 safeTxGas,uint256 baseGas,uint256 gasPrice,address gasToken,address refundReceiver,uint256 nonce',
    ),
  },
  order: {
    primaryType: 'OrderComponents',
    OrderComponents: members(
      'address offerer,address zone,OfferItem[] offer,ConsiderationItem[] consideration,uint8 orderType,uint256 startTime,uint256 endTime,bytes32 zoneHash,uint256 salt,bytes32 conduitKey,uint256 counter',
    ),
    OfferItem: members(
      'uint8 itemType,address token,uint256 identifierOrCriteria,uint256 startAmount,uint256 endAmount',
    ),
    ConsiderationItem: members(
      'uint8 itemType,address token,uint256 identifierOrCriteria,uint256 startAmount,uint256 endAmount,address recipient',
    ),
  },
} as const;

const chainId = 59_139;
export const DOMAINS = {
  token: { name: 'Signed', version: '1', chainId, verifyingContract: TOKEN },
  permit2: { name: 'Permit2', chainId, verifyingContract: PERMIT2 },
  safe: { chainId, verifyingContract: SAFE },
  seaport: {
    name: 'Seaport',
    version: '1.6',
    chainId,
    verifyingContract: '0x0000000000000068f116a894984e2db1123eb395',
  },
} as const;

type Kind = Exclude<keyof typeof TYPES, 'domain'>;

/** Typed data of a kind; the members of the domain are those that it has. Amounts are given as text. */
export function typed(kind: Kind, domain: object, message: object): TypedData {
  const { primaryType, ...types } = TYPES[kind];
  const own = TYPES.domain.filter(({ name }) => name in domain);
  return { types: { EIP712Domain: own, ...types }, primaryType, domain, message: asText(message) as object };
}

function asText(value: unknown): unknown {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return value.map(asText);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, asText(one)]));
}

/** An order of Seaport; of each item its type, token, id and amount. */
export function orderComponents(offerer: Hex, offer: readonly object[], consideration: readonly object[]): TypedData {
  const item = (one: object) => {
    const { itemType, token, id, amount, ...rest } = one as Record<string, unknown>;
    return { itemType, token, identifierOrCriteria: id, startAmount: amount, endAmount: amount, ...rest };
  };
  return typed('order', DOMAINS.seaport, {
    offerer,
    zone: stranger('00'),
    offer: offer.map(item),
    consideration: consideration.map(item),
    orderType: 0,
    startTime: 0n,
    endTime: 4_000_000_000n,
    zoneHash: `0x${'0'.repeat(64)}`,
    salt: 1n,
    conduitKey: `0x${'0'.repeat(64)}`,
    counter: 0n,
  });
}

/** Accounts that take part: who signs, and who uses what was signed. */
export const [SIGNER, TAKER] = DEV_ACCOUNTS.map(({ address }) => address) as [Hex, Hex];
