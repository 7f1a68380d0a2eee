import { Common, Hardfork, Mainnet } from '@ethereumjs/common';
import { createTxFromRLP } from '@ethereumjs/tx';
import { type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { readHeader } from '../../src/proof/headers.js';

/** A recorded block of `fixtures/blocks`, in the members that headers commit to. */
export interface RecordedBody {
  chainId: Hex;
  hash: Hex;
  header: Record<string, Hex>;
  transactions: {
    raw: Hex;
    hash: Hex;
    status: Hex;
    gasUsed: Hex;
    cumulativeGasUsed: Hex;
    logs: { address: Hex; topics: Hex[]; data: Hex }[];
  }[];
}

/** What a node answers about a recorded block. Transactions are taken apart by @ethereumjs/tx. */
export function answersOf(recorded: RecordedBody) {
  const common = new Common({ chain: { ...Mainnet, chainId: Number(recorded.chainId) }, hardfork: Hardfork.Prague });
  const placeAt = (index: number) => ({
    blockHash: recorded.hash,
    blockNumber: recorded.header.number!,
    transactionIndex: `0x${index.toString(16)}` as Hex,
  });
  let logIndex = 0;
  return {
    block: { header: readHeader(recorded.header), hash: hexToBytes(recorded.hash, 32) },
    body: {
      ...recorded.header,
      hash: recorded.hash,
      uncles: [],
      ...(recorded.header.withdrawalsRoot !== undefined && { withdrawals: [] }),
      transactions: recorded.transactions.map(({ raw, hash }, i) => {
        const { gasLimit, data, ...tx } = createTxFromRLP(hexToBytes(raw), { common }).toJSON();
        return { ...tx, gas: gasLimit, input: data, hash, to: tx.to ?? null, ...placeAt(i) };
      }),
    },
    receipts: recorded.transactions.map((transaction, i) => ({
      type: Number.parseInt(transaction.raw.slice(2, 4), 16) > 0x7f ? '0x0' : `0x${transaction.raw.slice(3, 4)}`,
      status: transaction.status,
      gasUsed: transaction.gasUsed,
      cumulativeGasUsed: transaction.cumulativeGasUsed,
      transactionHash: transaction.hash,
      ...placeAt(i),
      logs: transaction.logs.map((log) => ({
        ...log,
        ...placeAt(i),
        transactionHash: transaction.hash,
        logIndex: `0x${(logIndex++).toString(16)}`,
      })),
    })),
  };
}
