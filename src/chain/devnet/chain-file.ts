import { sha256 } from '@noble/hashes/sha2.js';
import { PlumblineError } from '../../errors.js';
import { copyBytes, equalBytes } from '../../primitives/bytes.js';
import type { Hex } from '../../primitives/hex.js';
import { nextTurn } from '../../scheduling/turns.js';
import type { Key, Table } from '../../store/page-store.js';
import { hashInTurns } from './records/checkpoint-codec.js';
import { DEVNET_TABLES } from './storage/devnet-store.js';

/** Description of the chain in a file. */
export interface ChainFileHeader {
  readonly chainId: number;
  readonly network: string;
  /** Hash scheme of the zk state. */
  readonly scheme: string;
  /** `genesisIdentity` as hex. */
  readonly genesis: Hex;
  /** Number of the newest block. */
  readonly head: number;
}

export interface ChainFileEntry {
  readonly table: Table;
  readonly key: Key;
  readonly value: Uint8Array;
}

/** An exported devnet: the entries of its store. */
export interface ChainFile extends ChainFileHeader {
  readonly entries: readonly ChainFileEntry[];
}

/*
 *   "plumbline devnet"   16 bytes
 *   format               u32, 1; all numbers have the highest byte first
 *   header               u32 length, JSON of `ChainFileHeader`
 *   entries              u32 number, then of each
 *     table                u8: 0 meta, 1 blocks, 2 state, 3 trie
 *     key                  u8 0 and f64 for a number; u8 1, u32 length and UTF-8 for a string
 *     value                u32 length, bytes
 *   checksum             SHA-256 of all that is before, 32 bytes
 */
const MAGIC = new TextEncoder().encode('plumbline devnet');
const FORMAT = 1;
/** Tables in a file, by their numbers. */
const FILE_TABLES: readonly Table[] = ['meta', ...DEVNET_TABLES];
const CHECKSUM_BYTES = 32;
const NUMBER_KEY = 0;
const STRING_KEY = 1;

export async function encodeChainFile({ entries, ...header }: ChainFile): Promise<Uint8Array> {
  const parts: Uint8Array[] = [MAGIC, u32(FORMAT), ...sized(JSON.stringify(header)), u32(entries.length)];
  for (const { table, key, value } of entries) {
    await nextTurn();
    parts.push(Uint8Array.of(FILE_TABLES.indexOf(table), typeof key === 'number' ? NUMBER_KEY : STRING_KEY));
    if (typeof key === 'number') parts.push(f64(key));
    else parts.push(...sized(key));
    parts.push(u32(value.length), value);
  }
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  const file = new Uint8Array(length + CHECKSUM_BYTES);
  let at = 0;
  for (const part of parts) {
    await nextTurn();
    file.set(part, at);
    at += part.length;
  }
  file.set(await checksumOf(file.subarray(0, length)), length);
  return file;
}

async function checksumOf(content: Uint8Array): Promise<Uint8Array> {
  const hash = sha256.create();
  await hashInTurns(hash, content);
  return hash.digest();
}

/** @throws PlumblineError `CHAIN_FILE_REFUSED` for anything but such a file, exactly encoded */
export async function decodeChainFile(file: Uint8Array): Promise<ChainFile> {
  if (file.length < MAGIC.length + CHECKSUM_BYTES || !equalBytes(file.subarray(0, MAGIC.length), MAGIC)) {
    throw refusedFile('is not an exported devnet; choose a file that was exported from plumbline');
  }
  const reader = new Reader(file.subarray(0, file.length - CHECKSUM_BYTES), MAGIC.length);
  const format = reader.u32();
  // In other formats the checksum may be elsewhere.
  if (format !== FORMAT && format < 2 ** 16)
    throw refusedFile(`has format ${format}, this version reads ${FORMAT}; use a newer version of plumbline`);
  if (!equalBytes(await checksumOf(reader.bytes), file.subarray(reader.bytes.length))) {
    throw refusedFile('is damaged: its checksum does not match; export it again');
  }
  const header = readHeader(reader.text());
  const entries: ChainFileEntry[] = [];
  for (let left = reader.u32(); left > 0; left--) {
    await nextTurn();
    const table = FILE_TABLES[reader.u8()];
    if (table === undefined) throw refusedFile('has an entry of an unknown table');
    const key = readKey(reader);
    entries.push({ table, key, value: copyBytes(reader.take(reader.u32())) });
  }
  if (!reader.isAtEnd) throw refusedFile('has bytes after its last entry');
  return { ...header, entries };
}

function readHeader(text: string): ChainFileHeader {
  let header: Partial<ChainFileHeader> | null;
  try {
    header = JSON.parse(text) as Partial<ChainFileHeader> | null;
  } catch (cause) {
    throw refusedFile('has a header that is not JSON', cause);
  }
  const { chainId, network, scheme, genesis, head } = header ?? {};
  const isWhole = [network, scheme, genesis].every((member) => typeof member === 'string');
  if (!isWhole || typeof chainId !== 'number' || !Number.isSafeInteger(head) || head! < 0) {
    throw refusedFile('has a header with missing or invalid fields');
  }
  return { chainId, network: network!, scheme: scheme!, genesis: genesis!, head: head! };
}

function readKey(reader: Reader): Key {
  const kind = reader.u8();
  if (kind !== NUMBER_KEY && kind !== STRING_KEY) throw refusedFile('has a key of an unknown kind');
  return kind === NUMBER_KEY ? reader.f64() : reader.text();
}

export function refusedFile(reason: string, cause?: unknown): PlumblineError<'CHAIN_FILE_REFUSED'> {
  return new PlumblineError('CHAIN_FILE_REFUSED', `the file ${reason}`, { reason }, { cause });
}

class Reader {
  private readonly view: DataView;

  constructor(
    readonly bytes: Uint8Array,
    private at: number,
  ) {
    this.view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get isAtEnd(): boolean {
    return this.at === this.bytes.length;
  }

  u8(): number {
    return this.view.getUint8(this.skip(1));
  }

  u32(): number {
    return this.view.getUint32(this.skip(4));
  }

  f64(): number {
    return this.view.getFloat64(this.skip(8));
  }

  text(): string {
    return new TextDecoder().decode(this.take(this.u32()));
  }

  take(length: number): Uint8Array {
    const from = this.skip(length);
    return this.bytes.subarray(from, from + length);
  }

  private skip(length: number): number {
    const from = this.at;
    if (from + length > this.bytes.length) throw refusedFile('ends too soon');
    this.at += length;
    return from;
  }
}

function u32(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value);
  return bytes;
}

function f64(value: number): Uint8Array {
  const bytes = new Uint8Array(8);
  new DataView(bytes.buffer).setFloat64(0, value);
  return bytes;
}

function sized(text: string): Uint8Array[] {
  const bytes = new TextEncoder().encode(text);
  return [u32(bytes.length), bytes];
}
