import { invalidParameter, type PlumblineError } from '../../../errors.js';
import type { BlobSchedule } from '../../../ethereum/base-fee.js';
import type { HashScheme } from '../../../kernel/contracts.js';
import { devnet } from '../../../networks/devnet.js';
import type { ForkActivation, Hardfork, Network } from '../../../networks/network.js';
import { bigIntToBytes, isZeroBytes, padStart } from '../../../primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../../../primitives/hex.js';
import type { GenesisAccount, GenesisAlloc, GenesisHeader } from './genesis.js';

/**
 * A genesis file in geth's format. Numbers are hex, decimal text or JSON numbers. The `0x` of addresses, keys and code
 * is optional.
 */
export interface GenesisJson {
  readonly config: Readonly<Record<string, unknown>>;
  readonly alloc: Readonly<Record<string, unknown>>;
  readonly [member: string]: unknown;
}

/** A parsed genesis file. */
export interface ParsedGenesis {
  readonly network: Network;
  readonly alloc: GenesisAlloc;
  readonly header: GenesisHeader;
}

/** Fields of `config` that activate forks by block number, in order. */
const BLOCK_FORKS: readonly (readonly [member: string, hardfork: Hardfork])[] = [
  ['homesteadBlock', 'homestead'],
  ['eip150Block', 'tangerineWhistle'],
  ['eip158Block', 'spuriousDragon'],
  ['byzantiumBlock', 'byzantium'],
  ['constantinopleBlock', 'constantinople'],
  ['petersburgBlock', 'petersburg'],
  ['istanbulBlock', 'istanbul'],
  ['muirGlacierBlock', 'muirGlacier'],
  ['berlinBlock', 'berlin'],
  ['londonBlock', 'london'],
  ['arrowGlacierBlock', 'arrowGlacier'],
  ['grayGlacierBlock', 'grayGlacier'],
];
const TIME_FORKS: readonly Hardfork[] = [
  'shanghai',
  'cancun',
  'prague',
  'osaka',
  'bpo1',
  'bpo2',
  'bpo3',
  'bpo4',
  'bpo5',
  'amsterdam',
];
const UNKNOWN_FORKS = ['verkleTime'];
/** geth's defaults. */
const DEFAULT_DIFFICULTY = 131_072n;
const DEFAULT_GAS_LIMIT = 4_712_388n;
/** geth's limits of its pool and of its simulated calls. */
const MAX_TRANSACTION_BYTES = 131_072;
const RPC_GAS_CAP = 50_000_000n;
const SLOT_SECONDS = 12;
const MAX_GAS = 2n ** 63n - 1n;

/** Settings that a genesis file does not contain. */
export interface GenesisOptions {
  /** Hash scheme of the zk state; `poseidon2` if left out. */
  readonly scheme?: HashScheme | undefined;
  /** First block of Paris, for a file that only has a terminal total difficulty. */
  readonly parisBlock?: number | undefined;
}

/**
 * Reads a genesis file: the network it describes, its accounts, and its header.
 *
 * @throws PlumblineError `INVALID_PARAMETER` with the invalid field, or with an unsupported fork
 */
export function parseGenesis(json: unknown, options: GenesisOptions = {}): ParsedGenesis {
  const genesis = objectOf(json, 'genesis');
  const config = objectOf(genesis.config, 'config');
  const header = headerOf(genesis);
  // geth reads names in any case, and some tools write this one so.
  const chainId = safe(config.chainId ?? config.chainID, 'config.chainId');
  const forks = forksOf(config, options.parisBlock);
  const base = devnet({ chainId, gasSearch: 'geth', ...(options.scheme !== undefined && { scheme: options.scheme }) });
  const { pool: _pool, moduleLimits: _limits, ...profile } = base;
  const deposit = config.depositContractAddress;
  const network: Network = {
    ...profile,
    name: `chain-${chainId}`,
    baseFeePerGas: header.baseFeePerGas ?? 0n,
    forks,
    blockRewards: config.clique === undefined || config.clique === null,
    ...(typeof deposit === 'string' && { depositContract: addressOf(deposit, 'config.depositContractAddress') }),
    blockGasLimit: header.gasLimit,
    txGasLimit: MAX_GAS,
    calldataLimit: MAX_TRANSACTION_BYTES,
    rpcGasCap: RPC_GAS_CAP,
    slotSeconds: SLOT_SECONDS,
  };
  return { network, alloc: allocOf(genesis.alloc), header };
}

/**
 * Terminal total difficulty of a file that does not give the first block of Paris, and the difficulty of genesis.
 *
 * @returns undefined if the file gives the block, its chain never ends proof of work, or has none: at a terminal total
 *   difficulty of zero, genesis is the first block of Paris
 */
export function terminalDifficulty(json: unknown): { terminal: bigint; genesis: bigint } | undefined {
  const genesis = objectOf(json, 'genesis');
  const config = objectOf(genesis.config, 'config');
  if (isAbsent(config.terminalTotalDifficulty) || !isAbsent(config.mergeNetsplitBlock)) return undefined;
  const terminal = integer(config.terminalTotalDifficulty, 'config.terminalTotalDifficulty');
  return terminal === 0n ? undefined : { terminal, genesis: headerOf(genesis).difficulty };
}

function forksOf(config: Record<string, unknown>, parisBlock: number | undefined): ForkActivation[] {
  for (const member of UNKNOWN_FORKS)
    if (!isAbsent(config[member]))
      throw invalidField(`config.${member}`, 'activates a fork that is not supported; remove it');
  const forks: ForkActivation[] = [{ hardfork: 'chainstart', block: 0 }];
  for (const [member, hardfork] of BLOCK_FORKS) {
    if (!isAbsent(config[member])) forks.push({ hardfork, block: safe(config[member], `config.${member}`) });
  }
  const merge = mergeBlock(config, parisBlock);
  const netsplit = isAbsent(config.mergeNetsplitBlock)
    ? {}
    : { netsplit: safe(config.mergeNetsplitBlock, 'config.mergeNetsplitBlock') };
  if (merge !== undefined) forks.push({ hardfork: 'paris', block: merge, ...netsplit });
  for (const hardfork of TIME_FORKS) {
    const member = `${hardfork}Time`;
    if (isAbsent(config[member])) continue;
    const blobs = blobsOf(config.blobSchedule, hardfork);
    const timestamp = safe(config[member], `config.${member}`);
    forks.push({ hardfork, timestamp, ...(blobs !== undefined && { blobs }) });
  }
  return forks;
}

/** First block without proof of work: from the file, from the caller, or 0 if the terminal difficulty is 0. */
function mergeBlock(config: Record<string, unknown>, found: number | undefined): number | undefined {
  const named = config.mergeNetsplitBlock;
  if (!isAbsent(named)) return safe(named, 'config.mergeNetsplitBlock');
  if (found !== undefined || isAbsent(config.terminalTotalDifficulty)) return found;
  return integer(config.terminalTotalDifficulty, 'config.terminalTotalDifficulty') === 0n ? 0 : undefined;
}

/** geth's defaults for missing schedules. @source EIP-4844, EIP-7691, EIP-7892 */
const DEFAULT_BLOBS: Partial<Record<Hardfork, BlobSchedule>> = {
  cancun: { target: 3, max: 6, baseFeeUpdateFraction: 3_338_477n },
  prague: { target: 6, max: 9, baseFeeUpdateFraction: 5_007_716n },
};

function blobsOf(schedules: unknown, hardfork: Hardfork): BlobSchedule | undefined {
  const path = `config.blobSchedule.${hardfork}`;
  const entry = isAbsent(schedules) ? undefined : objectOf(schedules, 'config.blobSchedule')[hardfork];
  if (isAbsent(entry)) return DEFAULT_BLOBS[hardfork];
  const members = objectOf(entry, path);
  const target = safe(members.target, `${path}.target`);
  const max = safe(members.max, `${path}.max`);
  const baseFeeUpdateFraction = integer(members.baseFeeUpdateFraction, `${path}.baseFeeUpdateFraction`);
  if (target > max) throw invalidField(`${path}.target`, 'must not be above max');
  if (baseFeeUpdateFraction === 0n) throw invalidField(`${path}.baseFeeUpdateFraction`, 'must not be zero');
  return { target, max, baseFeeUpdateFraction };
}

function headerOf(genesis: Record<string, unknown>): GenesisHeader {
  const number = (name: string, fallback: bigint) =>
    isAbsent(genesis[name]) ? fallback : integer(genesis[name], name);
  const bytes = (name: string, length: number) =>
    isAbsent(genesis[name]) ? new Uint8Array(length) : bytesOf(genesis[name], name, length);
  const optional = (name: string) => (isAbsent(genesis[name]) ? undefined : integer(genesis[name], name));
  if (number('number', 0n) !== 0n) throw invalidField('number', 'must be zero');
  const gasLimit = number('gasLimit', 0n);
  return {
    parentHash: bytes('parentHash', 32),
    coinbase: bytes('coinbase', 20),
    difficulty: number('difficulty', DEFAULT_DIFFICULTY),
    gasLimit: gasLimit === 0n ? DEFAULT_GAS_LIMIT : gasLimit,
    gasUsed: number('gasUsed', 0n),
    timestamp: isAbsent(genesis.timestamp) ? 0 : safe(genesis.timestamp, 'timestamp'),
    extraData: isAbsent(genesis.extraData) ? new Uint8Array(0) : bytesOf(genesis.extraData, 'extraData'),
    mixHash: bytes(isAbsent(genesis.mixHash) ? 'mixhash' : 'mixHash', 32),
    nonce: bigIntToBytes(BigInt.asUintN(64, number('nonce', 0n)), 8),
    baseFeePerGas: optional('baseFeePerGas'),
    blobGasUsed: optional('blobGasUsed'),
    excessBlobGas: optional('excessBlobGas'),
    slotNumber: optional('slotNumber'),
  };
}

function allocOf(value: unknown): GenesisAlloc {
  const alloc: Record<Hex, GenesisAccount> = {};
  for (const [key, entry] of Object.entries(objectOf(value, 'alloc'))) {
    const path = `alloc.${key}`;
    const account = objectOf(entry, path);
    const address = addressOf(key, path);
    if (address in alloc) throw invalidField(path, 'occurs twice');
    alloc[address] = {
      balance: isAbsent(account.balance) ? 0n : integer(account.balance, `${path}.balance`),
      nonce: isAbsent(account.nonce) ? 0n : integer(account.nonce, `${path}.nonce`),
      ...(!isAbsent(account.code) && { code: bytesToHex(bytesOf(account.code, `${path}.code`)) }),
      ...(!isAbsent(account.storage) && { storage: storageOf(account.storage, `${path}.storage`) }),
    };
  }
  return alloc;
}

/** Slots with value zero are left out. */
function storageOf(value: unknown, path: string): Record<Hex, Hex> {
  const storage: Record<Hex, Hex> = {};
  for (const [key, entry] of Object.entries(objectOf(value, path))) {
    const word = wordOf(entry, `${path}.${key}`);
    if (!isZeroBytes(word)) storage[bytesToHex(wordOf(key, `${path}.${key}`))] = bytesToHex(word);
  }
  return storage;
}

function wordOf(value: unknown, path: string): Uint8Array {
  const bytes = bytesOf(value, path);
  if (bytes.length > 32) throw invalidField(path, `must have at most 32 bytes, got ${bytes.length}`);
  return padStart(bytes, 32);
}

function addressOf(value: string, path: string): Hex {
  return bytesToHex(bytesOf(value, path, 20));
}

function bytesOf(value: unknown, path: string, length?: number): Uint8Array {
  if (typeof value !== 'string') throw invalidField(path, 'must be hex');
  const digits = value.startsWith('0x') ? value.slice(2) : value;
  try {
    return hexToBytes(`0x${digits.length % 2 === 0 ? digits : `0${digits}`}`, length);
  } catch (cause) {
    throw invalidField(path, length === undefined ? 'must be hex' : `must be hex of ${length} bytes`, cause);
  }
}

function integer(value: unknown, path: string): bigint {
  const wellFormed =
    typeof value === 'number'
      ? Number.isSafeInteger(value)
      : typeof value === 'string' && /^(0x[0-9a-f]+|\d+)$/i.test(value);
  if (!wellFormed) throw invalidField(path, 'must be an integer');
  const parsed = BigInt(value as string | number);
  if (parsed < 0n || parsed >> 256n !== 0n) throw invalidField(path, 'must be an integer from 0 to 2^256 - 1');
  return parsed;
}

function safe(value: unknown, path: string): number {
  const parsed = Number(integer(value, path));
  if (!Number.isSafeInteger(parsed)) throw invalidField(path, 'must be at most 2^53 - 1');
  return parsed;
}

function objectOf(value: unknown, path: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw invalidField(path, 'must be an object');
  return value as Record<string, unknown>;
}

/** geth writes null for absent fields. */
function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function invalidField(path: string, reason: string, cause?: unknown): PlumblineError<'INVALID_PARAMETER'> {
  return invalidParameter(path === 'genesis' ? path : `genesis.${path}`, reason, { cause });
}
