import { RLP } from '@ethereumjs/rlp';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { devnet } from '../../src/networks/devnet.js';
import type { Hex } from '../../src/primitives/hex.js';

/*
 * Endpoints whose chain has headers of Amsterdam from a block on: the two members are put into the headers of a devnet, and every hash
 * that follows from them is another one. Written apart from the library's reader of headers.
 */

/** Of an empty block access list: keccak-256 of `c0`. @source docs/spec/glamsterdam.md 2 */
export const EMPTY_LIST_HASH = '0x1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347';

const FIELDS = [
  ...['parentHash', 'sha3Uncles', 'miner', 'stateRoot', 'transactionsRoot', 'receiptsRoot', 'logsBloom', 'difficulty'],
  ...[
    'number',
    'gasLimit',
    'gasUsed',
    'timestamp',
    'extraData',
    'mixHash',
    'nonce',
    'baseFeePerGas',
    'withdrawalsRoot',
  ],
  ...['blobGasUsed', 'excessBlobGas', 'parentBeaconBlockRoot', 'requestsHash', 'blockAccessListHash', 'slotNumber'],
  // Of a fork that no version knows.
  'laterRoot',
];
const INTEGERS = new Set([
  ...['difficulty', 'number', 'gasLimit', 'gasUsed', 'timestamp', 'baseFeePerGas', 'blobGasUsed', 'excessBlobGas'],
  'slotNumber',
]);

type Json = Record<string, unknown>;

/** When the network below forks to Amsterdam, seconds: its tests set the time of blocks. */
export const FORK = 2_000_000_000;
/** A devnet's network that forks to Amsterdam. */
export const FORKING = {
  ...devnet(),
  forks: [
    { hardfork: 'osaka', block: 0 },
    { hardfork: 'amsterdam', timestamp: FORK },
  ],
} as const;

/** Members that a header of Amsterdam has too, where the chain below is of an earlier fork. */
const EMPTY_TRIE = '0x56e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421';
const BEFORE: Json = {
  ...{ baseFeePerGas: '0x7', withdrawalsRoot: EMPTY_TRIE, blobGasUsed: '0x0', excessBlobGas: '0x0' },
  parentBeaconBlockRoot: `0x${'00'.repeat(32)}`,
  requestsHash: '0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
};

/** The hash of a header in JSON, of whatever members it has. */
export function hashOfJson(header: Json): Hex {
  const fields = FIELDS.filter((name) => header[name] !== undefined && header[name] !== null).map((name) => {
    const text = String(header[name]);
    return INTEGERS.has(name) ? BigInt(text) : Buffer.from(text.slice(2), 'hex');
  });
  return `0x${Buffer.from(keccak_256(RLP.encode(fields))).toString('hex')}`;
}

/** One chain as it is served, and as its blocks are asked for below. */
class Chain {
  private readonly news = new Map<string, Promise<string>>();
  private readonly olds = new Map<string, string>();

  constructor(
    private readonly url: string,
    private readonly isNew: (block: number) => boolean,
    private readonly more: Json,
  ) {}

  /** The hash of the block that has this one below. */
  hash(old: string): Promise<string> {
    const found = this.news.get(old) ?? this.find(old);
    this.news.set(old, found);
    return found;
  }

  private async find(old: string): Promise<string> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_getBlockByHash', params: [old, false] });
    const response = await fetch(this.url, { method: 'POST', body, headers: { 'content-type': 'application/json' } });
    const { result } = (await response.json()) as { result: Json | null };
    return result === null ? old : String((await this.header(result)).hash);
  }

  private async header(below: Json): Promise<Json> {
    const number = Number(below.number);
    const parentHash = number === 0 ? below.parentHash : await this.hash(String(below.parentHash));
    const slotNumber = `0x${(0xac6000 + number).toString(16)}`;
    const added = { ...BEFORE, ...below, blockAccessListHash: EMPTY_LIST_HASH, slotNumber, ...this.more };
    const header: Json = { ...(this.isNew(number) ? added : below), parentHash };
    const hash = hashOfJson(header);
    this.olds.set(hash, String(below.hash));
    return { ...header, hash };
  }

  /** An answer with the headers and hashes of this chain. */
  async shown(value: unknown): Promise<unknown> {
    if (Array.isArray(value)) return Promise.all(value.map((one) => this.shown(one)));
    if (typeof value !== 'object' || value === null) return value;
    const object = value as Json;
    const entries = Object.entries(
      'logsBloom' in object && 'parentHash' in object ? await this.header(object) : object,
    );
    const shown = entries.map(async ([name, member]): Promise<[string, unknown]> => {
      if (name === 'blockHash' && typeof member === 'string') return [name, await this.hash(member)];
      return [name, await this.shown(member)];
    });
    return Object.fromEntries(await Promise.all(shown));
  }

  /** A request with the hashes that the chain below has. */
  asked(body: string): string {
    let text = body;
    for (const [hash, old] of this.olds) text = text.replaceAll(hash, old);
    return text;
  }
}

/**
 * `fetch` for a light node whose endpoints serve devnets.
 *
 * @param isNew - whether a block has the members of Amsterdam
 * @param more - a later member, `laterRoot`, that the hash covers
 */
export function amsterdamFetch(
  isNew: (block: number) => boolean,
  more: { readonly laterRoot?: Hex } = {},
): typeof fetch {
  const chains = new Map<string, Chain>();
  return async (input, init) => {
    const url = String(input);
    const chain = chains.get(url) ?? new Chain(url, isNew, more);
    chains.set(url, chain);
    const response = await fetch(url, { ...init, body: chain.asked(String(init?.body)) });
    const { status } = response;
    return new Response(JSON.stringify(await chain.shown(await response.json())), {
      status,
      headers: { 'content-type': 'application/json' },
    });
  };
}

/** An answer of `eth_getBlockAccessList`, as far as tests read it. */
export type ListJson = {
  address: Hex;
  storageChanges: { key: Hex; changes: { index: Hex; value: Hex }[] }[];
  storageReads: Hex[];
  balanceChanges: { index: Hex; value: Hex }[];
  nonceChanges: { index: Hex; value: Hex }[];
  codeChanges: { index: Hex; code: Hex }[];
}[];

/** `blockAccessListHash` of a list. @source EIP-7928, written apart from the library's encoding */
export function hashOfListJson(list: ListJson): Hex {
  const int = (value: Hex) => {
    const digits = BigInt(value).toString(16);
    return value === '0x0' || BigInt(value) === 0n ? '0x' : `0x${digits.length % 2 === 0 ? '' : '0'}${digits}`;
  };
  const pairs = (changes: { index: Hex; value: Hex }[]) => changes.map(({ index, value }) => [int(index), int(value)]);
  const items = list.map((account) => [
    account.address,
    account.storageChanges.map(({ key, changes }) => [int(key), pairs(changes)]),
    account.storageReads.map(int),
    pairs(account.balanceChanges),
    pairs(account.nonceChanges),
    account.codeChanges.map(({ index, code }) => [int(index), code]),
  ]);
  return `0x${Buffer.from(keccak_256(RLP.encode(items as never))).toString('hex')}`;
}
