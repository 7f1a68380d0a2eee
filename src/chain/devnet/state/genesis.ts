import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { EMPTY_CODE_HASH } from '../../../ethereum/constants.js';
import type { AccountChange } from '../../../evm/state/state-overlay.js';
import { bigIntToBytes } from '../../../primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../../../primitives/hex.js';
import { DEV_ACCOUNTS } from './dev-accounts.js';
import { TEST_TOKEN_CODE } from './test-token.generated.js';
import { TEST_TOKEN, tokenBalanceSlot } from './test-token.js';

/** An account of the genesis block. Storage maps slots to values, both 32 bytes as hex. */
export interface GenesisAccount {
  readonly balance?: bigint;
  readonly nonce?: bigint;
  readonly code?: Hex;
  readonly storage?: Readonly<Record<Hex, Hex>>;
}

/** Accounts of the genesis block by address. */
export type GenesisAlloc = Readonly<Record<Hex, GenesisAccount>>;

/** Header fields of block 0, if they differ from the devnet's own. Lengths as in `BlockHeader`. */
export interface GenesisHeader {
  readonly parentHash: Uint8Array;
  readonly coinbase: Uint8Array;
  readonly difficulty: bigint;
  readonly gasLimit: bigint;
  readonly gasUsed: bigint;
  /** Seconds. */
  readonly timestamp: number;
  readonly extraData: Uint8Array;
  readonly mixHash: Uint8Array;
  readonly nonce: Uint8Array;
  /** From London on; 1 gwei if left out. */
  readonly baseFeePerGas?: bigint | undefined;
  /** From Cancun on; zero if left out. */
  readonly blobGasUsed?: bigint | undefined;
  readonly excessBlobGas?: bigint | undefined;
}

const ETHER = 10n ** 18n;
/** Balance of each dev account at genesis, wei. */
const DEV_BALANCE: bigint = 10_000n * ETHER;
/** Test tokens of each dev account at genesis, in the smallest unit. */
export const DEV_TOKENS: bigint = 1_000_000n * ETHER;

const hexWord = (value: bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`;

/** The dev accounts and the test token. */
export function devAlloc(): GenesisAlloc {
  const alloc: Record<Hex, GenesisAccount> = {};
  const storage: Record<Hex, Hex> = { [hexWord(2n)]: hexWord(DEV_TOKENS * BigInt(DEV_ACCOUNTS.length)) };
  for (const { address } of DEV_ACCOUNTS) {
    alloc[address] = { balance: DEV_BALANCE };
    const slot = tokenBalanceSlot(hexToBytes(address));
    storage[bytesToHex(slot)] = hexWord(DEV_TOKENS);
  }
  alloc[TEST_TOKEN] = { nonce: 1n, code: TEST_TOKEN_CODE, storage };
  return alloc;
}

/** The genesis block as changes to the empty state. @throws PlumblineError `INVALID_HEX`, `INVALID_LENGTH` */
export function genesisChanges(alloc: GenesisAlloc): AccountChange[] {
  return Object.entries(alloc).map(([address, account]) => {
    const code = hexToBytes(account.code ?? '0x');
    return {
      address: hexToBytes(address, 20),
      before: undefined,
      after: {
        nonce: account.nonce ?? 0n,
        balance: account.balance ?? 0n,
        codeHash: code.length === 0 ? EMPTY_CODE_HASH : keccak_256(code),
      },
      destroyed: false,
      code: code.length === 0 ? undefined : code,
      slots: Object.entries(account.storage ?? {}).map(([key, value]) => ({
        key: hexToBytes(key, 32),
        before: bigIntToBytes(0n, 32),
        after: hexToBytes(value, 32),
      })),
    };
  });
}

/** Identifies the genesis accounts: SHA-256 over all of them in order of address, 32 bytes. */
export function genesisIdentity(alloc: GenesisAlloc): Uint8Array {
  const hash = sha256.create();
  const accounts = Object.entries(alloc).map(([address, account]) => [address.toLowerCase(), account] as const);
  accounts.sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [address, { balance = 0n, nonce = 0n, code = '0x', storage = {} }] of accounts) {
    const slots = Object.entries(storage).map((slot) => slot.join('=').toLowerCase());
    const text = [address, balance, nonce, code.toLowerCase(), ...slots.sort()].join(' ');
    hash.update(new TextEncoder().encode(`${text}\n`));
  }
  return hash.digest();
}
