import { messageOf } from '../../../errors.js';
import type { SignedTransaction } from '../../../ethereum/transaction.js';
import { checkAdmission, parseBroadcast } from '../../admission.js';
import type { PendingTransactionListener } from '../../chain.js';
import type { DevnetSettings } from '../options.js';
import type { Ledger } from '../records/ledger.js';
import type { BlockMaker } from './block-maker.js';
import { Impersonation, type TransactionRequest } from './impersonation.js';
import type { Mining } from './mining.js';
import { currentPrices } from './prices.js';

/** Accepts transactions, signed or not, into the pool. The caller runs its methods one at a time. */
export class TransactionSubmission {
  readonly impersonation = new Impersonation();
  readonly listeners = new Set<PendingTransactionListener>();

  constructor(
    private readonly settings: DevnetSettings,
    private readonly ledger: Ledger,
    private readonly maker: BlockMaker,
    private readonly mining: Mining,
  ) {}

  /**
   * @returns the hash, 32 bytes.
   * @throws PlumblineError as `parseBroadcast` and `checkAdmission`
   */
  async broadcast(raw: Uint8Array): Promise<Uint8Array> {
    return this.accept(parseBroadcast(raw, this.settings.network, this.maker.context()));
  }

  /**
   * @returns the hash, 32 bytes.
   * @throws PlumblineError as `Impersonation.send` and `checkAdmission`
   */
  async send(request: TransactionRequest): Promise<Uint8Array> {
    const nonce = request.nonce ?? this.maker.pool.nextNonce(request.from, await this.maker.nonceOf(request.from));
    return this.accept(this.impersonation.send({ ...request, nonce }, this.settings.network.chainId));
  }

  private async accept(transaction: SignedTransaction): Promise<Uint8Array> {
    const { maker, ledger } = this;
    const { network, sizer } = this.settings;
    const isKnown = (hash: Uint8Array) => maker.pool.has(hash) || ledger.transaction(hash) !== undefined;
    const against = {
      network,
      state: maker.headState,
      context: maker.context(),
      prices: currentPrices(network, ledger.head.header).prices,
      sizer,
      isKnown,
    };
    try {
      await checkAdmission(transaction, against);
      maker.pool.add(transaction);
    } catch (error) {
      // A transaction that is already held has not been refused.
      if (!isKnown(transaction.hash)) maker.exclusions.record(transaction, messageOf(error));
      throw error;
    }
    for (const listener of this.listeners) listener(transaction);
    try {
      await this.mining.transactionAdded();
    } catch (error) {
      // The sender gets an error, so the transaction must not run later.
      maker.pool.remove(transaction.hash);
      throw error;
    }
    return transaction.hash;
  }
}
