import { eoaCode7702SignAuthorization } from '@ethereumjs/util';
import type { Alloc } from '../../conformance/alloc-state.js';
import { DEV_ACCOUNTS } from '../../src/chain/devnet/state/dev-accounts.js';
import type { TransactionMessage } from '../../src/evm/transaction-message.js';
import type { Hardfork } from '../../src/networks/network.js';
import { bigIntToBytes, bytesToBigInt, concatBytes } from '../../src/primitives/bytes.js';
import type { AccessListEntry, Authorization } from '../../src/primitives/call-request.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { type Below, CALLS, NAMING, OPERANDS, opcodes } from './random-opcodes.js';

const SENDER = DEV_ACCOUNTS[0]!;
const AUTHORITIES = DEV_ACCOUNTS.slice(1, 4);
const CONTRACTS = [0xa1, 0xa2, 0xa3, 0xa4].map((byte) => addressOf(byte * 0x10001));
const STRANGER = addressOf(0xe1e1e1);
/** Of the block that programs run in. */
export const PROGRAM_COINBASE = addressOf(0xc0c0c0);

export function addressOf(number: number): Hex {
  return `0x${number.toString(16).padStart(40, '0')}`;
}

/** To the first contract of `randomState`. */
export function programMessage(changes: Partial<TransactionMessage>): TransactionMessage {
  return {
    from: hexToBytes(SENDER.address),
    to: hexToBytes(CONTRACTS[0]!),
    nonce: 0n,
    gasLimit: 1_000_000n,
    gasPrice: 7n,
    value: 0n,
    data: new Uint8Array(0),
    ...changes,
  };
}

export const push = (value: number | bigint, bytes = 1) =>
  concatBytes(Uint8Array.of(0x5f + bytes), bigIntToBytes(BigInt(value), bytes));
const pushAddress = (of: Hex) => concatBytes(Uint8Array.of(0x73), hexToBytes(of));

/** One instruction with its operands, mostly ones that it can do something with, and what it gives stored or left. */
export function statement(below: Below, opcode: number): Uint8Array {
  const someone = () => {
    const all = [...CONTRACTS, ...AUTHORITIES.map((account) => account.address), STRANGER, PROGRAM_COINBASE];
    return below(5) === 0 ? pushAddress(addressOf(below(20))) : pushAddress(all[below(all.length)]!);
  };
  const number = () => (below(8) === 0 ? push(bytesToBigInt(randomBytes(below, 32)), 32) : push(below(70)));
  const parts: Uint8Array[] = [];
  if (CALLS.includes(opcode)) {
    const valued = opcode === 0xf1 || opcode === 0xf2;
    parts.push(push(below(40)), push(below(40)), push(below(200), 1), push(0));
    if (valued) parts.push(push(below(4) === 0 ? 1 : 0));
    parts.push(someone(), below(3) === 0 ? Uint8Array.of(0x5a) : push(5_000 + below(60_000), 3));
  } else {
    for (let i = (OPERANDS[opcode] ?? 0) - 1; i >= 0; i--) parts.push(NAMING[opcode] === i ? someone() : number());
  }
  parts.push(Uint8Array.of(opcode));
  if (opcode >= 0x60 && opcode <= 0x7f) parts.push(randomBytes(below, opcode - 0x5f));
  if (below(3) === 0) parts.push(push(below(5)), Uint8Array.of(0x55));
  return concatBytes(...parts);
}

export function randomBytes(below: Below, length: number): Uint8Array {
  return Uint8Array.from({ length }, () => below(256));
}

/** A few statements; the stack has something on it before each. */
function program(below: Below, opcodes: readonly number[]): Uint8Array {
  const some = opcodes.map((opcode) => statement(below, opcode));
  return concatBytes(push(1), push(2), push(3), ...some);
}

/** A rich sender, contracts of random programs, and an account that is delegated to one of them. */
export function randomState(below: Below, hardfork: Hardfork): Alloc {
  const word = (value: number): Hex => `0x${value.toString(16).padStart(64, '0')}`;
  const alloc: Alloc = { [SENDER.address.toLowerCase() as Hex]: { balance: '0x56bc75e2d63100000' } };
  for (const contract of CONTRACTS) {
    const storage = Object.fromEntries([0, 1, 2].map((slot) => [word(slot), word(below(3))]));
    alloc[contract] = {
      nonce: '0x1',
      balance: '0x3',
      code: bytesToHex(program(below, opcodes(below, 8, hardfork))),
      storage,
    };
  }
  const delegated = AUTHORITIES[2]!.address.toLowerCase() as Hex;
  alloc[delegated] = { nonce: '0x1', balance: '0x1', code: `0xef0100${CONTRACTS[1]!.slice(2)}` };
  return alloc;
}

function authorizations(below: Below): Authorization[] {
  return Array.from({ length: 1 + below(2) }, () => {
    const account = AUTHORITIES[below(AUTHORITIES.length)]!;
    const target = below(4) === 0 ? addressOf(0) : CONTRACTS[below(CONTRACTS.length)]!;
    const unsigned = {
      chainId: ['0x0', '0x1', '0x2'][below(3)] as Hex,
      address: target,
      nonce: ['0x0', '0x1'][below(2)] as Hex,
    };
    const signed = eoaCode7702SignAuthorization(unsigned, hexToBytes(account.privateKey));
    const [chainId, , nonce, yParity, r, s] = signed.map(bytesToBigInt) as [
      bigint,
      bigint,
      bigint,
      bigint,
      bigint,
      bigint,
    ];
    return { chainId, address: hexToBytes(target), nonce, yParity, r, s: below(6) === 0 ? s + 1n : s };
  });
}

function accessList(below: Below): AccessListEntry[] {
  return Array.from({ length: below(3) }, () => ({
    address: hexToBytes([...CONTRACTS, STRANGER][below(5)]!),
    storageKeys: Array.from({ length: below(3) }, () => bigIntToBytes(BigInt(below(4)), 32)),
  }));
}

/** A message of any type, also of some that the fork does not have. */
export function randomMessage(below: Below, hardfork: Hardfork): TransactionMessage {
  const creates = below(5) === 0;
  const base = programMessage({
    to: creates ? undefined : hexToBytes([...CONTRACTS, AUTHORITIES[2]!.address as Hex][below(5)]!),
    data: creates ? program(below, opcodes(below, 5, hardfork)) : randomBytes(below, below(80)),
    value: BigInt(below(2)),
    gasLimit: BigInt(60_000 + below(900_000)),
  });
  switch (below(hardfork === 'chainstart' ? 12 : 6)) {
    case 0:
      return { ...base, accessList: accessList(below) };
    case 1:
      return { ...base, gasPrice: undefined, maxFeePerGas: 9n, maxPriorityFeePerGas: BigInt(below(3)) };
    case 2: {
      const hashes = Array.from({ length: 1 + below(3) }, () =>
        concatBytes(Uint8Array.of(below(9) === 0 ? 2 : 1), randomBytes(below, 31)),
      );
      return { ...base, blobVersionedHashes: hashes, maxFeePerBlobGas: BigInt(2 + below(8)) };
    }
    case 3:
      return { ...base, authorizationList: authorizations(below) };
    default:
      return base;
  }
}
