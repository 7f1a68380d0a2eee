import {
  type Account,
  type Chain,
  createPublicClient,
  createTestClient,
  createWalletClient,
  defineChain,
  type Hex,
  type HttpTransport,
  http,
  type PublicClient,
  parseAbi,
  parseGwei,
  type TestClient,
  type TransactionReceipt,
  type WalletClient,
  type WebSocketTransport,
  webSocket,
} from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { DEV_ACCOUNTS } from '../../../src/chain/devnet/state/dev-accounts.js';
import { TOKEN_ABI, tokenCode } from '../endpoint.js';

export const abi = parseAbi(TOKEN_ABI);
/** Signs here, with a key that both tools also hold. */
export const local = privateKeyToAccount(DEV_ACCOUNTS[3]!.privateKey);
export const ownerKey = privateKeyToAccount(DEV_ACCOUNTS[0]!.privateKey);
export const owner = ownerKey.address;
export const receiver = privateKeyToAccount(DEV_ACCOUNTS[1]!.privateKey).address;
/** Sends in rows that are not called on both chains, or not as often. */
export const bystander = privateKeyToAccount(DEV_ACCOUNTS[4]!.privateKey);
/** So that a transaction has the same hash on every chain with this chain id. */
export const FEES = { gas: 1_000_000n, maxFeePerGas: parseGwei('100'), maxPriorityFeePerGas: parseGwei('1') } as const;

export interface Urls {
  readonly http: string;
  readonly webSocket: string;
}

export interface Clients {
  readonly reader: PublicClient<HttpTransport, Chain>;
  /** Its account is one that the node signs for. */
  readonly wallet: WalletClient<HttpTransport, Chain, Account>;
  /** Its account signs here. */
  readonly signer: WalletClient<HttpTransport, Chain, typeof local>;
  readonly tester: TestClient<'anvil', HttpTransport, Chain>;
  readonly socket: PublicClient<WebSocketTransport, Chain>;
}

/** What rows work with: clients of one endpoint, and a token of `owner` with one transfer. */
export interface Scene extends Clients {
  readonly token: Hex;
  /** Of the transfer, in block 3. */
  readonly hash: Hex;
  mined(hash: Hex): Promise<TransactionReceipt>;
  readonly transfer: { readonly address: Hex; readonly abi: typeof abi; readonly functionName: 'transfer' };
}

/** Clients of an endpoint. */
export function clientsOf(urls: Urls, id: number): Clients {
  const transport = http(urls.http, { retryCount: 0 });
  const chain = defineChain({
    id,
    name: 'local',
    nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
    rpcUrls: { default: { http: [] } },
  });
  const options = { chain, transport, pollingInterval: 20, cacheTime: 0 };
  return {
    reader: createPublicClient(options),
    wallet: createWalletClient({ ...options, account: owner }),
    signer: createWalletClient({ ...options, account: local }),
    tester: createTestClient({ ...options, mode: 'anvil' }),
    socket: createPublicClient({ chain, transport: webSocket(urls.webSocket, { reconnect: false }) }),
  };
}

/** Deploys the token, makes 1000 of it and sends 10. The node has to hold the key of `owner`. */
export async function openScene(urls: Urls, chainId: number): Promise<Scene> {
  const clients = clientsOf(urls, chainId);
  const { reader, wallet } = clients;
  const mined = (hash: Hex) => reader.waitForTransactionReceipt({ hash });
  const created = await mined(await wallet.deployContract({ abi, bytecode: await tokenCode(), ...FEES }));
  const token = created.contractAddress!;
  const write = { address: token, abi, ...FEES } as const;
  await mined(await wallet.writeContract({ ...write, functionName: 'mint', args: [owner, 1000n] }));
  const hash = await wallet.writeContract({ ...write, functionName: 'transfer', args: [receiver, 10n] });
  await mined(hash);
  return { ...clients, token, hash, mined, transfer: { address: token, abi, functionName: 'transfer' } as const };
}

/** Kinds of values and names of members, where the values are the tool's own affair. */
export function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf);
  if (typeof value !== 'object' || value === null) return value === null ? null : typeof value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => a.localeCompare(b))
      .map(([name, member]) => [name, shapeOf(member)]),
  );
}

/** Some members of an object. */
export function pick<T extends object, Name extends keyof T>(from: T, ...names: Name[]): Pick<T, Name> {
  return Object.fromEntries(names.map((name) => [name, from[name]])) as Pick<T, Name>;
}
