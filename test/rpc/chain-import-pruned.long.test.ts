import { describe, expect, test } from 'vitest';
import {
  type ChainFile,
  type ChainFileEntry,
  decodeChainFile,
  encodeChainFile,
} from '../../src/chain/devnet/chain-file.js';
import { decodeBlockRecord, encodeBlockRecord } from '../../src/chain/devnet/records/block-record.js';
import { decodeSegment, encodeSegment } from '../../src/chain/devnet/records/checkpoint-codec.js';
import { decodeHistory, encodeHistory } from '../../src/chain/devnet/records/ledger.js';
import type { InlineOptions } from '../../src/hosts/opening/inline.js';
import { accountAt, type DevNode, devNode, KeptStore, stranger } from '../support/dev-node.js';
import { fixtureBytes, fixtureJson, hasFixture } from '../support/fixtures.js';

const CHAIN_ID = 59139;

describe('a file of pruned blocks', () => {
  /** Within a budget: of `CHANGES` old blocks have lost what they changed, of `BODIES` what was in them too. */
  const within = (budget: number): InlineOptions => ({
    chain: { kind: 'devnet', scheme: 'poseidon2', finality: { heldFinalizations: 4 } },
    storage: { budgets: { devnet: budget } },
  });
  const CHANGES = 250_000;
  const BODIES = 165_000;
  const AROUND = 110;
  const made = new Map<number, Promise<{ file: ChainFile; seen: unknown }>>();

  const look = async ({ ask }: DevNode) => ({
    head: await ask('eth_getBlockByNumber', 'latest', true),
    first: await ask('eth_getBlockByNumber', '0x1', true).catch((error: { code: number }) => error.code),
    balance: await ask('eth_getBalance', stranger('24'), 'latest'),
    proof: await ask('linea_getProof', accountAt(0), [], 'latest'),
    ordinary: await ask('eth_getProof', accountAt(0), [], 'latest'),
  });

  async function exportPruned(budget: number) {
    const dev = await devNode({ ...within(budget), store: new KeptStore() });
    for (let nonce = 0; nonce < AROUND; nonce++) {
      await dev.transfer(0, { nonce, to: stranger((0x20 + (nonce % 9)).toString(16)) });
    }
    const file = await decodeChainFile(await dev.node.exportChain());
    return { file, seen: await look(dev) };
  }

  function theirs(budget = CHANGES) {
    const file = made.get(budget) ?? exportPruned(budget);
    made.set(budget, file);
    return file;
  }

  async function importing(entries: readonly ChainFileEntry[], budget = CHANGES) {
    const { file } = await theirs(budget);
    const store = new KeptStore();
    const dev = await devNode({ ...within(budget), store });
    await dev.node.importChain(await encodeChainFile({ ...file, entries }));
    return { dev, store };
  }

  async function refusedWith(change: (entry: ChainFileEntry) => ChainFileEntry | undefined, message: RegExp) {
    const { file } = await theirs();
    const entries = file.entries.flatMap((entry) => change(entry) ?? []);
    const refused = { code: 'CHAIN_FILE_REFUSED', message: expect.stringMatching(message) };
    await expect(importing(entries)).rejects.toMatchObject(refused);
  }

  const kinds = async (budget = CHANGES) => {
    const { file } = await theirs(budget);
    const records = file.entries.filter(({ table, key }) => table === 'blocks' && typeof key === 'number');
    return records.map(({ value }) => decodeBlockRecord(value, CHAIN_ID).pruned);
  };

  test.each([
    ['changes', CHANGES],
    ['body', BODIES],
  ])('turns another devnet into the same one, which can be reopened: %s', async (kind, budget) => {
    expect(new Set(await kinds(budget))).toEqual(new Set([undefined, kind]));
    const { file, seen } = await theirs(budget);
    const more = { table: 'trie', key: 9999, value: new Uint8Array(1) } as const;
    const { dev, store } = await importing([...file.entries, more], budget);
    expect(await look(dev)).toEqual(seen);
    expect(await store.keys('trie')).not.toContain(9999);
    await dev.node.close();
    expect(await look(await devNode({ ...within(budget), store }))).toEqual(seen);
  });

  test('is refused if the sum of the pruned changes was modified', async () => {
    await refusedWith((entry) => {
      if (entry.key !== 'pruned') return entry;
      const history = decodeHistory(entry.value);
      const changes = history.changes.map((one, i) =>
        i > 0 ? one : { ...one, after: { ...one.after!, balance: 7n } },
      );
      return { ...entry, value: encodeHistory({ ...history, changes }) };
    }, /do not give the state root/);
  });

  test('is refused if a receipt of a block with body was modified', async () => {
    const number = (await kinds()).indexOf('changes');
    await refusedWith((entry) => {
      if (entry.table !== 'blocks' || entry.key !== number) return entry;
      const record = decodeBlockRecord(entry.value, CHAIN_ID);
      const receipts = record.receipts.map((one) => ({ ...one, succeeded: false }));
      return { ...entry, value: encodeBlockRecord({ ...record, receipts, changes: [] }) };
    }, /list of receipts/);
  });

  test('is refused if the state is missing or incomplete', async () => {
    await refusedWith((entry) => (entry.key === 'devnet-checkpoint' ? undefined : entry), /but no state/);
    await refusedWith((entry) => (entry.table === 'trie' ? undefined : entry), /is missing/);
    await refusedWith((entry) => (entry.key === '0' ? undefined : entry), /missing/);
    await refusedWith((entry) => {
      if (entry.table !== 'trie') return entry;
      const nodes = new Map<string, Uint8Array>();
      decodeSegment(entry.key as number, entry.value, nodes);
      for (const name of [...nodes.keys()].slice(1)) nodes.delete(name);
      return { ...entry, value: encodeSegment(entry.key as number, nodes) };
    }, /lacks a node/);
  });

  test('is refused with another genesis', async () => {
    const zkRoot = new Uint8Array(32).fill(1);
    await refusedWith((entry) => {
      if (entry.table !== 'blocks' || entry.key !== 0) return entry;
      const { block, receipts, changes } = decodeBlockRecord(entry.value, CHAIN_ID);
      return { ...entry, value: encodeBlockRecord({ block, receipts, changes, zkRoot }) };
    }, /zk state root at genesis/);
  });
});

describe.skipIf(!hasFixture('execution-apis/chain.rlp'))(
  'a file of blocks that came from outside, through all forks',
  () => {
    test('is exported and imported unchanged', async () => {
      const genesis = fixtureJson('execution-apis/genesis.json');
      const chain = { kind: 'devnet', genesis, mining: 'manual' } as const;
      const importBlocks = fixtureBytes('execution-apis/chain.rlp');
      const dev = await devNode({ chain: { ...chain, importBlocks }, store: new KeptStore() } as InlineOptions);
      const { node, ask } = await devNode({ chain, store: new KeptStore() } as InlineOptions);
      const head = await dev.number();
      expect(await node.importChain(await dev.node.exportChain())).toEqual({ head });
      for (let number = 0; number <= head; number++) {
        const asked = `0x${number.toString(16)}`;
        for (const [method, ...more] of [['eth_getBlockByNumber', true], ['eth_getBlockReceipts']] as const) {
          expect(await ask(method, asked, ...more)).toEqual(await dev.ask(method, asked, ...more));
        }
      }
    });
  },
);
