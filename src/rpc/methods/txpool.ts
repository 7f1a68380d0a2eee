import type { SignedTransaction } from '../../ethereum/transaction.js';
import { bytesToHex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import { formatPendingTransaction } from '../format.js';
import { developerMethods } from './developer.js';

/** How many transactions the next block can carry, and how many wait for a nonce before theirs. */
const status = developerMethods(['txpool_status'], async (devnet) => {
  const { ready, queued } = await devnet.poolContents();
  return { pending: toQuantity(ready.length), queued: toQuantity(queued.length) };
});

/** Transactions by sender and nonce. */
const content = developerMethods(['txpool_content'], async (devnet) => {
  const { ready, queued } = await devnet.poolContents();
  return { pending: byNonce(ready, formatPendingTransaction), queued: byNonce(queued, formatPendingTransaction) };
});

/** As `txpool_content`, a line of text for each. */
const inspect = developerMethods(['txpool_inspect'], async (devnet) => {
  const { ready, queued } = await devnet.poolContents();
  return { pending: byNonce(ready, line), queued: byNonce(queued, line) };
});

export const TXPOOL_METHODS = [...status, ...content, ...inspect];

function byNonce<Shown>(transactions: readonly SignedTransaction[], show: (transaction: SignedTransaction) => Shown) {
  const senders: Record<string, Record<string, Shown>> = {};
  for (const transaction of transactions) {
    const sender = bytesToHex(transaction.from);
    senders[sender] ??= {};
    senders[sender][transaction.nonce.toString()] = show(transaction);
  }
  return senders;
}

function line({ to, value, gasLimit, gasPrice, maxFeePerGas }: SignedTransaction): string {
  const recipient = to === undefined ? 'contract creation' : bytesToHex(to);
  return `${recipient}: ${value} wei + ${gasLimit} gas × ${gasPrice ?? maxFeePerGas} wei`;
}
