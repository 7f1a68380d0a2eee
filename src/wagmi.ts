/**
 * Entry point `plumbline-l2/wagmi`: a plumbline node in a wagmi config, as a transport and, for a devnet, as the wallet. It does not
 * import wagmi. The types of the connector fit wagmi's.
 *
 * @module plumbline-l2/wagmi
 *
 * @example
 * const open = () => createNode();
 * const config = createConfig({
 *   chains: [CHAINS.devnet],
 *   connectors: [plumblineConnector(open)],
 *   transports: { [CHAINS.devnet.id]: plumblineTransport(open) },
 * });
 */
import {
  type Address,
  type Chain,
  type CustomTransport,
  custom,
  getAddress,
  numberToHex,
  SwitchChainError,
} from 'viem';
import type { PlumblineNode } from './hosts/provider/node-handle.js';

/** Where wagmi's storage keeps that the visitor has connected. */
const CONNECTED = 'plumbline.connected';

/** Opens the node of a config when it is first needed. If two callers pass the same function, they share one node. */
export type OpenNode = () => Promise<PlumblineNode>;

const opened = new WeakMap<OpenNode, Promise<PlumblineNode>>();

/** A failure is not kept, nor a node that has ended: the next request opens anew. */
function nodeOf(open: OpenNode): Promise<PlumblineNode> {
  const known = opened.get(open);
  if (known !== undefined) return known;
  const node = open();
  opened.set(open, node);
  const forget = () => {
    if (opened.get(open) === node) opened.delete(open);
  };
  node.then((one) => void one.on('disconnect', forget), forget);
  return node;
}

/**
 * A transport for viem and wagmi that asks a node. The node opens with the first request.
 *
 * @param open - pass the same function to the connector, so that they share one node
 *
 * @example
 * ```ts
 * import { createInlineNode } from 'plumbline-l2/inline';
 * import { plumblineTransport } from 'plumbline-l2/wagmi';
 * import { createPublicClient } from 'viem';
 *
 * const client = createPublicClient({ transport: plumblineTransport(() => createInlineNode()) });
 * await client.getChainId(); // => 59_139
 * ```
 */
export function plumblineTransport(open: OpenNode): CustomTransport {
  const request = async (args: never): Promise<unknown> => (await nodeOf(open)).request(args);
  return custom({ request }, { key: 'plumbline', name: 'plumbline' });
}

/** What the connector needs from a wagmi config. */
export interface ConnectorConfig {
  readonly chains: readonly Chain[];
  readonly emitter: {
    emit(name: 'change', data: { accounts?: readonly Address[]; chainId?: number }): unknown;
    emit(name: 'disconnect'): unknown;
  };
  readonly storage?:
    | {
        getItem(key: typeof CONNECTED): unknown;
        setItem(key: typeof CONNECTED, value: true): unknown;
        removeItem(key: typeof CONNECTED): unknown;
      }
    | null
    | undefined;
}

/** A connector in the form of wagmi's `createConnector`. It is a type and not an interface, because wagmi needs a type. */
export type PlumblineConnector = {
  readonly id: string;
  readonly name: string;
  readonly type: string;
  connect<WithCapabilities extends boolean = false>(
    parameters?:
      | {
          chainId?: number | undefined;
          isReconnecting?: boolean | undefined;
          withCapabilities?: WithCapabilities | boolean | undefined;
        }
      | undefined,
  ): Promise<{
    accounts: WithCapabilities extends true
      ? readonly { address: Address; capabilities: Record<string, unknown> }[]
      : readonly Address[];
    chainId: number;
  }>;
  disconnect(): Promise<void>;
  getAccounts(): Promise<readonly Address[]>;
  getChainId(): Promise<number>;
  getProvider(): Promise<PlumblineNode>;
  isAuthorized(): Promise<boolean>;
  switchChain(parameters: { chainId: number }): Promise<Chain>;
  onAccountsChanged(accounts: readonly string[]): void;
  onChainChanged(chainId: string): void;
  onDisconnect(): void;
};

const addressesOf = (accounts: readonly string[]): Address[] => accounts.map((account) => getAddress(account));

/**
 * A devnet as the wallet of a page: a connector for `createConfig({ connectors: [plumblineConnector(open)] })`. It connects without
 * asking the user. When it disconnects, the page loses the accounts. After a reload of the page, it connects again.
 *
 * @example
 * ```ts
 * import { createInlineNode } from 'plumbline-l2/inline';
 * import { plumblineConnector } from 'plumbline-l2/wagmi';
 *
 * const connector = plumblineConnector(() => createInlineNode())({ chains: [], emitter: { emit() {} } });
 * const { accounts, chainId } = await connector.connect();
 * accounts.length; // => 10
 * chainId; // => 59_139
 * ```
 */
export function plumblineConnector(open: OpenNode): (config: ConnectorConfig) => PlumblineConnector {
  return ({ chains, emitter, storage }) => {
    let listensTo: PlumblineNode | undefined;
    const connector: PlumblineConnector = {
      id: 'plumbline',
      name: 'plumbline devnet',
      type: 'plumbline',
      async connect({ chainId, withCapabilities } = {}) {
        const node = await nodeOf(open);
        const accounts = addressesOf(await node.request({ method: 'eth_requestAccounts' }));
        if (chainId !== undefined && chainId !== (await connector.getChainId()))
          await connector.switchChain({ chainId });
        if (listensTo !== node) {
          node.on('accountsChanged', connector.onAccountsChanged);
          node.on('chainChanged', connector.onChainChanged);
          node.on('disconnect', connector.onDisconnect);
          listensTo = node;
        }
        await storage?.setItem(CONNECTED, true);
        const given = withCapabilities ? accounts.map((address) => ({ address, capabilities: {} })) : accounts;
        return { accounts: given as never, chainId: await connector.getChainId() };
      },
      async disconnect() {
        const node = await nodeOf(open);
        node.removeListener('accountsChanged', connector.onAccountsChanged);
        node.removeListener('chainChanged', connector.onChainChanged);
        node.removeListener('disconnect', connector.onDisconnect);
        listensTo = undefined;
        await node.request({ method: 'wallet_revokePermissions', params: [{ eth_accounts: {} }] });
        await storage?.removeItem(CONNECTED);
      },
      getAccounts: async () => addressesOf(await (await nodeOf(open)).request({ method: 'eth_accounts' })),
      getChainId: async () => Number(await (await nodeOf(open)).request({ method: 'eth_chainId' })),
      getProvider: () => nodeOf(open),
      // A node that opens with the page knows nothing of the visit before; the storage of wagmi does.
      isAuthorized: async () => (await storage?.getItem(CONNECTED)) === true,
      async switchChain({ chainId }) {
        const node = await nodeOf(open);
        const chain = chains.find(({ id }) => id === chainId);
        if (chain === undefined) throw new SwitchChainError(new Error(`chain ${chainId} is not in the config`));
        try {
          await node.request({ method: 'wallet_switchEthereumChain', params: [{ chainId: numberToHex(chainId) }] });
        } catch (error) {
          throw new SwitchChainError(error as Error);
        }
        emitter.emit('change', { chainId });
        return chain;
      },
      onAccountsChanged(accounts) {
        if (accounts.length === 0) connector.onDisconnect();
        else emitter.emit('change', { accounts: addressesOf(accounts) });
      },
      onChainChanged: (chainId) => void emitter.emit('change', { chainId: Number(chainId) }),
      onDisconnect: () => void emitter.emit('disconnect'),
    };
    return connector;
  };
}
