import { type Chain, type ChainListener, forwardingChain } from '../../chain/chain.js';
import type { Devnet } from '../../chain/devnet/devnet.js';
import type { DevnetControl } from '../../chain/devnet/mining/control.js';
import type { StoredChain } from '../../chain/devnet/storage/stored-chain.js';

/** A devnet that can be replaced: one with a genesis, or a fork. */
export interface ReplacedDevnet extends Chain {
  readonly control: DevnetControl;
  readonly storedChain: Pick<StoredChain, 'replace'>;
}

/**
 * The devnet of a node. When the stored chain is cleared or replaced, another devnet takes its place, and subscriptions continue
 * with the blocks of the new one.
 */
export class ReplaceableDevnet<Own extends ReplacedDevnet = Devnet> {
  /** The chain, whichever devnet runs. */
  readonly chain: Chain;
  /** What ends the subscription of each listener. */
  private readonly subscriptions = new Map<ChainListener, () => void>();
  private replacing: Promise<void> | undefined;
  /** The devnet has ended, and the one after it did not open. */
  private isVacant = false;

  constructor(private devnet: Own) {
    // Not a field initializer: those run before `devnet` is set.
    this.chain = {
      ...forwardingChain(() => this.devnet),
      subscribe: (listener) => this.subscribe(listener),
      close: async () => {
        await this.replacing;
        await this.devnet.close();
      },
    };
  }

  /** The devnet that the node runs now. */
  get current(): Own {
    return this.devnet;
  }

  /** The end of the replacement that is under way, if one is. It does not reject. */
  replaced(): Promise<void> | undefined {
    return this.replacing;
  }

  /**
   * Puts another devnet in the place of this one. Requests that are under way may fail as those of a closed node.
   *
   * @param change - makes the store that of the other one. Where it throws, the present one goes on as it was
   * @param open - called when the present one has ended, its store still open. Where it throws, this node has ended, until
   *   another replacement
   * @param condition - as that of `StoredChain.replace`
   */
  replace(change: () => Promise<void>, open: () => Promise<Own>, condition?: 'whole'): Promise<void> {
    const replaced = Promise.resolve(this.replacing).then(async () => {
      await (this.isVacant ? change() : this.devnet.storedChain.replace(change, condition));
      this.isVacant = true;
      this.devnet = await open();
      this.isVacant = false;
      for (const listener of this.subscriptions.keys())
        this.subscriptions.set(listener, this.devnet.subscribe(listener));
      const { number } = (await this.devnet.head()).header;
      for (const listener of this.subscriptions.keys()) listener.shortened?.(number);
    });
    const ended: Promise<void> = replaced
      .catch(() => {})
      .then(() => {
        if (this.replacing === ended) this.replacing = undefined;
      });
    this.replacing = ended;
    return replaced;
  }

  private subscribe(given: ChainListener): () => void {
    // One of its own for each subscription.
    const listener = { ...given };
    this.subscriptions.set(listener, this.devnet.subscribe(listener));
    return () => {
      this.subscriptions.get(listener)?.();
      this.subscriptions.delete(listener);
    };
  }
}
