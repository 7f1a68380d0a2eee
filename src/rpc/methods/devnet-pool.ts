import type { SignedTransaction } from '../../ethereum/transaction.js';
import { equalBytes } from '../../primitives/bytes.js';
import { bytesToHex, type Hex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import { CHANGES_DEVNET, READS_DEVNET } from '../method-rows.js';
import { parseAddress, parseHash } from '../parse-params.js';
import { formatPendingTransaction } from '../schema/format.js';
import type { BySender, TransactionJson } from '../schema/json.js';
import { devnetMethods } from './devnet-method.js';

/** What waits in the pool of a devnet: `pending` fits into the next block, `queued` waits for an earlier nonce. */
export const POOL_METHODS = [
  /** Numbers of transactions. */
  ...devnetMethods<[], { readonly pending: Hex; readonly queued: Hex }>(
    ['txpool_status'],
    READS_DEVNET,
    async (devnet) => {
      const { ready, queued } = await devnet.poolContents();
      return { pending: toQuantity(ready.length), queued: toQuantity(queued.length) };
    },
  ),

  /** Transactions by sender and nonce. */
  ...devnetMethods<[], { readonly pending: BySender<TransactionJson>; readonly queued: BySender<TransactionJson> }>(
    ['txpool_content'],
    READS_DEVNET,
    async (devnet) => {
      const { ready, queued } = await devnet.poolContents();
      return { pending: byNonce(ready, formatPendingTransaction), queued: byNonce(queued, formatPendingTransaction) };
    },
  ),

  /** As `txpool_content`, with a line of text for each transaction. */
  ...devnetMethods<[], { readonly pending: BySender<string>; readonly queued: BySender<string> }>(
    ['txpool_inspect'],
    READS_DEVNET,
    async (devnet) => {
      const { ready, queued } = await devnet.poolContents();
      return { pending: byNonce(ready, lineOf), queued: byNonce(queued, lineOf) };
    },
  ),

  /** `[sender]`: the transactions of one account by nonce. */
  ...devnetMethods<
    [sender: Hex],
    Readonly<Record<'pending' | 'queued', { readonly [nonce: string]: TransactionJson }>>
  >(['txpool_contentFrom'], READS_DEVNET, async (devnet, [senderParam]) => {
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
  ...devnetMethods<[sender: Hex], null>(['anvil_removePoolTransactions'], CHANGES_DEVNET, async (devnet, [sender]) => {
    await devnet.dropOf(parseAddress(sender));
    return null;
  }),

  /** Its hash; null for a transaction that was not there. */
  ...devnetMethods<[hash: Hex], Hex | null>(['anvil_dropTransaction'], CHANGES_DEVNET, async (devnet, [hashParam]) => {
    const hash = parseHash(hashParam, 'transactionHash');
    return (await devnet.drop(hash)) ? bytesToHex(hash) : null;
  }),

  /** Whether the transaction was there. */
  ...devnetMethods<[hash: Hex], boolean>(['hardhat_dropTransaction'], CHANGES_DEVNET, (devnet, [hash]) =>
    devnet.drop(parseHash(hash, 'transactionHash')),
  ),

  ...devnetMethods<[], null>(
    ['anvil_dropAllTransactions', 'hardhat_dropAllTransactions'],
    CHANGES_DEVNET,
    async (devnet) => {
      await devnet.dropAll();
      return null;
    },
  ),
];

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
