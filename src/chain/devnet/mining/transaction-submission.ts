import { messageOf } from '../../../errors.js';
import type { SignedTransaction } from '../../../ethereum/transaction.js';
import type { BlockContext } from '../../../evm/block-context.js';
import type { RunLimits } from '../../../evm/run-budget.js';
import type { StateReader } from '../../../evm/state-reader.js';
import { bytesToKey } from '../../../primitives/bytes.js';
import { Listeners } from '../../../scheduling/listeners.js';
import { checkAdmission, parseBroadcast } from '../../admission.js';
import type { Ledger } from '../records/ledger.js';
import type { MakingSettings } from '../settings.js';
import type { BlockMaker } from './block-maker.js';
import { Impersonation, type TransactionRequest } from './impersonation.js';
import type { Mining } from './mining.js';
import { currentPrices } from './sealing.js';

/** Accepts transactions, signed or not, into the pool. The caller runs its methods one at a time. */
export class TransactionSubmission {
  readonly impersonation: Impersonation;
  readonly pending = new Listeners<SignedTransaction>();

  constructor(
    private readonly settings: MakingSettings,
    private readonly ledger: Ledger,
    private readonly maker: BlockMaker,
    private readonly mining: Mining,
  ) {
    this.impersonation = new Impersonation(settings.accounts);
  }

  /**
   * @returns the hash, 32 bytes.
   * @throws PlumblineError as `parseBroadcast`, `checkAdmission` and `BlockMaker.seal`
   */
  async broadcast(raw: Uint8Array, limits?: RunLimits): Promise<Uint8Array> {
    const context = this.maker.context();
    return this.accept(await parseBroadcast(raw, this.settings.network, context), context, limits);
  }

  /**
   * @returns the hash, 32 bytes.
   * @throws PlumblineError as `Impersonation.send`, `checkAdmission` and `BlockMaker.seal`
   */
  async send(request: TransactionRequest, limits?: RunLimits): Promise<Uint8Array> {
    const { chainId } = this.settings.network;
    const transaction = await this.impersonation.send(await this.withNonce(request, limits), chainId);
    return this.accept(transaction, this.maker.context(), limits);
  }

  /** Signs without sending. @returns the transaction's bytes. @throws PlumblineError as `Impersonation.sign` */
  async sign(request: TransactionRequest): Promise<Uint8Array> {
    return this.impersonation.signed(await this.withNonce(request), this.settings.network.chainId);
  }

  /**
   * Transactions as they would be sent one after the other, without sending them.
   *
   * @param state - gives the nonces of requests without one
   * @throws PlumblineError as `parseBroadcast` and `Impersonation.send`
   */
  async parse(
    transactions: readonly (Uint8Array | TransactionRequest)[],
    state: StateReader,
  ): Promise<SignedTransaction[]> {
    const { network } = this.settings;
    const parsed: SignedTransaction[] = [];
    const sent = new Map<string, bigint>();
    for (const transaction of transactions) {
      if (transaction instanceof Uint8Array) {
        parsed.push(await parseBroadcast(transaction, network, this.maker.context()));
        continue;
      }
      const sender = bytesToKey(transaction.from);
      const next = sent.get(sender) ?? (await state.account(transaction.from))?.nonce ?? 0n;
      const nonce = transaction.nonce ?? next;
      sent.set(sender, nonce + 1n);
      parsed.push(await this.impersonation.send({ ...transaction, nonce }, network.chainId));
    }
    return parsed;
  }

  private async withNonce(
    request: TransactionRequest,
    limits?: RunLimits,
  ): Promise<TransactionRequest & { readonly nonce: bigint }> {
    const { maker } = this;
    await maker.fetch(request.from, limits?.signal);
    return {
      ...request,
      nonce: request.nonce ?? maker.pool.nextNonce(request.from, await maker.nonceOf(request.from)),
    };
  }

  private async accept(
    transaction: SignedTransaction,
    context: BlockContext,
    limits: RunLimits | undefined,
  ): Promise<Uint8Array> {
    const { maker, ledger } = this;
    const { network, sizer } = this.settings;
    const placeOf = (hash: Uint8Array) =>
      maker.pool.has(hash) ? 'pool' : ledger.transaction(hash) === undefined ? undefined : 'block';
    const against = {
      network,
      state: maker.headState,
      context,
      prices: currentPrices(network, ledger.head.header).prices,
      sizer,
      placeOf,
    };
    await maker.fetch(transaction.from, limits?.signal);
    try {
      await checkAdmission(transaction, against);
      maker.pool.add(transaction);
    } catch (error) {
      // A transaction that is already held has not been refused.
      if (placeOf(transaction.hash) === undefined) maker.exclusions.record(transaction, messageOf(error));
      throw error;
    }
    this.pending.notify(transaction);
    try {
      await this.mining.transactionAdded(limits);
    } catch (error) {
      // The sender gets an error, so the transaction must not run later.
      maker.pool.remove(transaction.hash);
      throw error;
    }
    return transaction.hash;
  }
}
