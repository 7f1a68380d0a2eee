/**
 * Entry point `plumbline-l2/viem`: Linea's two methods, previews and messages as typed actions for viem clients. It works with any
 * client whose endpoint has the methods: a plumbline node with `custom(node)`, or an endpoint of the network with `http(url)`. It does
 * not import viem. Its types fit viem's clients.
 *
 * @module plumbline-l2/viem
 *
 * @example
 * const client = createPublicClient({ transport: custom(node) }).extend(lineaActions());
 * const { gasLimit, maxFeePerGas, totalFee } = await client.estimateLineaFees({ account, to, value: 1n });
 */
import type { LineaProofJson } from './accumulator/proof-shape.js';
import type { BlockTag } from './chain/block.js';
import type {
  ClaimOptions,
  ClaimPreparation,
  DepositStatus,
  MessageList,
  MessageProofJson,
  MessageQuery,
} from './messages/withdrawal.js';
import type { NetworkName } from './networks/networks.js';
import type { Hex } from './primitives/hex.js';
import { toQuantity } from './primitives/quantity.js';
import type {
  LineaAccessList,
  LineaBlockJson,
  LineaCallJson,
  LineaFeesJson,
  LineaOverrideJson,
} from './rpc/schema/json.js';
import type { PreviewOptions, TransactionPreview } from './rpc/schema/transaction-preview.js';

export type { LineaProofJson } from './accumulator/proof-shape.js';
export type { BlockTag } from './chain/block.js';
export type {
  ClaimOptions,
  ClaimPreparation,
  DepositStatus,
  LayerOneView,
  MessageJson,
  MessageList,
  MessageProofJson,
  MessageQuery,
  PreparedClaim,
  ProvedBlocks,
  SentMessage,
  TokenTransfer,
} from './messages/withdrawal.js';
export type { NetworkName } from './networks/networks.js';
export type { Hex } from './primitives/hex.js';
export type {
  LineaAccessList,
  LineaBlockJson,
  LineaCallJson,
  LineaFeesJson,
  LineaOverrideJson,
} from './rpc/schema/json.js';
export type { PreviewOptions, TransactionPreview } from './rpc/schema/transaction-preview.js';

/** The methods as a viem schema: `createPublicClient({ rpcSchema: rpcSchema<PlumblineRpcSchema>(), … })`. */
export type PlumblineRpcSchema = [
  {
    Method: 'linea_estimateGas';
    Parameters:
      | [call: LineaCallJson]
      | [call: LineaCallJson, override: LineaOverrideJson]
      | [call: LineaCallJson, block: LineaBlockJson]
      | [call: LineaCallJson, block: LineaBlockJson, override: LineaOverrideJson];
    ReturnType: LineaFeesJson;
  },
  {
    Method: 'linea_getProof';
    Parameters: [address: Hex, storageKeys: readonly Hex[], block: LineaBlockJson];
    ReturnType: LineaProofJson;
  },
  {
    Method: 'linea_getMessageProof';
    Parameters: [hash: Hex];
    ReturnType: MessageProofJson;
  },
];

/** A network as a viem `Chain`. */
export interface ViemChain {
  readonly id: number;
  readonly name: string;
  readonly nativeCurrency: { readonly name: string; readonly symbol: string; readonly decimals: number };
  readonly rpcUrls: { readonly default: { readonly http: readonly string[] } };
  readonly testnet: boolean;
  /** How viem prices a transaction without a price: with `linea_estimateGas`, if the network has it. */
  readonly fees?: { readonly estimateFeesPerGas: (asked: FeesPerGasQuestion) => Promise<FeesPerGas | null> };
}

/** The question that viem asks a chain: the transaction that needs a price. */
export interface FeesPerGasQuestion {
  readonly client: LineaClient;
  readonly request?: object | undefined;
  /** Adds viem's margin for prices that may change. */
  readonly multiply: (amount: bigint) => bigint;
  readonly type: string;
}

/** Prices of a transaction, wei per gas. */
export type FeesPerGas =
  | { readonly gasPrice: bigint }
  | { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint };

/** Null has viem ask as on any network: without a transaction, or for one that reverts, whose error comes from there. */
async function feesPerGas({ client, request, multiply, type }: FeesPerGasQuestion): Promise<FeesPerGas | null> {
  const fees = request && (await estimateLineaFees(client, request).catch(() => undefined));
  if (fees === undefined) return null;
  const maxPriorityFeePerGas = fees.priorityFeePerGas;
  const maxFeePerGas = multiply(fees.baseFeePerGas) + maxPriorityFeePerGas;
  return type === 'legacy' ? { gasPrice: maxFeePerGas } : { maxFeePerGas, maxPriorityFeePerGas };
}

const chain = (id: number, name: string, testnet: boolean, http: readonly string[] = []): ViemChain => ({
  id,
  name,
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: { default: { http } },
  testnet,
});

/** The networks in `CHAINS`. If wallets should connect to another network of `NETWORKS`, add it here. */
export type ViemNetwork = Extract<NetworkName, 'linea' | 'linea-sepolia' | 'ethereum' | 'sepolia' | 'hoodi' | 'devnet'>;

const FEES = { fees: { estimateFeesPerGas: feesPerGas } };

/**
 * The networks as chains for viem and wagmi. The devnet has the address of `plumbline serve`. The others have no address, unlike those
 * of `viem/chains`: so all requests go to the node. With `custom(node)`, a chain needs no address.
 *
 * @example
 * ```ts
 * import { createInlineNode } from 'plumbline-l2/inline';
 * import { CHAINS } from 'plumbline-l2/viem';
 * import { createPublicClient, custom } from 'viem';
 *
 * const node = await createInlineNode();
 * const client = createPublicClient({ chain: CHAINS.devnet, transport: custom(node) });
 * (await client.getChainId()) === CHAINS.devnet.id; // => true
 * await node.close();
 * ```
 */
export const CHAINS: Readonly<Record<ViemNetwork, ViemChain>> = {
  devnet: { ...chain(59_139, 'plumbline devnet', true, ['http://127.0.0.1:8545']), ...FEES },
  linea: { ...chain(59_144, 'Linea', false), ...FEES },
  'linea-sepolia': { ...chain(59_141, 'Linea Sepolia', true), ...FEES },
  ethereum: chain(1, 'Ethereum', false),
  sepolia: chain(11_155_111, 'Sepolia', true),
  hoodi: chain(560_048, 'Hoodi', true),
};

/** The block that you ask about. If both are there, `blockNumber` is used. */
export interface LineaBlockParameters {
  readonly blockNumber?: bigint | undefined;
  readonly blockTag?: BlockTag | undefined;
}

/** A transaction to estimate, with viem's names. Amounts are in wei. */
export interface LineaFeesParameters extends LineaBlockParameters {
  /** The sender. Default: the client's account. */
  readonly account?: Hex | { readonly address: Hex } | undefined;
  /** If left out, the transaction creates a contract. */
  readonly to?: Hex | null | undefined;
  readonly data?: Hex | undefined;
  readonly value?: bigint | undefined;
  readonly nonce?: number | undefined;
  readonly gas?: bigint | undefined;
  readonly gasPrice?: bigint | undefined;
  readonly maxFeePerGas?: bigint | undefined;
  readonly maxPriorityFeePerGas?: bigint | undefined;
  readonly accessList?: LineaAccessList | undefined;
  readonly stateOverride?: readonly LineaAccountOverride[] | undefined;
}

/** Values that one account has during the estimate. */
export interface LineaAccountOverride {
  readonly address: Hex;
  readonly balance?: bigint | undefined;
  readonly nonce?: number | undefined;
  readonly code?: Hex | undefined;
  readonly state?: readonly LineaSlotOverride[] | undefined;
  readonly stateDiff?: readonly LineaSlotOverride[] | undefined;
}

/** Key and value of a storage slot, 32 bytes each. */
export interface LineaSlotOverride {
  readonly slot: Hex;
  readonly value: Hex;
}

/** What a transaction needs and costs. Prices are in wei per gas. */
export interface LineaFees {
  /** A limit with which the transaction succeeds: `gas` of viem's transactions. */
  readonly gasLimit: bigint;
  readonly baseFeePerGas: bigint;
  /** `maxPriorityFeePerGas` of viem's transactions. */
  readonly priorityFeePerGas: bigint;
  /** Suggested: base fee plus priority fee, as the network's operator advises (docs/spec/fees.md 1). */
  readonly maxFeePerGas: bigint;
  /** What the transaction costs at most, without its value, in wei: gas limit times `maxFeePerGas`. */
  readonly totalFee: bigint;
}

export interface LineaProofParameters extends LineaBlockParameters {
  readonly address: Hex;
  /** 32 bytes each. Default: none. */
  readonly storageKeys?: readonly Hex[] | undefined;
}

/** What the actions need from a client. Every viem client has it. */
export interface LineaClient {
  readonly account?: { readonly address: Hex } | undefined;
  readonly request: (args: never) => Promise<unknown>;
}

/** A type and no interface: that is what `extend` takes. */
export type LineaActions = {
  /** Estimates like `linea_estimateGas`, and adds the prices that a wallet needs. */
  estimateLineaFees(parameters: LineaFeesParameters): Promise<LineaFees>;
  /** Asks `linea_getProof`. Default block: the newest provable one. It does not verify the answer: use `plumbline-l2/verify` for that. */
  getLineaProof(parameters: LineaProofParameters): Promise<LineaProofJson>;
};

/**
 * Actions for `client.extend(lineaActions())`.
 *
 * @example
 * ```ts
 * import { createInlineNode } from 'plumbline-l2/inline';
 * import { lineaActions } from 'plumbline-l2/viem';
 * import { createPublicClient, custom } from 'viem';
 *
 * const node = await createInlineNode();
 * const client = createPublicClient({ transport: custom(node) }).extend(lineaActions());
 * const account = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
 * const { gasLimit } = await client.estimateLineaFees({ account, to: account, value: 1n });
 * gasLimit; // => 21_000n
 * await node.close();
 * ```
 */
export function lineaActions(): (client: LineaClient) => LineaActions {
  return (client) => ({
    estimateLineaFees: (parameters) => estimateLineaFees(client, parameters),
    getLineaProof: (parameters) => getLineaProof(client, parameters),
  });
}

/** A transaction to preview, with viem's names. Amounts are in wei. */
export type PreviewTransactionParameters = Omit<LineaFeesParameters, 'stateOverride' | 'blockNumber' | 'blockTag'>;

/** The plumbline node that makes previews. */
export interface PreviewingNode {
  previewTransaction(
    calls: readonly object[],
    options?: PreviewOptions & { readonly signal?: AbortSignal },
  ): Promise<TransactionPreview>;
}

/** A type and no interface: that is what `extend` takes. */
export type PreviewActions = {
  /**
   * Says what transactions would do in the next block, in this order. It is `node.previewTransaction` with transactions in viem's
   * form.
   *
   * @throws as `node.previewTransaction`
   */
  previewTransaction(
    parameters: PreviewTransactionParameters | readonly PreviewTransactionParameters[],
    options?: PreviewOptions & { readonly signal?: AbortSignal },
  ): Promise<TransactionPreview>;
};

/**
 * Actions for `client.extend(previewActions(node))`. The node makes the preview. An RPC endpoint cannot make it.
 *
 * @example
 * ```ts
 * import { createInlineNode } from 'plumbline-l2/inline';
 * import { previewActions } from 'plumbline-l2/viem';
 * import { createPublicClient, custom } from 'viem';
 *
 * const node = await createInlineNode();
 * const client = createPublicClient({ transport: custom(node) }).extend(previewActions(node));
 * const account = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
 * const to = '0x2400000000000000000000000000000000000000';
 * const { calls } = await client.previewTransaction({ account, to, value: 5n });
 * calls[0]?.status; // => 'success'
 * await node.close();
 * ```
 */
export function previewActions(node: PreviewingNode): (client: Pick<LineaClient, 'account'>) => PreviewActions {
  return (client) => ({
    previewTransaction(parameters, options) {
      const list = Array.isArray(parameters) ? (parameters as readonly PreviewTransactionParameters[]) : [parameters];
      const calls = (list as readonly PreviewTransactionParameters[]).map(({ account = client.account, ...one }) =>
        callOf(one, typeof account === 'string' ? account : account?.address),
      );
      return node.previewTransaction(calls, options);
    },
  });
}

/** The plumbline node that reads messages and prepares claims. */
export interface MessagingNode {
  messages(query: MessageQuery, options?: { readonly signal?: AbortSignal }): Promise<MessageList>;
  prepareClaim(hash: Hex, options?: ClaimOptions & { readonly signal?: AbortSignal }): Promise<ClaimPreparation>;
  depositStatus(hash: Hex, options?: { readonly signal?: AbortSignal }): Promise<DepositStatus>;
}

/** As `MessageQuery`, with block numbers in viem's form. */
export interface GetMessagesParameters {
  /** The sender of the messages, or their recipient on layer 1. Default: the client's account. */
  readonly account?: Hex | { readonly address: Hex } | undefined;
  readonly fromBlock: bigint;
  readonly toBlock: bigint;
}

/** The message to claim, and the members of `ClaimOptions`. */
export interface PrepareClaimParameters {
  readonly hash: Hex;
  readonly fromBlock?: bigint | undefined;
  readonly toBlock?: bigint | undefined;
  readonly feeRecipient?: Hex | undefined;
}

/** The transaction that claims, in the form that `sendTransaction` of a layer-1 wallet takes. */
export interface ClaimTransaction {
  readonly to: Hex;
  readonly data: Hex;
  readonly value: bigint;
}

/** As `ClaimPreparation`, with a transaction that viem can send. */
export type ViemClaim<Found = ClaimPreparation> = Found extends { readonly transaction: object }
  ? Omit<Found, 'transaction'> & { readonly transaction: ClaimTransaction }
  : Found;

/** A type and no interface: that is what `extend` takes. */
export type MessageActions = {
  /** The same as `node.messages`. @throws as `node.messages`; `Error` if there is no account */
  getMessages(parameters: GetMessagesParameters): Promise<MessageList>;
  /** The same as `node.prepareClaim`. Send the transaction with a wallet on layer 1. @throws as `node.prepareClaim` */
  prepareClaim(parameters: PrepareClaimParameters): Promise<ViemClaim>;
  /** The same as `node.depositStatus`. @throws as `node.depositStatus` */
  getDepositStatus(parameters: { readonly hash: Hex }): Promise<DepositStatus>;
};

/**
 * Actions for `client.extend(messageActions(node))`: messages between the layers, which the node proves.
 *
 * @example
 * ```ts
 * import { createInlineNode } from 'plumbline-l2/inline';
 * import { messageActions } from 'plumbline-l2/viem';
 * import { createPublicClient, custom } from 'viem';
 *
 * const node = await createInlineNode();
 * const client = createPublicClient({ transport: custom(node) }).extend(messageActions(node));
 * const account = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
 * const { messages } = await client.getMessages({ account, fromBlock: 0n, toBlock: 0n });
 * messages.length; // => 0
 * await node.close();
 * ```
 */
export function messageActions(node: MessagingNode): (client: Pick<LineaClient, 'account'>) => MessageActions {
  return (client) => ({
    getMessages({ account = client.account, fromBlock, toBlock }) {
      const address = typeof account === 'string' ? account : account?.address;
      if (address === undefined) throw new Error('getMessages needs an account: of the client, or as a parameter');
      return node.messages({ address, fromBlock: Number(fromBlock), toBlock: Number(toBlock) });
    },
    async prepareClaim({ hash, fromBlock, toBlock, feeRecipient }) {
      const found = await node.prepareClaim(hash, {
        ...(fromBlock !== undefined && { fromBlock: Number(fromBlock) }),
        ...(toBlock !== undefined && { toBlock: Number(toBlock) }),
        ...(feeRecipient !== undefined && { feeRecipient }),
      });
      if (!('transaction' in found)) return found;
      return { ...found, transaction: { ...found.transaction, value: BigInt(found.transaction.value) } };
    },
    getDepositStatus: ({ hash }) => node.depositStatus(hash),
  });
}

/**
 * @throws the client's errors, and PlumblineError `INVALID_QUANTITY` for a negative amount
 *
 * @example
 * ```ts
 * import { createInlineNode } from 'plumbline-l2/inline';
 * import { estimateLineaFees } from 'plumbline-l2/viem';
 *
 * const node = await createInlineNode();
 * const account = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
 * const { gasLimit, maxFeePerGas, totalFee } = await estimateLineaFees(node, { account, to: account, value: 1n });
 * totalFee === gasLimit * maxFeePerGas; // => true
 * await node.close();
 * ```
 */
export async function estimateLineaFees(client: LineaClient, parameters: LineaFeesParameters): Promise<LineaFees> {
  const { account = client.account, stateOverride, blockNumber, blockTag, ...transaction } = parameters;
  const block = blockOf({ blockNumber, blockTag });
  const params: PlumblineRpcSchema[0]['Parameters'][number][] = [
    callOf(transaction, typeof account === 'string' ? account : account?.address),
    ...(block === undefined ? [] : [block]),
    ...(stateOverride === undefined ? [] : [overrideOf(stateOverride)]),
  ];
  const answer = (await ask(client, 'linea_estimateGas', params)) as LineaFeesJson;
  const [gasLimit, baseFeePerGas] = [BigInt(answer.gasLimit), BigInt(answer.baseFeePerGas)];
  const priorityFeePerGas = BigInt(answer.priorityFeePerGas);
  const maxFeePerGas = baseFeePerGas + priorityFeePerGas;
  return { gasLimit, baseFeePerGas, priorityFeePerGas, maxFeePerGas, totalFee: gasLimit * maxFeePerGas };
}

/**
 * @throws the client's errors: code -32600 for a block that is not final on layer 1
 *
 * @example
 * ```ts
 * import { createInlineNode } from 'plumbline-l2/inline';
 * import { getLineaProof } from 'plumbline-l2/viem';
 *
 * const node = await createInlineNode();
 * const address = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
 * const { accountProof } = await getLineaProof(node, { address, blockNumber: 0n });
 * 'proof' in accountProof; // => true
 * await node.close();
 * ```
 */
export async function getLineaProof(client: LineaClient, parameters: LineaProofParameters): Promise<LineaProofJson> {
  const { address, storageKeys = [] } = parameters;
  const params = [address, storageKeys, blockOf(parameters) ?? 'latest'];
  return (await ask(client, 'linea_getProof', params)) as LineaProofJson;
}

/** `never` is what the requests of every client take, however its schema narrows them. */
function ask(client: LineaClient, method: string, params: readonly unknown[]): Promise<unknown> {
  return client.request({ method, params } as never);
}

function blockOf({ blockNumber, blockTag }: LineaBlockParameters): LineaBlockJson | undefined {
  return blockNumber === undefined ? blockTag : toQuantity(blockNumber);
}

type Transaction = Omit<LineaFeesParameters, 'account' | 'stateOverride' | 'blockNumber' | 'blockTag'>;

/** Members that are not there stay away: JSON has no undefined, and providers clone what they are given. */
function callOf(transaction: Transaction, from: Hex | undefined): LineaCallJson {
  const { to, data, accessList, nonce, value, gas, gasPrice, maxFeePerGas, maxPriorityFeePerGas } = transaction;
  const amounts = { nonce, value, gas, gasPrice, maxFeePerGas, maxPriorityFeePerGas };
  return withoutGaps({ from, to: to ?? undefined, data, accessList, ...quantities(amounts) });
}

function overrideOf(accounts: readonly LineaAccountOverride[]): LineaOverrideJson {
  const entries = accounts.map(({ address, balance, nonce, code, state, stateDiff }) => {
    const slots = { state: state && slotsOf(state), stateDiff: stateDiff && slotsOf(stateDiff) };
    return [address, withoutGaps({ ...quantities({ balance, nonce }), code, ...slots })];
  });
  return Object.fromEntries(entries) as LineaOverrideJson;
}

function slotsOf(slots: readonly LineaSlotOverride[]): Record<Hex, Hex> {
  return Object.fromEntries(slots.map(({ slot, value }) => [slot, value]));
}

function quantities(amounts: Record<string, bigint | number | undefined>): Record<string, Hex> {
  const present = Object.entries(amounts).filter((entry): entry is [string, bigint | number] => entry[1] !== undefined);
  return Object.fromEntries(present.map(([name, amount]) => [name, toQuantity(amount)]));
}

function withoutGaps<T extends object>(members: T): T {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as T;
}
