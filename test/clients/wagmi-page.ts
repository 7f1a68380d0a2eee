import {
  connect,
  createConfig,
  createStorage,
  disconnect,
  getConnection,
  http,
  injected,
  reconnect,
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
const configOf = (
  connectors: ReturnType<typeof injected>[],
  multiInjectedProviderDiscovery: boolean,
  storage: ReturnType<typeof createStorage> | null = null,
) =>
  createConfig({
    chains: [chain, other],
    transports: { [chain.id]: http(), [other.id]: http() },
    storage,
    multiInjectedProviderDiscovery,
    connectors,
  });

/** Announces a node, and waits until libraries have heard of it. */
async function announced(provider: typeof node, rdns: string): Promise<() => void> {
  const heard = new Promise((resolve) => addEventListener('eip6963:announceProvider', resolve, { once: true }));
  const stop = announceProvider(provider, { name: 'my wallet', rdns });
  await heard;
  return stop;
}

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
    const stop = await announced(node, 'example.wallet');
    const found = { before, icon: config.connectors[0]?.icon, id: config.connectors[0]?.id };
    const result = { ...found, ...(await tour(config)) };
    stop();
    return { ...result, later: configOf([], true).connectors.length };
  },
  /** As a page whose visitor does not connect at once, then leaves, comes back, and reloads the page. */
  async waiting() {
    const own = await createNode();
    const events: unknown[] = [];
    const opened = new Promise((resolve) => own.on('connect', resolve));
    own.on('connect', ({ chainId }) => events.push(['connect', chainId]));
    own.on('accountsChanged', (accounts) => events.push(['accountsChanged', accounts.length]));
    const values = new Map<string, string>();
    const storage = createStorage({
      storage: {
        getItem: (key) => values.get(key) ?? null,
        setItem: (key, value) => void values.set(key, value),
        removeItem: (key) => void values.delete(key),
      },
    });
    const config = configOf([], true, storage);
    const stop = await announced(own, 'example.waiting');
    // What a listener of wagmi's does on the event is done before the answer to a later request.
    await opened;
    const accountsBefore = await own.request({ method: 'eth_accounts' });
    const refused = await own
      .request({ method: 'personal_sign', params: ['0x12', '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266'] })
      .catch(({ code }: { code: number }) => code);
    events.length = 0;
    const states: unknown[] = [getConnection(config).status];
    const state = () => states.push([getConnection(config).status, getConnection(config).addresses?.length ?? 0]);
    const [connector] = config.connectors;
    await connect(config, { connector: connector! });
    state();
    await disconnect(config);
    state();
    await connect(config, { connector: connector! });
    state();
    // The same page after it was loaded again, while the node has not.
    const reloaded = configOf([], true, storage);
    const restored = (await reconnect(reloaded)).map(({ accounts }) => accounts.length);
    await disconnect(reloaded);
    const afterwards = await reconnect(configOf([], true, storage));
    stop();
    await own.close();
    return { accountsBefore, refused, states, events, restored, afterwards };
  },
  async injected() {
    Object.assign(window, { ethereum: node });
    return tour(configOf([injected()], false));
  },
});
