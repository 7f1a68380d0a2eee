import { expect, test } from 'vitest';
import { TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import type { Hex } from '../../src/primitives/hex.js';
import { accountAt, type DevNode, devNode, KeptStore, PRICE, stranger } from '../support/dev-node.js';
import { signTransaction, transferCalldata } from '../support/sign.js';

const ETHER = '0xde0b6b3a7640000';
/** Above the number of blocks and transactions that a ledger keeps as they are. */
const BLOCKS = 100;
const toQuantity = (value: number): Hex => `0x${value.toString(16)}`;

/** Transfers of every type the devnet signs or is sent, a contract that fails to be made, edits, somebody impersonated. */
async function fill({ ask }: DevNode): Promise<void> {
  let nonce = 0;
  const send = (fields: object) =>
    ask('eth_sendRawTransaction', signTransaction(0, { nonce: nonce++, gasLimit: 100_000n, ...fields }));
  await ask('evm_setAutomine', false);
  for (let number = 1; number <= BLOCKS; number++) {
    const to = stranger((0x10 + (number % 60)).toString(16));
    await send({ to, value: BigInt(number), gasPrice: 10n ** 9n });
    await send({ ...PRICE, to: TEST_TOKEN, data: transferCalldata(to, BigInt(number)) });
    if (number % 7 === 0) await send({ ...PRICE, data: '0xfe' });
    if (number % 11 === 0) {
      const accessList = [{ address: TEST_TOKEN, storageKeys: [`0x${'00'.repeat(32)}` as Hex] }];
      await send({ ...PRICE, to: TEST_TOKEN, data: transferCalldata(to, 1n), accessList });
    }
    if (number % 13 === 0) {
      await ask('anvil_setBalance', stranger('77'), ETHER);
      await ask('anvil_impersonateAccount', stranger('77'));
      await ask('eth_sendTransaction', { from: stranger('77'), to, value: '0x1' });
    }
    if (number % 17 !== 0) await ask('evm_mine');
    else await ask('evm_mine', { blocks: 2 });
  }
}

/** What a page may ask about a chain, block by block and by hash. */
async function answers({ ask }: DevNode, head: number): Promise<unknown[]> {
  const all: unknown[] = [];
  for (let number = 0; number <= head; number++) {
    const at = toQuantity(number);
    const block = await ask<{ hash: Hex; transactions: { hash: Hex }[] }>('eth_getBlockByNumber', at, true);
    const { hash } = block;
    all.push(block, await ask('eth_getBlockByHash', hash, false), await ask('eth_getBlockReceipts', hash));
    for (const [index, transaction] of block.transactions.entries()) {
      all.push(
        await ask('eth_getTransactionByHash', transaction.hash),
        await ask('eth_getTransactionReceipt', transaction.hash),
        await ask('eth_getTransactionByBlockNumberAndIndex', at, toQuantity(index)),
      );
    }
    all.push(
      await ask('eth_getBalance', accountAt(0), at),
      await ask('eth_getBalance', stranger('12'), { blockHash: hash }),
      await ask('eth_call', { to: TEST_TOKEN, data: `0x70a08231${stranger('12').slice(2).padStart(64, '0')}` }, at),
    );
  }
  const [fromBlock, toBlock] = ['0x0', toQuantity(head)];
  all.push(
    await ask('eth_getLogs', { fromBlock, toBlock, address: TEST_TOKEN }),
    await ask('eth_getLogs', { fromBlock, toBlock, address: stranger('12') }),
    await ask('eth_feeHistory', '0x20', toQuantity(head), [10, 50]),
  );
  return all;
}

test('a devnet that was closed answers as before: blocks, transactions, receipts, logs and earlier states', async () => {
  const store = new KeptStore();
  const first = await devNode({ store });
  await fill(first);
  const head = await first.number();
  const expected = await answers(first, head);
  await first.node.close();
  // The answers of one are not made of what the other has decoded: newest first, then one by one.
  const again = await devNode({ store });
  expect(await again.ask('eth_getBlockByNumber', 'latest', true)).toEqual(
    await again.ask('eth_getBlockByNumber', toQuantity(head), true),
  );
  expect(await answers(again, head)).toEqual(expected);
  // And with more blocks after them than are kept as they are.
  for (let i = 0; i < 3; i++) await again.ask('evm_mine', { blocks: 90 });
  const later = await answers(again, 30);
  await again.node.close();
  expect(await answers(await devNode({ store }), 30)).toEqual(later);
});
