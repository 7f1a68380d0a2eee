import { createMPT } from '@ethereumjs/mpt';
import { RLP } from '@ethereumjs/rlp';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Block } from '../../src/chain/block.js';
import { blockBytes } from '../../src/chain/block-bytes.js';
import type { Devnet } from '../../src/chain/devnet/devnet.js';
import { isPlumblineError } from '../../src/errors.js';
import { loadHasher } from '../../src/kernel/hasher.js';
import { equalBytes } from '../../src/primitives/bytes.js';
import { bytesToHex, hexToBytes } from '../../src/primitives/hex.js';
import { verifyLineaProof } from '../../src/proof/linea-proof.js';
import { formatBlock, formatReceipt } from '../../src/rpc/schema/format.js';
import { KeptStore } from '../support/dev-node.js';
import { fixtureBytes, hasFixture } from '../support/fixtures.js';
import {
  type BlockItems,
  blockItems,
  chainRlp,
  IMPORTED_HEAD,
  type Item,
  openOnGenesis,
  rlpOf,
} from '../support/imported-chain.js';

/** Places of header fields in their RLP list. */
const STATE_ROOT = 3;
const TRANSACTIONS_ROOT = 4;
const RECEIPTS_ROOT = 5;
const BLOOM = 6;
const DIFFICULTY = 7;
const NUMBER = 8;
const GAS_LIMIT = 9;
const GAS_USED = 10;
const TIMESTAMP = 11;
const EXTRA = 12;
const BASE_FEE = 15;
const WITHDRAWALS_ROOT = 16;
const BLOB_GAS_USED = 17;
const EXCESS_BLOB_GAS = 18;
const BEACON_ROOT = 19;
const REQUESTS_HASH = 20;

const word = (byte: number) => new Uint8Array(32).fill(byte);

function flipped(bytes: Uint8Array): Uint8Array {
  return bytes.length === 0 ? Uint8Array.of(1) : bytes.map((byte, i) => (i === bytes.length - 1 ? byte ^ 1 : byte));
}

async function trieRoot(items: readonly Item[]): Promise<Uint8Array> {
  const trie = await createMPT();
  for (const [i, item] of items.entries()) await trie.put(RLP.encode(i), Array.isArray(item) ? RLP.encode(item) : item);
  return trie.root();
}

/** A change to one header field. */
const field = (place: number, value?: Uint8Array) => (block: BlockItems) => {
  block[0][place] = value ?? flipped(block[0][place]!);
};

async function head(devnet: Devnet): Promise<{ number: number; hash: string }> {
  const { header, hash } = await devnet.head();
  return { number: header.number, hash: bytesToHex(hash) };
}

async function refusal(devnet: Devnet, bytes: Uint8Array) {
  try {
    await devnet.importChain(bytes);
  } catch (error) {
    if (isPlumblineError(error, 'BLOCK_INVALID')) return error.details;
    throw error;
  }
  throw new Error('the import went through');
}

describe.skipIf(!hasFixture('execution-apis/chain.rlp'))('import of a chain through all forks', () => {
  let blocks: BlockItems[];
  beforeAll(() => {
    blocks = blockItems(chainRlp());
  });

  it('imports all 54 blocks up to the head of the suite, each with every root', async () => {
    const devnet = await openOnGenesis();
    const fractions: number[] = [];
    const announced: Block[] = [];
    devnet.subscribe({ head: (block) => announced.push(block) });
    const result = await devnet.importChain(chainRlp(), (fraction) => fractions.push(fraction));
    expect(result).toEqual({ imported: 54, head: 54 });
    expect(await head(devnet)).toEqual({ number: 54, hash: IMPORTED_HEAD });
    expect(announced.map(({ header }) => header.number)).toEqual(blocks.map((_, i) => i + 1));
    expect(fractions).toHaveLength(54);
    expect(fractions.at(-1)).toBe(1);
    expect(fractions).toEqual([...fractions].sort((a, b) => a - b));
    for (const tag of ['safe', 'finalized'] as const) {
      expect(bytesToHex((await devnet.block({ tag }))!.hash)).toBe(IMPORTED_HEAD);
    }
    // Blocks are the bytes of the file again: sizes, uncles, withdrawals.
    for (const [i, items] of blocks.entries()) {
      const block = (await devnet.block({ number: i + 1 }))!;
      expect(block.size).toBe(RLP.encode(items as Item[]).length);
      expect(block.uncles?.length ?? 0).toBe(items[2].length);
      expect(block.withdrawals?.length ?? 0).toBe(items[3]?.length ?? 0);
    }
    // The zk state has followed: an account proves against the root that layer 1 holds.
    const miner = new Uint8Array(20);
    const root = devnet.layerOne!.stateRoot(54);
    const proof = await devnet.zkProof(miner, [], { number: 54 });
    const hasher = await loadHasher('poseidon2');
    const verdict = verifyLineaProof(hasher, { address: miner, storageKeys: [], stateRoot: root! }, proof);
    expect(verdict.verified).toBe(true);
    // Once more changes nothing.
    expect(await devnet.importChain(chainRlp())).toEqual({ imported: 0, head: 54 });
  });

  describe('refuses, with the chain unchanged, another', () => {
    let devnet: Devnet;
    let upTo = 0;
    beforeAll(async () => {
      devnet = await openOnGenesis();
    });

    /** Imports what comes before block `number`, tries the block as it has been changed, and then as it is. */
    const cases: [what: string, number: number, change: (block: BlockItems) => void | Promise<void>][] = [
      ['stateRoot', 1, field(STATE_ROOT)],
      ['receiptsRoot', 2, field(RECEIPTS_ROOT)],
      ['gasUsed', 2, field(GAS_USED)],
      ['logsBloom', 3, field(BLOOM)],
      ['sha3Uncles', 3, (block) => void block[2].pop()],
      [
        'uncle 0',
        4,
        withUncles((uncles) => uncles.map((uncle) => uncle.map((item, i) => (i === NUMBER ? Uint8Array.of(4) : item)))),
      ],
      ['number of different uncles', 4, withUncles((uncles) => [...uncles, ...uncles])],
      ['transactionsRoot', 5, field(TRANSACTIONS_ROOT)],
      ['transactionsRoot', 5, (block) => void block[1].pop()],
      ['parentHash', 6, field(0)],
      ['number', 7, field(NUMBER, Uint8Array.of(9))],
      ['timestamp', 7, field(TIMESTAMP, Uint8Array.of(60))],
      ['difficulty', 8, field(DIFFICULTY, new Uint8Array(0))],
      ['gasLimit', 9, field(GAS_LIMIT, Uint8Array.of(0x10, 0, 0, 0))],
      ['extraData', 9, field(EXTRA, new Uint8Array(33))],
      ['stateRoot', 10, field(2, new Uint8Array(20).fill(7))],
      ['presence of baseFeePerGas', 27, (block) => void block[0].pop()],
      ['baseFeePerGas', 27, field(BASE_FEE)],
      ['baseFeePerGas', 28, field(BASE_FEE)],
      ['difficulty', 36, field(DIFFICULTY, Uint8Array.of(2))],
      ['withdrawalsRoot', 39, field(WITHDRAWALS_ROOT)],
      ['withdrawalsRoot', 39, (block) => void block[3]![0]!.splice(3, 1, Uint8Array.of(9))],
      ['withdrawals', 40, (block) => void block.pop()],
      ['blobGasUsed', 42, field(BLOB_GAS_USED)],
      ['excessBlobGas', 42, field(EXCESS_BLOB_GAS, Uint8Array.of(2, 0, 0))],
      ['stateRoot', 43, field(BEACON_ROOT)],
      ['requestsHash', 45, field(REQUESTS_HASH)],
      ['signed', 46, resign],
      ['RLP', 47, field(TIMESTAMP, Uint8Array.of(0, 1, 214))],
      ['RLP', 47, (block) => void block[0].push(word(1))],
    ];

    it.each(cases)('%s of block %i', async (what, number, change) => {
      await devnet.importChain(rlpOf(blocks.slice(upTo, number - 1)));
      upTo = number - 1;
      const before = await head(devnet);
      expect(before.number).toBe(number - 1);
      const changed = structuredClone(blocks[number - 1]!);
      await change(changed);
      const details = await refusal(devnet, rlpOf([changed]));
      const named = what === 'signed' ? 'transaction 0' : what;
      expect(details).toMatchObject({ what: named, head: number - 1 });
      if (what !== 'number' && what !== 'RLP') expect(details.block).toBe(number);
      expect(details.actual).not.toBe(details.expected);
      expect(await head(devnet)).toEqual(before);
    });

    it('continues to the same head afterwards', async () => {
      await devnet.importChain(rlpOf(blocks.slice(upTo)));
      expect(await head(devnet)).toEqual({ number: 54, hash: IMPORTED_HEAD });
    });

    afterAll(() => devnet?.close());
  });

  it('keeps the blocks before a missing or truncated one', async () => {
    const devnet = await openOnGenesis();
    const gap = [...blocks.slice(0, 2), ...blocks.slice(3, 5)];
    expect(await refusal(devnet, rlpOf(gap))).toMatchObject({ block: 4, what: 'parentHash', head: 2 });
    const all = chainRlp();
    const three = rlpOf(blocks.slice(0, 3)).length;
    for (const end of [three + 1, three + 2, three + 500, rlpOf(blocks.slice(0, 4)).length - 1]) {
      expect(await refusal(devnet, all.subarray(0, end))).toMatchObject({ block: 4, what: 'RLP', head: 3 });
      expect((await head(devnet)).number).toBe(3);
    }
    expect(await refusal(devnet, Uint8Array.of(0x80))).toMatchObject({ block: 4, what: 'RLP', head: 3 });
    expect(await devnet.importChain(new Uint8Array(0))).toEqual({ imported: 0, head: 3 });
  });

  it('gives the same chain when its store is reopened', async () => {
    const store = new KeptStore();
    const first = await openOnGenesis(store);
    await first.importChain(chainRlp());
    const again = await openOnGenesis(store);
    expect(await head(again)).toEqual({ number: 54, hash: IMPORTED_HEAD });
    expect(bytesToHex((await again.block({ tag: 'finalized' }))!.hash)).toBe(IMPORTED_HEAD);
    for (let number = 0; number <= 54; number++) {
      const [block, reloaded] = [(await first.block({ number }))!, (await again.block({ number }))!];
      expect(formatBlock(reloaded, true)).toEqual(formatBlock(block, true));
      const receipts = (await first.receipts(block)).map(formatReceipt);
      expect((await again.receipts(reloaded)).map(formatReceipt)).toEqual(receipts);
    }
  });

  it('can be continued: another node accepts blocks sealed on it, also with blobs', async () => {
    const devnet = await openOnGenesis();
    await devnet.importChain(chainRlp());
    const sent: Uint8Array[] = [];
    for (const name of ['send-dynamic-fee-transaction', 'send-dynamic-fee-access-list-transaction', 'send-blob-tx']) {
      const text = new TextDecoder().decode(fixtureBytes(`execution-apis/eth_sendRawTransaction/${name}.io`));
      sent.push(await devnet.submit(hexToBytes(/"params":\["(0x[0-9a-f]+)"/.exec(text)![1]! as `0x${string}`)));
      expect(bytesToHex(sent.at(-1)!)).toBe(/"result":"(0x[0-9a-f]+)"/.exec(text)![1]);
    }
    const sealed = await devnet.control.mine(3);
    // The other two wait for transactions of the suite that are not among the fixtures.
    expect(sealed[0]!.transactions.map(({ hash }) => bytesToHex(hash))).toEqual([bytesToHex(sent[2]!)]);
    expect(sealed[0]!.header.blobGasUsed).toBe(131_072n);
    const other = await openOnGenesis();
    const rlp = sealed.map((block) => blockBytes({ ...block, uncles: [], withdrawals: [] }));
    await other.importChain(chainRlp());
    for (const bytes of rlp) await other.importChain(bytes);
    expect(await head(other)).toEqual(await head(devnet));
    // Only what came from outside is final at once.
    expect((await devnet.block({ tag: 'finalized' }))!.header.number).toBe(55);
    expect((await other.block({ tag: 'finalized' }))!.header.number).toBe(57);
  });
});

/** Changes uncles, and the header's hash of them with it. */
function withUncles(change: (uncles: Uint8Array[][]) => Uint8Array[][]) {
  return (block: BlockItems) => {
    block[2] = change(block[2]);
    block[0][1] = keccak_256(RLP.encode(block[2]));
  };
}

/** Another signature on the first transaction: it recovers to another account, which has no funds, or to none. */
async function resign(block: BlockItems): Promise<void> {
  const transaction = block[1][0] as Uint8Array[];
  expect(Array.isArray(transaction)).toBe(true);
  const r = transaction[7]!;
  transaction[7] = flipped(r);
  expect(equalBytes(transaction[7], r)).toBe(false);
  block[0][TRANSACTIONS_ROOT] = await trieRoot(block[1]);
}
