import { sha256 } from '@noble/hashes/sha2.js';
import { INITIAL_BASE_FEE } from '../../../ethereum/base-fee.js';
import { blockAccessListHash } from '../../../ethereum/block-access-list.js';
import {
  EMPTY_CODE_HASH,
  EMPTY_REQUESTS_HASH,
  EMPTY_TRIE_ROOT,
  EMPTY_UNCLES_HASH,
} from '../../../ethereum/constants.js';
import type { BlockHeader } from '../../../ethereum/header.js';
import { rulesAt } from '../../../evm/common.js';
import type { AccountChange } from '../../../evm/state-overlay.js';
import { encodeExtraData, type Prices } from '../../../fees/prices.js';
import { keccak256 } from '../../../kernel/keccak.js';
import type { Network } from '../../../networks/network.js';
import { bigIntToBytes, equalBytes, ZERO_WORD } from '../../../primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../../../primitives/hex.js';
import type { Block } from '../../block.js';
import { type BlockRecord, blockWithHash } from '../records/block-record.js';
import { DEV_ACCOUNTS, type DevAccount, OPERATOR, TEST_TOKEN, tokenBalanceSlot } from './dev-accounts.js';
import type { DevnetState } from './devnet-state.js';
import { MESSAGE_SERVICE_CODE } from './message-service.generated.js';
import { TEST_TOKEN_CODE } from './test-token.generated.js';

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
  /** From Amsterdam on; zero if left out. */
  readonly slotNumber?: bigint | undefined;
}

const ETHER = 10n ** 18n;
/** Balance of each dev account at genesis, wei. */
export const DEV_BALANCE: bigint = 10_000n * ETHER;
/** Test tokens of each dev account at genesis, in the smallest unit. */
export const DEV_TOKENS: bigint = 1_000_000n * ETHER;

const hexWord = (value: bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`;

/**
 * Contracts that the system calls at the start of each block: they keep the roots of beacon blocks and the hashes of blocks.
 *
 * @source EIP-4788 and EIP-2935, Deployment and Configuration
 */
const SYSTEM_CONTRACTS: GenesisAlloc = {
  '0x000f3df6d732807ef1319fb7b8bb8522d0beac02': {
    nonce: 1n,
    code: '0x3373fffffffffffffffffffffffffffffffffffffffe14604d57602036146024575f5ffd5b5f35801560495762001fff810690815414603c575f5ffd5b62001fff01545f5260205ff35b5f5ffd5b62001fff42064281555f359062001fff015500',
  },
  '0x0000f90827f1c53a10cb7a02335b175320002935': {
    nonce: 1n,
    code: '0x3373fffffffffffffffffffffffffffffffffffffffe14604657602036036042575f35600143038111604257611fff81430311604257611fff9006545f5260205ff35b5f5ffd5b5f35611fff60014303065500',
  },
};

/** The dev accounts, the test token and the system contracts. */
export function devAlloc(accounts: readonly DevAccount[] = DEV_ACCOUNTS): GenesisAlloc {
  const alloc: Record<Hex, GenesisAccount> = {};
  const storage: Record<Hex, Hex> = { [hexWord(2n)]: hexWord(DEV_TOKENS * BigInt(accounts.length)) };
  for (const { address } of accounts) {
    alloc[address] = { balance: DEV_BALANCE };
    const slot = tokenBalanceSlot(hexToBytes(address));
    storage[bytesToHex(slot)] = hexWord(DEV_TOKENS);
  }
  alloc[TEST_TOKEN] = { nonce: 1n, code: TEST_TOKEN_CODE, storage };
  return { ...alloc, ...SYSTEM_CONTRACTS };
}

/** Holds the ether of all messages from layer 1 to come. Its first message has number 1: slot 278. */
const MESSAGE_SERVICE: GenesisAccount = {
  nonce: 1n,
  balance: 1_000_000n * ETHER,
  code: MESSAGE_SERVICE_CODE,
  storage: { [hexWord(278n)]: hexWord(1n) },
};
const OPERATOR_ACCOUNT: GenesisAccount = { balance: 1_000_000n * ETHER };

/** The message service where the profile has it, and the account that anchors messages of layer 1 there. */
export function messagesAlloc({ messageService }: Pick<Network, 'messageService'>): GenesisAlloc {
  if (messageService === undefined) return {};
  return { [messageService.toLowerCase()]: MESSAGE_SERVICE, [OPERATOR.address]: OPERATOR_ACCOUNT };
}

/**
 * The genesis of a devnet has a format number. 1: dev accounts and test token. 2: system contracts too, without whose code the system calls do
 * nothing. 3: the message service and its operator too. Here are the accounts that came with a format after the first.
 */
const FORMAT_OF: ReadonlyMap<GenesisAccount, number> = new Map([
  ...Object.values(SYSTEM_CONTRACTS).map((account) => [account, 2] as const),
  [MESSAGE_SERVICE, 3],
  [OPERATOR_ACCOUNT, 3],
]);

/**
 * The accounts of a stored genesis, whose format may be an earlier one.
 *
 * @param stored - changes of the stored genesis block
 */
export function allocAsStored(alloc: GenesisAlloc, stored: readonly AccountChange[]): GenesisAlloc {
  const later = Object.entries(alloc).flatMap(([at, account]) => {
    const format = FORMAT_OF.get(account);
    return format === undefined ? [] : [{ at: at as Hex, format }];
  });
  const isHeld = (at: Hex) => {
    const own = hexToBytes(at, 20);
    return stored.some(({ address }) => equalBytes(address, own));
  };
  const format = later.reduce((most, one) => (one.format > most && isHeld(one.at) ? one.format : most), 1);
  const missing = later.filter((one) => one.format > format);
  if (missing.length === 0) return alloc;
  const earlier: Record<Hex, GenesisAccount> = { ...alloc };
  for (const { at } of missing) delete earlier[at];
  return earlier;
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
        codeHash: code.length === 0 ? EMPTY_CODE_HASH : keccak256(code),
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

/** Characters that are hashed at once. A call of the hash for each account takes longer than the hashing. */
const HASHED_AT_ONCE = 2 ** 16;

/** Identifies the genesis accounts: SHA-256 over all of them in order of address, 32 bytes. */
export function genesisIdentity(alloc: GenesisAlloc): Uint8Array {
  const hash = sha256.create();
  const encoder = new TextEncoder();
  const accounts = Object.entries(alloc).map(([address, account]) => [address.toLowerCase(), account] as const);
  accounts.sort(([a], [b]) => (a < b ? -1 : 1));
  let lines = '';
  const add = () => {
    hash.update(encoder.encode(lines));
    lines = '';
  };
  for (const [address, { balance = 0n, nonce = 0n, code = '0x', storage }] of accounts) {
    const slots = storage === undefined ? [] : Object.entries(storage).map((slot) => slot.join('=').toLowerCase());
    lines += `${[address, balance, nonce, code.toLowerCase(), ...slots.sort()].join(' ')}\n`;
    if (lines.length > HASHED_AT_ONCE) add();
  }
  add();
  return hash.digest();
}

/** Settings that determine block 0 of a devnet. */
export interface GenesisSettings {
  readonly network: Network;
  readonly alloc: GenesisAlloc;
  /** The accounts are plumbline's own: nothing in them can be refused, and the start leaves the zk state of them for later. */
  readonly isOwn?: boolean;
  /** Seconds. Part of the chain's identity. */
  readonly genesisTimestamp: number;
  /** Header of the genesis block; the devnet's own if undefined. */
  readonly genesisHeader?: GenesisHeader | undefined;
  /** Prices in each header; undefined for none. */
  readonly prices: Prices | undefined;
  /** Receives the priority fees, 20 bytes. */
  readonly coinbase: Uint8Array;
  /**
   * Reports the progress of opening: share of genesis accounts, stored blocks or stored state that is loaded, 0 to 1. A
   * stored state is loaded after the devnet has opened.
   */
  readonly onProgress: ((stage: 'genesis' | 'blocks' | 'state', fraction: number) => void) | undefined;
}

function devnetHeader(settings: GenesisSettings): GenesisHeader {
  return {
    parentHash: ZERO_WORD,
    coinbase: settings.coinbase,
    difficulty: 0n,
    gasLimit: settings.network.blockGasLimit,
    gasUsed: 0n,
    timestamp: settings.genesisTimestamp,
    extraData: settings.prices === undefined ? new Uint8Array(0) : encodeExtraData(settings.prices),
    mixHash: ZERO_WORD,
    nonce: new Uint8Array(8),
    baseFeePerGas: settings.network.baseFeePerGas,
  };
}

/** Applies the genesis accounts to an empty state and builds block 0. */
export async function sealGenesis(settings: GenesisSettings, state: DevnetState): Promise<BlockRecord> {
  const changes = genesisChanges(settings.alloc);
  const stateRoot = await state.load(changes, settings.isOwn === true, (fraction) => {
    settings.onProgress?.('genesis', fraction);
  });
  return {
    block: genesisBlock(settings, stateRoot),
    receipts: [],
    changes,
    get zkRoot() {
      return state.genesisRoot;
    },
  };
}

/** Block 0. @param stateRoot - ordinary state root of the genesis accounts, 32 bytes */
export function genesisBlock(settings: GenesisSettings, stateRoot: Uint8Array): Block {
  const given = settings.genesisHeader ?? devnetHeader(settings);
  const rules = rulesAt(settings.network, 0, given.timestamp);
  const header: BlockHeader = {
    parentHash: given.parentHash,
    sha3Uncles: EMPTY_UNCLES_HASH,
    miner: given.coinbase,
    stateRoot,
    transactionsRoot: EMPTY_TRIE_ROOT,
    receiptsRoot: EMPTY_TRIE_ROOT,
    logsBloom: new Uint8Array(256),
    difficulty: given.difficulty,
    number: 0,
    gasLimit: given.gasLimit,
    gasUsed: given.gasUsed,
    timestamp: given.timestamp,
    extraData: given.extraData,
    mixHash: given.mixHash,
    nonce: given.nonce,
    ...(rules.london && { baseFeePerGas: given.baseFeePerGas ?? INITIAL_BASE_FEE }),
    ...(rules.shanghai && { withdrawalsRoot: EMPTY_TRIE_ROOT }),
    ...(rules.cancun && {
      blobGasUsed: given.blobGasUsed ?? 0n,
      excessBlobGas: given.excessBlobGas ?? 0n,
      parentBeaconBlockRoot: ZERO_WORD,
    }),
    ...(rules.prague && { requestsHash: EMPTY_REQUESTS_HASH }),
    ...(rules.amsterdam && { blockAccessListHash: blockAccessListHash([]), slotNumber: given.slotNumber ?? 0n }),
  };
  return blockWithHash({ header, transactions: [], uncles: [], withdrawals: [] });
}
