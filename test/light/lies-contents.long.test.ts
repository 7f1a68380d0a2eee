import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { TEST_TOKEN as token } from '../../src/chain/devnet/state/dev-accounts.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import type { Hex } from '../../src/primitives/hex.js';
import { PRICE, stranger, word } from '../support/dev-node.js';
import {
  type Answer,
  forgedRevert,
  type Lie,
  openStage,
  otherDigit,
  otherQuantity,
  type Pick,
  type Question,
  type Stage,
  type Tell,
} from '../support/liar.js';
import { signTransaction, transferCalldata } from '../support/sign.js';

const BLOCKS = 12;
/** Hashes of the transactions, three in each block: two token transfers around a plain one. */
const hashes: Hex[] = [];

async function history(dev: PlumblineNode): Promise<void> {
  const request = (method: string, ...params: unknown[]) => dev.request<UntypedMethod>({ method, params });
  await request('evm_setAutomine', false);
  for (let block = 0; block < BLOCKS; block++) {
    for (let sender = 0; sender < 3; sender++) {
      const data = transferCalldata(stranger(`${sender}${block % 10}`), BigInt(block + 1));
      const fields = sender === 1 ? { to: stranger('11'), value: BigInt(block + 1) } : { to: token, data };
      const raw = signTransaction(sender, { nonce: block, gasLimit: 100_000n, ...PRICE, ...fields });
      hashes.push((await request('eth_sendRawTransaction', raw)) as Hex);
    }
    await request('evm_mine');
  }
}

const atNumber = (variant: number): Hex => `0x${(1 + (variant % BLOCKS)).toString(16)}`;
const hashAt = (variant: number): Hex => hashes[3 * (variant % BLOCKS) + (variant % 3)]!;
/** Numbers of two blocks, one after the other. */
const range = (variant: number) => ({ fromBlock: atNumber(variant), toBlock: `0x${(2 + variant).toString(16)}` });
const logs = (variant: number): Question => ['eth_getLogs', { ...range(variant), address: token }];
const receipts = (variant: number): Question =>
  [
    ['eth_getBlockReceipts', atNumber(variant)] as const,
    ['eth_getTransactionReceipt', hashAt(variant)] as const,
    logs(variant),
  ][variant % 3]!;
const bodies = (variant: number): Question =>
  [
    ['eth_getBlockByNumber', atNumber(variant), true] as const,
    ['eth_getTransactionByHash', hashAt(variant)] as const,
    ['eth_getTransactionByBlockNumberAndIndex', atNumber(variant), '0x1'] as const,
  ][variant % 3]!;

/** A lie in the receipts of a block. */
const inReceipts =
  (change: (list: Answer[], pick: Pick, variant: number) => void): Tell =>
  ({ method }, result, pick, variant) => {
    if (method !== 'eth_getBlockReceipts' || result === null) return undefined;
    change(result, pick, variant);
    return result;
  };
/** A lie in one transaction of a body. */
const inBody =
  (change: (transaction: Answer, pick: Pick, variant: number, list: Answer[]) => void): Tell =>
  ({ method, params }, result, pick, variant) => {
    if (method !== 'eth_getBlockByHash' || params[1] !== true) return undefined;
    change(result.transactions[pick(result.transactions.length)], pick, variant, result.transactions);
    return result;
  };
const ofReceipts = /^receipts of block \d+$/;
const ofBody = /^body of block \d+$/;
/** Sums that repeat what the logs show, made to fit. */
const fitting = (receipt: Answer): void => {
  delete receipt.logsBloom;
};

const LIES: Lie[] = [
  {
    name: 'an error with code 3 and data in place of receipts',
    ask: receipts,
    tell: ({ method }, _, pick) => (/Receipts?$/.test(method) ? forgedRevert(pick) : undefined),
    alone: { check: /^UPSTREAM_ERROR$/, what: /it says "execution reverted: forged"$/ },
  },
  {
    name: 'an error with code 3 and data in place of a body',
    ask: bodies,
    tell: ({ method, params }, _, pick) =>
      method === 'eth_getBlockByHash' && params[1] === true ? forgedRevert(pick) : undefined,
    alone: { check: /^UPSTREAM_ERROR$/, what: /it says "execution reverted: forged"$/ },
  },
  {
    name: 'an error with code 3 and data in place of a transaction',
    ask: (variant) => [variant % 2 === 0 ? 'eth_getTransactionByHash' : 'eth_getTransactionReceipt', hashAt(variant)],
    tell: ({ method }, _, pick) => (method === 'eth_getTransactionByHash' ? forgedRevert(pick) : undefined),
    alone: { check: /^UPSTREAM_ERROR$/, what: /it says "execution reverted: forged"$/ },
  },
  {
    name: 'an error with code 3 and data in place of older headers',
    ask: (variant) =>
      [
        ['eth_getBlockByNumber', atNumber(variant % (BLOCKS - 1)), false] as const,
        ['eth_getLogs', { fromBlock: atNumber(variant % (BLOCKS - 1)), toBlock: 'latest', address: token }] as const,
      ][variant % 2]!,
    tell: ({ method, params }, _, pick) =>
      method === 'eth_getBlockByNumber' && params[0] !== 'latest' ? forgedRevert(pick) : undefined,
    alone: { check: /^UPSTREAM_ERROR$/, what: /it says "execution reverted: forged"$/ },
  },
  {
    name: 'the status of a receipt',
    ask: receipts,
    tell: inReceipts((list, pick) => {
      list[pick(list.length)].status = '0x0';
    }),
    alone: { check: /^RECEIPTS_ROOT_MISMATCH$/, what: ofReceipts },
  },
  {
    name: 'the gas of a receipt',
    ask: receipts,
    tell: inReceipts((list, pick) => {
      const last = list.at(-1);
      const more = BigInt(1 + pick(99_999));
      last.cumulativeGasUsed = `0x${(BigInt(last.cumulativeGasUsed) + more).toString(16)}`;
      last.gasUsed = `0x${(BigInt(last.gasUsed) + more).toString(16)}`;
    }),
    alone: { check: /^RECEIPTS_ROOT_MISMATCH$/, what: ofReceipts },
  },
  {
    name: 'the amount in a log',
    ask: receipts,
    tell: inReceipts((list, pick) => {
      const [log] = list[2 * pick(2)].logs;
      log.data = otherDigit(log.data, pick);
    }),
    alone: { check: /^RECEIPTS_ROOT_MISMATCH$/, what: ofReceipts },
  },
  {
    name: 'a log left out',
    ask: receipts,
    tell: inReceipts((list, pick) => {
      const receipt = list[2 * pick(2)];
      receipt.logs = [];
      fitting(receipt);
      for (const [index, log] of list.flatMap((each) => each.logs).entries()) log.logIndex = `0x${index.toString(16)}`;
    }),
    alone: { check: /^RECEIPTS_ROOT_MISMATCH$/, what: ofReceipts },
  },
  {
    name: 'a log left out, its bloom left in',
    ask: receipts,
    tell: inReceipts((list, pick) => {
      list[2 * pick(2)].logs = [];
    }),
    alone: { check: /^(PLACE_MISMATCH|LOGS_BLOOM_MISMATCH)$/, what: ofReceipts, at: /^\[\d\]/ },
  },
  {
    name: 'a log left out with its receipt',
    ask: receipts,
    tell: inReceipts((list, pick, variant) => {
      if (variant % 4 === 0) list.length = 0;
      else list.splice(pick(list.length), 1);
    }),
    alone: { check: /^RECEIPT_COUNT_MISMATCH$/, what: ofReceipts },
  },
  {
    name: 'logs left out by an empty bloom',
    ask: logs,
    tell: ({ method, params }, result, pick, variant) =>
      method === 'eth_getBlockByNumber' && params[0] !== 'latest' && Number(params[0]) >= 1 + variant
        ? { ...result, logsBloom: pick(2) === 0 ? `0x${'00'.repeat(256)}` : otherDigit(result.logsBloom, pick) }
        : undefined,
    alone: { check: /^HASH_MISMATCH$/, what: /^header$/, at: /^hash$/ },
  },
  {
    name: 'logs refused',
    ask: logs,
    tell: ({ method }) => (/Receipts?$/.test(method) ? null : undefined),
    alone: { check: /^MISSING$/, what: ofReceipts },
  },
  {
    name: 'a log added',
    ask: receipts,
    tell: inReceipts((list, pick) => {
      const at = pick(list.length);
      const receipt = list[at];
      const log = { ...list[0].logs[0], transactionHash: receipt.transactionHash, transactionIndex: `0x${at}` };
      receipt.logs.push({ ...log, data: word(BigInt(pick(99_999))) });
      fitting(receipt);
      for (const [index, each] of list.flatMap((one) => one.logs).entries()) each.logIndex = `0x${index.toString(16)}`;
    }),
    alone: { check: /^RECEIPTS_ROOT_MISMATCH$/, what: ofReceipts },
  },
  {
    name: 'a receipt of another transaction',
    ask: receipts,
    tell: inReceipts((list, pick) => {
      const at = pick(list.length);
      list[at] = { ...list[(at + 1) % 3], transactionIndex: list[at].transactionIndex };
    }),
    alone: { check: /^PLACE_MISMATCH$/, what: ofReceipts, at: /^\[\d\]/ },
  },
  {
    name: 'what receipts do not commit to',
    ask: receipts,
    tell: inReceipts((list, pick) => {
      const receipt = list[pick(list.length)];
      receipt.from = otherDigit(receipt.from, pick);
      receipt.to = otherDigit(receipt.to, pick);
      receipt.effectiveGasPrice = otherQuantity(receipt.effectiveGasPrice, pick);
      receipt.contractAddress = stranger('66');
    }),
    alone: 'right',
  },
  {
    name: 'a transaction of a body',
    ask: bodies,
    tell: inBody((transaction, pick, variant) => {
      const field = ['value', 'nonce', 'gas', 'maxFeePerGas', 'maxPriorityFeePerGas'][variant % 5]!;
      transaction[field] = otherQuantity(transaction[field], pick);
      delete transaction.gasPrice;
    }),
    alone: { check: /^TRANSACTION_HASH_MISMATCH$/, what: ofBody, at: /^transactions\[\d\]\.hash$/ },
  },
  {
    name: 'a transaction of a body without its hash',
    ask: bodies,
    tell: inBody((transaction, pick, variant) => {
      const field = ['to', 'r', 's'][variant % 3]!;
      transaction[field] = otherDigit(transaction[field], pick, 34);
      delete transaction.hash;
    }),
    alone: { check: /^TRANSACTIONS_ROOT_MISMATCH$/, what: ofBody },
  },
  {
    name: 'transactions left out, added or moved',
    ask: bodies,
    tell: inBody((_, pick, variant, list) => {
      if (variant % 3 === 0) list.splice(pick(list.length), 1);
      else if (variant % 3 === 1) list.push(list[pick(list.length)]);
      else list.reverse();
      for (const [index, each] of list.entries())
        list[index] = { ...each, transactionIndex: `0x${index.toString(16)}` };
    }),
    alone: { check: /^TRANSACTIONS_ROOT_MISMATCH$/, what: ofBody },
  },
  {
    name: 'the sender of a transaction',
    ask: bodies,
    tell: inBody((transaction, pick) => {
      transaction.from = otherDigit(transaction.from, pick);
    }),
    alone: 'right',
  },
  {
    name: 'the block of a transaction',
    ask: (variant) => [variant % 2 === 0 ? 'eth_getTransactionByHash' : 'eth_getTransactionReceipt', hashAt(variant)],
    tell: ({ method }, result, _, variant) =>
      method === 'eth_getTransactionByHash' ? { ...result, blockNumber: atNumber(variant + 1) } : undefined,
    alone: { check: /^MISSING$/, what: /^transaction 0x[0-9a-f]{64} in block \d+$/ },
  },
];

describe('lies about the contents of blocks', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage(history);
  });
  afterAll(() => stage.close());

  test.each(LIES.map((lie) => [lie.name, lie] as const))('%s', async (_, lie) => {
    expect(await stage.check(lie)).toEqual([]);
  });

  test('no endpoint is asked for logs', () => {
    expect(stage.methods()).not.toContain('eth_getLogs');
  });

  test('one endpoint is not enough to say that a transaction does not exist', async () => {
    const fault = await stage.check({
      name: 'a transaction left out',
      ask: (variant) => [variant % 2 === 0 ? 'eth_getTransactionByHash' : 'eth_getTransactionReceipt', hashAt(variant)],
      tell: ({ method }) => (method === 'eth_getTransactionByHash' ? null : undefined),
      alone: 'right',
      withOne: true,
    });
    expect(fault).toEqual([]);
  });
});
