import type { SignedTransaction } from '../../ethereum/transaction.js';
import { equalBytes } from '../../primitives/bytes.js';
import { bytesToHex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import { formatPendingTransaction } from '../answers/format.js';
import { parseAddress, parseHash } from '../parsing/parse-params.js';
import { devnetMethods } from './devnet-method.js';

/** What waits in the pool of a devnet: `pending` fits into the next block, `queued` waits for an earlier nonce. */
export const POOL_METHODS = {
  /** Numbers of transactions. */
  ...devnetMethods(['txpool_status'], async (devnet) => {
    const { ready, queued } = await devnet.poolContents();
    return { pending: toQuantity(ready.length), queued: toQuantity(queued.length) };
  }),

  /** Transactions by sender and nonce. */
  ...devnetMethods(['txpool_content'], async (devnet) => {
    const { ready, queued } = await devnet.poolContents();
    return { pending: byNonce(ready, formatPendingTransaction), queued: byNonce(queued, formatPendingTransaction) };
  }),

  /** As `txpool_content`, with a line of text for each transaction. */
  ...devnetMethods(['txpool_inspect'], async (devnet) => {
    const { ready, queued } = await devnet.poolContents();
    return { pending: byNonce(ready, lineOf), queued: byNonce(queued, lineOf) };
  }),

  /** `[sender]`: the transactions of one account by nonce. */
  ...devnetMethods(['txpool_contentFrom'], async (devnet, [senderParam]) => {
    const sender = parseAddress(senderParam);
    const { ready, queued } = await devnet.poolContents();
    const own = (transactions: readonly SignedTransaction[]) =>
      byNonce(
        transactions.filter(({ from }) => equalBytes(from, sender)),
        formatPendingTransaction,
      )[bytesToHex(sender)] ?? {};
    return { pending: own(ready), queued: own(queued) };
  }),

  /** `[sender]`: removes the transactions of one account. */
  ...devnetMethods(['anvil_removePoolTransactions'], async (devnet, [sender]) => {
    await devnet.dropOf(parseAddress(sender));
    return null;
  }),

  /** Hardhat answers whether the transaction was there, Anvil with its hash or null. */
  ...devnetMethods(['anvil_dropTransaction', 'hardhat_dropTransaction'], async (devnet, [hashParam], { name }) => {
    const hash = parseHash(hashParam, 'transactionHash');
    const dropped = await devnet.drop(hash);
    return name.startsWith('hardhat') ? dropped : dropped ? bytesToHex(hash) : null;
  }),

  ...devnetMethods(['anvil_dropAllTransactions', 'hardhat_dropAllTransactions'], async (devnet) => {
    await devnet.dropAll();
    return null;
  }),
};

function byNonce<Shown>(transactions: readonly SignedTransaction[], show: (transaction: SignedTransaction) => Shown) {
  const senders: Record<string, Record<string, Shown>> = {};
  for (const transaction of transactions) {
    const sender = bytesToHex(transaction.from);
    senders[sender] ??= {};
    senders[sender][transaction.nonce.toString()] = show(transaction);
  }
  return senders;
}

function lineOf({ to, value, gasLimit, gasPrice, maxFeePerGas }: SignedTransaction): string {
  const recipient = to === undefined ? 'contract creation' : bytesToHex(to);
  return `${recipient}: ${value} wei + ${gasLimit} gas × ${gasPrice ?? maxFeePerGas} wei`;
}
