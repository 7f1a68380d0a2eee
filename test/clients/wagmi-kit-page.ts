import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createElement, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';
import { mainnet } from 'viem/chains';
import {
  createConfig,
  createStorage,
  useBalance,
  useConnect,
  useConnection,
  useConnectors,
  useDisconnect,
  useSendTransaction,
  useWaitForTransactionReceipt,
  WagmiProvider,
} from 'wagmi';
import {
  connect,
  disconnect,
  getBalance,
  getConnection,
  reconnect,
  sendTransaction,
  switchChain,
  waitForTransactionReceipt,
  watchConnection,
} from 'wagmi/actions';
import { createNode, type PlumblineNode } from '../../dist/index.js';
import { CHAINS } from '../../dist/viem.js';
import { plumblineConnector, plumblineTransport } from '../../dist/wagmi.js';

const TO = '0x2500000000000000000000000000000000000000';

const values = new Map<string, string>();
const storage = createStorage({
  storage: {
    getItem: (key) => values.get(key) ?? null,
    setItem: (key, value) => void values.set(key, value),
    removeItem: (key) => void values.delete(key),
  },
});

/** The config of one load of the page, with a node of its own. */
function load() {
  const nodes: PlumblineNode[] = [];
  const open = async () => {
    const node = await createNode();
    nodes.push(node);
    return node;
  };
  const config = createConfig({
    chains: [CHAINS.devnet, mainnet],
    connectors: [plumblineConnector(open)],
    transports: { [CHAINS.devnet.id]: plumblineTransport(open), [mainnet.id]: plumblineTransport(open) },
    storage,
    multiInjectedProviderDiscovery: false,
  });
  return { config, nodes };
}

function Widget(): ReactNode {
  const { address, status } = useConnection();
  const [connector] = useConnectors();
  const { mutate: join } = useConnect();
  const { mutate: leave } = useDisconnect();
  const { data: balance } = useBalance({ address: TO });
  const { mutate: send, data: hash } = useSendTransaction();
  const { data: receipt } = useWaitForTransactionReceipt({ hash });
  return createElement(
    'div',
    {},
    createElement('p', { id: 'status' }, `${status} ${address ?? ''}`),
    createElement('p', { id: 'balance' }, String(balance?.value)),
    createElement('p', { id: 'receipt' }, receipt?.status ?? 'none'),
    createElement('button', { type: 'button', onClick: () => join({ connector: connector! }) }, 'connect'),
    createElement('button', { type: 'button', onClick: () => send({ to: TO, value: 7n }) }, 'send'),
    createElement('button', { type: 'button', onClick: () => leave() }, 'disconnect'),
  );
}

Object.assign(globalThis, {
  async tour() {
    const { config, nodes } = load();
    const [connector] = config.connectors;
    const changes: unknown[] = [];
    watchConnection(config, {
      onChange: ({ status, addresses, chainId }) => changes.push([status, addresses?.length, chainId]),
    });
    // The transport opens the node; the connector has the same one.
    const before = await getBalance(config, { address: TO });
    const { accounts, chainId } = await connect(config, { connector: connector! });
    const hash = await sendTransaction(config, { to: TO, value: 5n });
    const { status } = await waitForTransactionReceipt(config, { hash });
    const after = await getBalance(config, { address: TO });
    const [node] = nodes;
    const refused = await switchChain(config, { chainId: 1 }).catch(({ name }: Error) => name);
    await node!.request({ method: 'anvil_setChainId', params: [1] });
    const followed = getConnection(config).chainId;
    await node!.request({ method: 'anvil_setChainId', params: [CHAINS.devnet.id] });
    const one = { eth_accounts: { restrictReturnedAccounts: [accounts[1]!.toLowerCase() as `0x${string}`] } };
    await node!.request({ method: 'wallet_requestPermissions', params: [one] });
    const restricted = getConnection(config).addresses;
    // The page is loaded again, with a node that knows nothing.
    const again = load();
    const restored = (await reconnect(again.config)).map((connection) => connection.accounts.length);
    await disconnect(again.config);
    const left = await again.nodes[0]!.request({ method: 'eth_accounts' });
    const third = load();
    const afterwards = await reconnect(third.config);
    await node!.close();
    const closed = getConnection(config).status;
    return {
      opened: [nodes.length, again.nodes.length],
      before: String(before.value),
      accounts,
      chainId,
      status,
      after: String(after.value),
      refused,
      followed,
      restricted,
      restored,
      left,
      afterwards,
      closed,
      changes,
    };
  },
  widget() {
    const { config } = load();
    const container = document.body.appendChild(document.createElement('div'));
    const queries = createElement(QueryClientProvider, { client: new QueryClient() }, createElement(Widget));
    createRoot(container).render(createElement(WagmiProvider, { config, children: queries }));
  },
});
