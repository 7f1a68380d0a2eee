import { Common, Hardfork, Mainnet } from '@ethereumjs/common';
import { RLP } from '@ethereumjs/rlp';
import { createTxFromRPC } from '@ethereumjs/tx';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { GenesisJson } from '../../src/chain/devnet/state/genesis-json.js';
import { orderedTrieRoot } from '../../src/ethereum/ordered-trie.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { concatBytes } from '../../src/primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { fixtureBytes, fixtureJson, hasFixture } from '../support/fixtures.js';

/** What JSON-RPC shows; a member of another fork or type is missing. */
interface Shown {
  readonly [member: string]: Hex | undefined;
}
interface ShownLog {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
}
interface ShownReceipt {
  readonly type: Hex;
  readonly status?: Hex;
  readonly root?: Hex;
  readonly cumulativeGasUsed: Hex;
  readonly logsBloom: Hex;
  readonly logs: readonly ShownLog[];
}
interface ShownBody {
  readonly hash: Hex;
  readonly transactions: readonly Shown[];
  readonly uncles: readonly Hex[];
  readonly withdrawals?: readonly Shown[];
}

/** Members of a header in the order of its RLP list (docs/spec/json-rpc.md 5.1), the later ones from their forks on. */
const HEADER = [
  ...['parentHash', 'sha3Uncles', 'miner', 'stateRoot', 'transactionsRoot', 'receiptsRoot', 'logsBloom', 'difficulty'],
  ...['number', 'gasLimit', 'gasUsed', 'timestamp', 'extraData', 'mixHash', 'nonce', 'baseFeePerGas'],
  ...['withdrawalsRoot', 'blobGasUsed', 'excessBlobGas', 'parentBeaconBlockRoot', 'requestsHash'],
];
const INTEGERS = [
  'difficulty',
  'number',
  'gasLimit',
  'gasUsed',
  'timestamp',
  'baseFeePerGas',
  'blobGasUsed',
  'excessBlobGas',
];
const HEAD = 54;
const common = new Common({ chain: { ...Mainnet, chainId: 3503995874084926 }, hardfork: Hardfork.Prague });

function headerBytes(block: Shown): Uint8Array {
  const held = HEADER.filter((member) => block[member] !== undefined);
  return RLP.encode(
    held.map((member) => (INTEGERS.includes(member) ? BigInt(block[member]!) : hexToBytes(block[member]!))),
  );
}

function receiptBytes({ type, root, status, cumulativeGasUsed, logsBloom, logs }: ShownReceipt): Uint8Array {
  const body = RLP.encode([
    root === undefined ? BigInt(status!) : hexToBytes(root),
    BigInt(cumulativeGasUsed),
    hexToBytes(logsBloom),
    logs.map(({ address, topics, data }) => [
      hexToBytes(address),
      topics.map((topic) => hexToBytes(topic)),
      hexToBytes(data),
    ]),
  ]);
  return type === '0x0' ? body : concatBytes(Uint8Array.of(Number(type)), body);
}

function withdrawalBytes({ index, validatorIndex, address, amount }: Shown): Uint8Array {
  return RLP.encode([BigInt(index!), BigInt(validatorIndex!), hexToBytes(address!), BigInt(amount!)]);
}

function rootOf(items: readonly Uint8Array[]): Hex {
  return bytesToHex(orderedTrieRoot(items));
}

/** Blocks of every fork have to show all that their hashes and roots commit to: they are put together from the JSON alone. */
describe.skipIf(!hasFixture('execution-apis/chain.rlp'))('the chain of the conformance suite, as it is shown', () => {
  let node: PlumblineNode;
  const blocks: (ShownBody & Shown)[] = [];
  const ask = <T>(method: string, ...params: unknown[]) =>
    node.request<UntypedMethod>({ method, params }) as Promise<T>;

  beforeAll(async () => {
    const genesis = fixtureJson<GenesisJson>('execution-apis/genesis.json');
    const importBlocks = fixtureBytes('execution-apis/chain.rlp');
    node = await createInlineNode({ chain: { kind: 'devnet', genesis, importBlocks, mining: 'manual' } });
    for (let number = 0; number <= HEAD; number++) {
      blocks.push(await ask('eth_getBlockByNumber', `0x${number.toString(16)}`, true));
    }
  });
  afterAll(() => node?.close());

  test('headers hash to their hashes', () => {
    for (const block of blocks) expect(bytesToHex(keccak_256(headerBytes(block)))).toBe(block.hash);
  });

  test('transactions of every type hash to their hashes', async () => {
    const seen = new Map<string, number>();
    for (const shown of blocks.flatMap(({ transactions }) => transactions)) {
      seen.set(shown.type!, (seen.get(shown.type!) ?? 0) + 1);
      // Blob transactions need a KZG library there; the recorded answers of the suite hold one of them.
      if (shown.type === '0x3') continue;
      const transaction = await createTxFromRPC(shown as never, { common });
      expect(bytesToHex(transaction.hash())).toBe(shown.hash);
    }
    // Counts of docs/spec/json-rpc.md 8.
    expect(Object.fromEntries(seen)).toEqual({ '0x0': 196, '0x1': 23, '0x2': 23, '0x3': 6, '0x4': 1 });
  });

  test('receipts make up their roots, those before Byzantium too', async () => {
    let withRoots = 0;
    for (const { hash, receiptsRoot } of blocks) {
      const receipts = await ask<ShownReceipt[]>('eth_getBlockReceipts', hash);
      expect(rootOf(receipts.map(receiptBytes))).toBe(receiptsRoot);
      withRoots += receipts.filter(({ root, status }) => root !== undefined && status === undefined).length;
    }
    expect(withRoots).toBeGreaterThan(0);
  });

  test('withdrawals make up their roots, from Shanghai on', async () => {
    const from = blocks.findIndex(({ withdrawals }) => withdrawals !== undefined);
    expect(from).toBe(39);
    for (const { withdrawals, withdrawalsRoot } of blocks.slice(from)) {
      expect(rootOf(withdrawals!.map(withdrawalBytes))).toBe(withdrawalsRoot);
    }
    expect(blocks.flatMap(({ withdrawals }) => withdrawals ?? []).length).toBeGreaterThan(0);
  });

  test('uncles are counted, and shown by their hashes alone', async () => {
    const withUncles = blocks.filter(({ uncles }) => uncles.length > 0);
    expect(withUncles.length).toBeGreaterThan(0);
    for (const { hash, number, uncles } of withUncles) {
      const count = `0x${uncles.length.toString(16)}`;
      expect(await ask('eth_getUncleCountByBlockHash', hash)).toBe(count);
      expect(await ask('eth_getUncleCountByBlockNumber', number)).toBe(count);
      expect(await ask('eth_getUncleByBlockHashAndIndex', hash, '0x0')).toBeNull();
      for (const uncle of uncles) expect(uncle).toMatch(/^0x[0-9a-f]{64}$/);
    }
  });

  test('logs of the whole chain are those of its receipts', async () => {
    const receipts = await Promise.all(blocks.map(({ hash }) => ask<ShownReceipt[]>('eth_getBlockReceipts', hash)));
    const expected = receipts.flat().flatMap(({ logs }) => logs);
    expect(await ask('eth_getLogs', { fromBlock: 'earliest', toBlock: 'latest' })).toEqual(expected);
    const [address, topic] = [expected[0]!.address, expected[0]!.topics[0]!];
    const wanted = expected.filter((log) => log.address === address && log.topics[0] === topic);
    expect(await ask('eth_getLogs', { fromBlock: '0x0', toBlock: '0x36', address, topics: [topic] })).toEqual(wanted);
  });

  test('blob prices are those of the headers, from Cancun on', async () => {
    const history = await ask<Record<string, unknown[]>>('eth_feeHistory', '0x37', 'latest');
    expect(history.baseFeePerGas).toEqual([...blocks.map(({ baseFeePerGas }) => baseFeePerGas ?? '0x0'), '0x16dfe9b']);
    // At such low use the price never leaves its minimum; blocks before Cancun have none.
    const prices = blocks.map(({ excessBlobGas }) => (excessBlobGas === undefined ? '0x0' : '0x1'));
    expect(history.baseFeePerBlobGas).toEqual([...prices, '0x1']);
    // Most blobs of a block: 6, from Prague on 9, from BPO1 (block 51) on 15, BPO2 (block 54) 21 (genesis.json).
    const most = (number: number) => (number < 45 ? 6 : number < 51 ? 9 : number < 54 ? 15 : 21);
    const ratios = blocks.map(({ blobGasUsed }, number) => Number(blobGasUsed ?? 0) / (most(number) * 131_072));
    expect(history.blobGasUsedRatio).toEqual(ratios);
  });
});
