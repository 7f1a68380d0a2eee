import { createMPT } from '@ethereumjs/mpt';
import { RLP } from '@ethereumjs/rlp';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { describe, expect, it } from 'vitest';
import { orderedTrieRoot } from '../../src/ethereum/ordered-trie.js';
import { bytesToHex, hexToBytes } from '../../src/primitives/hex.js';
import { type RawTransaction, verifyBlockBody, verifyReceipts } from '../../src/proof/contents.js';
import { readHeader } from '../../src/proof/headers.js';
import { readTransaction } from '../../src/proof/transaction-answer.js';
import { answersOf, type RecordedBody } from '../support/block-answers.js';
import { bitFlips, type Json, shapeEdits } from '../support/damage.js';
import { fixtureBytes, fixtureJson, hasFixture, listFixtures } from '../support/fixtures.js';
import { blockItems, chainRlp } from '../support/imported-chain.js';
import { seededRandom } from '../support/random.js';
import { acceptedUnder, changedUnder } from '../support/refusal.js';

const names = listFixtures('blocks', /\.json$/).map((path) => path.slice('blocks/'.length));
const RECORDED = hasFixture('blocks/linea-mainnet-28279187.json');
/** Where this block is not there, another one: what needs it is then skipped. */
const recorded = (name: string) => answersOf(fixtureJson<RecordedBody>(`blocks/${RECORDED ? name : names[0]}`));
const reasonOf = (verdict: { verified: boolean; reason?: string; at?: string; transactionIndex?: number }) =>
  verdict.verified ? 'accepted' : `${verdict.reason} ${verdict.at} ${verdict.transactionIndex}`;
function bodyOf(answers: ReturnType<typeof answersOf>): readonly RawTransaction[] {
  const verdict = verifyBlockBody(answers.block, answers.body);
  if (!verdict.verified) throw new Error(reasonOf(verdict));
  return verdict.transactions;
}
/** Of the recorded exchange that a file of the execution-apis suite holds. */
const resultOf = (path: string) => {
  const text = new TextDecoder().decode(fixtureBytes(`execution-apis/${path}.io`));
  return JSON.parse(
    text
      .split('\n')
      .find((line) => line.startsWith('<<'))!
      .slice(2),
  ).result;
};

describe('the root of an ordered list', () => {
  it('is that of a trie of @ethereumjs/mpt, for short and long items and every form of the index', async () => {
    const random = seededRandom(7);
    for (const count of [0, 1, 2, 3, 16, 17, 127, 128, 129, 200, 257, 300]) {
      const items = Array.from({ length: count }, () =>
        Uint8Array.from({ length: 1 + random(count % 2 === 0 ? 30 : 300) }, () => random(256)),
      );
      const trie = await createMPT();
      for (const [index, item] of items.entries()) await trie.put(RLP.encode(index), item);
      expect([count, bytesToHex(orderedTrieRoot(items))]).toEqual([count, bytesToHex(trie.root())]);
    }
  });
});

describe('blocks of the fixtures', () => {
  it.each(names)('%s: transactions as JSON, receipts and logs have the roots of the header', (name) => {
    const file = fixtureJson<RecordedBody>(`blocks/${name}`);
    const answers = answersOf(file);
    const transactions = bodyOf(answers);
    expect(transactions.map(({ raw }) => bytesToHex(raw))).toEqual(file.transactions.map(({ raw }) => raw));
    expect(transactions.map(({ hash }) => bytesToHex(hash))).toEqual(file.transactions.map(({ hash }) => hash));
    const verdict = verifyReceipts(answers.block, transactions, answers.receipts);
    if (!verdict.verified) throw new Error(reasonOf(verdict));
    expect(verdict.receipts.map(({ gasUsed }) => `0x${gasUsed.toString(16)}`)).toEqual(
      file.transactions.map(({ gasUsed }) => gasUsed),
    );
    expect(verdict.receipts.map(({ logs }) => logs.map(({ data }) => bytesToHex(data)))).toEqual(
      file.transactions.map(({ logs }) => logs.map(({ data }) => data)),
    );
    let logsBefore = 0;
    for (const [i, { firstLogIndex }] of verdict.receipts.entries()) {
      expect(firstLogIndex).toBe(logsBefore);
      logsBefore += file.transactions[i]!.logs.length;
    }
  });
});

describe.skipIf(!RECORDED)('a body that was tampered with', () => {
  const answers = recorded('linea-mainnet-28279187.json');
  const verify = () => reasonOf(verifyBlockBody(answers.block, answers.body));

  it('is refused whichever bit of a transaction is flipped; no other shape changes what is shown', () => {
    const { transactions } = answers.body;
    const judged = () => verifyBlockBody(answers.block, answers.body);
    expect(acceptedUnder(bitFlips(transactions as unknown as Json, 3), judged)).toEqual([]);
    expect(changedUnder(shapeEdits(transactions as unknown as Json), judged)).toEqual([]);
  });

  it('names what is wrong, the block, and the transaction', () => {
    const { body, block } = answers;
    const [first, second, third] = body.transactions as unknown as Record<string, unknown>[];
    const check = (transactions: unknown[], changes = {}) =>
      reasonOf(verifyBlockBody(block, { ...body, transactions, ...changes }));
    expect(verify()).toBe('accepted');
    const dearer = { ...second, value: '0x7777' };
    expect(check([first, dearer, third])).toBe('TRANSACTION_HASH_MISMATCH transactions[1].hash 1');
    const unnamed = { ...dearer, hash: undefined };
    const root = 'TRANSACTIONS_ROOT_MISMATCH transactions undefined';
    expect(check([first, unnamed, third])).toBe(root);
    expect(check([first, second])).toBe(root);
    expect(check([first, second, third, { ...third, transactionIndex: '0x3' }])).toBe(root);
    expect(check([second, first, third])).toBe('PLACE_MISMATCH transactions[0].transactionIndex 0');
    expect(check([{ ...first, blockHash: `0x${'11'.repeat(32)}` }, second, third])).toBe(
      'PLACE_MISMATCH transactions[0].blockHash 0',
    );
    const withdrawal = { index: '0x0', validatorIndex: '0x0', address: `0x${'11'.repeat(20)}`, amount: '0x1' };
    expect(check([first, second, third], { withdrawals: [withdrawal] })).toBe(
      'WITHDRAWALS_ROOT_MISMATCH withdrawals undefined',
    );
    expect(check([first, second, third], { uncles: [body.hash] })).toBe('UNCLES_MISMATCH uncles undefined');
    const withUncles = { ...block, header: { ...block.header, sha3Uncles: new Uint8Array(32) } };
    expect(reasonOf(verifyBlockBody(withUncles, body))).toBe('UNCLES_MISMATCH uncles undefined');
    const verdict = verifyBlockBody(block, { ...body, transactions: [] });
    expect(verdict).toMatchObject({ verified: false, blockHash: block.hash });
    expect(() => check([body.hash, second, third])).toThrow(/is a hash, not a transaction/);
  });
});

describe.skipIf(!RECORDED)('receipts that were tampered with', () => {
  const answers = recorded('linea-mainnet-28279152.json');
  const transactions = bodyOf(answers);
  const { block, receipts } = answers;
  const check = (list: unknown) => reasonOf(verifyReceipts(block, transactions, list));

  it('are refused whichever bit is flipped; no other shape changes what is shown', () => {
    const judged = () => verifyReceipts(block, transactions, receipts);
    expect(acceptedUnder(bitFlips(receipts as unknown as Json, 4), judged)).toEqual([]);
    expect(changedUnder(shapeEdits(receipts as unknown as Json), judged)).toEqual([]);
  });

  it('are named by what is wrong and by their transaction', () => {
    const [first, second] = receipts as unknown as [
      Record<string, unknown>,
      Record<string, unknown> & { logs: object[] },
    ];
    expect(check(receipts)).toBe('accepted');
    expect(check([first])).toBe('RECEIPT_COUNT_MISMATCH  undefined');
    expect(check([first, { ...second, status: '0x0' }])).toBe('RECEIPTS_ROOT_MISMATCH  undefined');
    expect(check([first, { ...second, logs: [] }])).toBe('RECEIPTS_ROOT_MISMATCH  undefined');
    expect(check([first, { ...second, logs: [...second.logs, { ...second.logs.at(-1), logIndex: undefined }] }])).toBe(
      'RECEIPTS_ROOT_MISMATCH  undefined',
    );
    expect(() => check([first, { ...second, status: '0x2' }])).toThrow(/status is neither/);
    expect(check([second, first])).toBe('PLACE_MISMATCH [0].transactionIndex 0');
    expect(check([first, { ...second, gasUsed: '0x1' }])).toBe('GAS_USED_MISMATCH [1].gasUsed 1');
    const full = `0x${'ff'.repeat(256)}`;
    expect(check([first, { ...second, logsBloom: full }])).toBe('LOGS_BLOOM_MISMATCH [1].logsBloom 1');
    const moved = { ...second, logs: [{ ...second.logs[0], logIndex: '0x0' }, ...second.logs.slice(1)] };
    expect(check([first, moved])).toBe('PLACE_MISMATCH [1].logs[0].logIndex 1');
    const stranger = { ...second, logs: [{ ...second.logs[0], transactionHash: first.transactionHash }] };
    expect(check([first, stranger])).toBe('PLACE_MISMATCH [1].logs[0].transactionHash 1');
    const bloom = { ...block, header: { ...block.header, logsBloom: new Uint8Array(256) } };
    expect(reasonOf(verifyReceipts(bloom, transactions, receipts))).toBe('HEADER_INCONSISTENT logsBloom undefined');
    const gas = { ...block, header: { ...block.header, gasUsed: 1n } };
    expect(reasonOf(verifyReceipts(gas, transactions, receipts))).toBe('HEADER_INCONSISTENT gasUsed undefined');
  });
});

describe.skipIf(!hasFixture('execution-apis/chain.rlp'))('the chain of the conformance suite', () => {
  it.each(['get-blob-tx', 'get-setcode-tx', 'get-legacy-create'])('%s: the JSON has the hash geth gives it', (name) => {
    const json = resultOf(`eth_getTransactionByHash/${name}`);
    expect(bytesToHex(keccak_256(readTransaction(json, '')))).toBe(json.hash);
  });

  it('a parity that is given twice is given the same', () => {
    const json = resultOf('eth_getTransactionByHash/get-setcode-tx');
    const { v, yParity, ...bare } = json;
    expect(v).toBe(yParity);
    expect(readTransaction({ ...bare, v }, '')).toEqual(readTransaction({ ...bare, yParity }, ''));
    const turned = yParity === '0x0' ? '0x1' : '0x0';
    expect(() => readTransaction({ ...json, v: turned }, 'tx')).toThrow(/tx\.v differs from yParity/);
    expect(() => readTransaction(bare, 'tx')).toThrow(/tx\.yParity is missing/);
  });

  it('raw transactions and withdrawals verify against their headers; uncles cannot', () => {
    const counts = { blocks: 0, transactions: 0, withdrawals: 0, uncles: 0 };
    const fields = ['index', 'validatorIndex', 'address', 'amount'];
    for (const [header, transactions, uncles, withdrawals] of blockItems(chainRlp())) {
      const raw = transactions.map((item) => bytesToHex(Array.isArray(item) ? RLP.encode(item) : item));
      const shown = withdrawals?.map((items) =>
        Object.fromEntries(items.map((item, i) => [fields[i]!, item.length === 0 ? '0x0' : bytesToHex(item)])),
      );
      const block = { header: readHeader(shownHeader(header)), hash: keccak_256(RLP.encode(header)) };
      const verdict = verifyBlockBody(block, { transactions: raw, uncles: uncles.map(() => '0x'), withdrawals: shown });
      counts.blocks++;
      counts.transactions += raw.length;
      counts.withdrawals += withdrawals?.length ?? 0;
      counts.uncles += uncles.length;
      expect(reasonOf(verdict)).toBe(uncles.length > 0 ? 'UNCLES_MISMATCH uncles undefined' : 'accepted');
    }
    expect(counts.blocks).toBe(54);
    expect(Math.min(...Object.values(counts))).toBeGreaterThan(0);
  });

  it('receipts recorded of geth verify against the head', () => {
    const [header, transactions] = blockItems(chainRlp()).at(-1)!;
    const block = { header: readHeader(shownHeader(header)), hash: keccak_256(RLP.encode(header)) };
    const raw = transactions.map((item) => bytesToHex(Array.isArray(item) ? RLP.encode(item) : item));
    const body = verifyBlockBody(block, { transactions: raw, withdrawals: [] });
    if (!body.verified) throw new Error(reasonOf(body));
    const receipts = resultOf('eth_getBlockReceipts/get-block-receipts-latest');
    expect(reasonOf(verifyReceipts(block, body.transactions, receipts))).toBe('accepted');
    expect(receipts[0].blockHash).toBe(bytesToHex(block.hash));
    receipts[1].logs[0].data = bytesToHex(hexToBytes(receipts[1].logs[0].data).map((byte) => byte ^ 1));
    expect(reasonOf(verifyReceipts(block, body.transactions, receipts))).toBe('RECEIPTS_ROOT_MISMATCH  undefined');
  });
});

/** A header as JSON-RPC shows it, of the items of its RLP (docs/spec/json-rpc.md 5.1). */
function shownHeader(items: readonly Uint8Array[]): Record<string, string> {
  const members =
    'parentHash sha3Uncles miner stateRoot transactionsRoot receiptsRoot logsBloom difficulty number gasLimit gasUsed ' +
    'timestamp extraData mixHash nonce baseFeePerGas withdrawalsRoot blobGasUsed excessBlobGas parentBeaconBlockRoot requestsHash';
  const integers = /^(difficulty|number|gas|timestamp|base|blob|excess)/;
  const shown = members.split(' ').slice(0, items.length);
  return Object.fromEntries(
    shown.map((name, i) => [
      name,
      integers.test(name) ? `0x0${bytesToHex(items[i]!).slice(2)}` : bytesToHex(items[i]!),
    ]),
  );
}
