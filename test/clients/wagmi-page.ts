import {
  connect,
  createConfig,
  disconnect,
  getConnection,
  http,
  injected,
  signMessage,
  switchChain,
  watchConnection,
} from '@wagmi/core';
import { defineChain } from 'viem';
import { announceProvider, createNode } from '../../dist/index.js';

const node = await createNode();
const chain = defineChain({
  id: node.info.chainId,
  name: 'devnet',
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: { default: { http: [location.origin] } },
});
const other = defineChain({ ...chain, id: 1 });
/** A config of its own for each way to find the provider. */
const configOf = (connectors: ReturnType<typeof injected>[], multiInjectedProviderDiscovery: boolean) =>
  createConfig({
    chains: [chain, other],
    transports: { [chain.id]: http(), [other.id]: http() },
    storage: null,
    multiInjectedProviderDiscovery,
    connectors,
  });

/** What wagmi comes to: from the connection to the end of it. */
async function tour(config: ReturnType<typeof configOf>) {
  const [connector] = config.connectors;
  const changes: unknown[] = [];
  const stop = watchConnection(config, {
    onChange: ({ status, addresses, chainId }) => changes.push([status, addresses?.length, chainId]),
  });
  const { accounts, chainId } = await connect(config, { connector: connector! });
  const signature = await signMessage(config, { message: 'hello' });
  const switched = await switchChain(config, { chainId: chain.id });
  const refused = await switchChain(config, { chainId: 1 }).catch((error: unknown) => (error as { name: string }).name);
  const setChainId = (id: number) => node.request({ method: 'anvil_setChainId', params: [id] });
  await setChainId(other.id);
  const followed = getConnection(config).chainId;
  await setChainId(chain.id);
  // As a user who takes back an account in the wallet.
  const one = { eth_accounts: { restrictReturnedAccounts: [accounts[1]!.toLowerCase() as `0x${string}`] } };
  await node.request({ method: 'wallet_requestPermissions', params: [one] });
  const after = getConnection(config).addresses;
  await disconnect(config);
  const left = await node.request({ method: 'eth_accounts' });
  stop();
  return {
    name: connector!.name,
    accounts,
    chainId,
    signature,
    switched: switched.id,
    refused,
    followed,
    after,
    left,
    changes,
  };
}

Object.assign(globalThis, {
  async announced() {
    const config = configOf([], true);
    const before = config.connectors.length;
    const stop = announceProvider(node, { name: 'my wallet', rdns: 'example.wallet' });
    const found = { before, icon: config.connectors[0]?.icon, id: config.connectors[0]?.id };
    const result = { ...found, ...(await tour(config)) };
    stop();
    return { ...result, later: configOf([], true).connectors.length };
  },
  async injected() {
    Object.assign(window, { ethereum: node });
    return tour(configOf([injected()], false));
  },
});
