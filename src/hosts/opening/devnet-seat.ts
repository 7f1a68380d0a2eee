import type { Chain, HeadListener, PendingTransactionListener } from '../../chain/chain.js';
import type { Devnet } from '../../chain/devnet/devnet.js';
import type { SimulatedL1 } from '../../chain/devnet/layer-one/simulated-l1.js';
import type { DevnetControl } from '../../chain/devnet/mining/control.js';

import type { Dispatch } from '../../rpc/dispatch.js';

/** Subscribes to a devnet. @returns a function that ends the subscription */
type Subscribe = (chain: Devnet) => () => void;

/**
 * The devnet of a node. Another one takes its place when what is stored is cleared or replaced; whoever was handed the parts
 * of this seat then has the new one, and subscriptions go on with its blocks.
 */
export class DevnetSeat {
  readonly chain: Chain;
  readonly control: DevnetControl = forwarding(() => this.devnet.control);
  readonly layerOne: SimulatedL1 = forwarding(() => this.devnet.layerOne);
  private readonly subscriptions = new Map<Subscribe, () => void>();
  private replacing: Promise<void> = Promise.resolve();
  /** The devnet has ended, and the one after it did not open. */
  private isVacant = false;

  constructor(private devnet: Devnet) {
    const chain: Partial<Chain> = {
      onHead: (listener: HeadListener) => this.subscribe((on) => on.onHead(listener)),
      onPendingTransaction: (listener: PendingTransactionListener) =>
        this.subscribe((on) => on.onPendingTransaction(listener)),
    };
    this.chain = forwarding<Chain>(() => this.devnet, chain);
  }

  /** A dispatcher whose requests wait while another devnet is on its way. */
  afterwards(dispatch: Dispatch): Dispatch {
    return async (payload, call) => {
      await this.replacing;
      return dispatch(payload, call);
    };
  }

  /** One of layer 1, whose requests also wait while the layer 1 of a stored devnet is made again. */
  afterLayerOne(dispatch: Dispatch): Dispatch {
    return this.afterwards(async (payload, call) => {
      await this.devnet.layerOneSettled;
      return dispatch(payload, call);
    });
  }

  get current(): Devnet {
    return this.devnet;
  }

  /**
   * Puts another devnet in the place of this one. Requests that are under way may fail as those of a closed node.
   *
   * @param change - makes the store that of the other one. Where it throws, the present one goes on as it was
   * @param open - called when the present one has ended, its store still open. Where it throws, this node has ended, until
   *   another replacement
   * @param condition - as that of `StoredChain.replace`
   */
  replace(change: () => Promise<void>, open: () => Promise<Devnet>, condition?: 'whole'): Promise<void> {
    const replaced = this.replacing.then(async () => {
      await (this.isVacant ? change() : this.devnet.storedChain.replace(change, condition));
      this.isVacant = true;
      this.devnet = await open();
      this.isVacant = false;
      for (const subscribe of this.subscriptions.keys()) this.subscriptions.set(subscribe, subscribe(this.devnet));
    });
    this.replacing = replaced.catch(() => {});
    return replaced;
  }

  private subscribe(subscribe: Subscribe): () => void {
    this.subscriptions.set(subscribe, subscribe(this.devnet));
    return () => {
      this.subscriptions.get(subscribe)?.();
      this.subscriptions.delete(subscribe);
    };
  }
}

/** An object that is, each time it is used, what `current` gives, some members apart. */
function forwarding<Value extends object>(current: () => Value, own: Partial<Value> = {}): Value {
  return new Proxy(own as Value, {
    get(_, name) {
      if (name in own) return Reflect.get(own, name) as unknown;
      const value = current();
      const member = Reflect.get(value, name, value) as unknown;
      return typeof member === 'function' ? member.bind(value) : member;
    },
    set(_, name, member) {
      const value = current();
      return Reflect.set(value, name, member, value);
    },
    has: (_, name) => name in own || name in current(),
  });
}
