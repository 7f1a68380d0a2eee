import { onTestFinished } from 'vitest';
import { DEV_ACCOUNTS } from '../../src/chain/devnet/state/dev-accounts.js';
import { createInlineNode, type InlineOptions } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { loadHasher } from '../../src/kernel/hasher.js';
import { type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { verifyLineaProof } from '../../src/proof/linea-proof.js';
import { MemoryStore } from '../../src/store/memory-store.js';
import { signTransaction, type Unsigned } from './sign.js';

/** Prices above what the pool asks, and plain recipients. */
export const PRICE = { maxFeePerGas: 10n ** 9n, maxPriorityFeePerGas: 10n ** 8n } as const;
export const accountAt = (index: number): Hex => DEV_ACCOUNTS[index]!.address;
export const stranger = (byte: string): Hex => `0x${byte.repeat(20)}`;
export const word = (value: bigint): Hex => `0x${value.toString(16).padStart(64, '0')}`;

/** A store whose bytes outlive the node that closes it. */
export class KeptStore extends MemoryStore {
  override async close(): Promise<void> {}
}

export interface DevNode {
  readonly node: PlumblineNode;
  ask<T = unknown>(method: string, ...params: unknown[]): Promise<T>;
  /** Sends a transfer of a dev account. @returns its hash */
  transfer(account: number, fields: Partial<Unsigned> & { readonly nonce: number }): Promise<Hex>;
  number(tag?: string): Promise<number>;
}

/** Opens a devnet that ends with the test. */
export async function devNode(options: InlineOptions = {}): Promise<DevNode> {
  const node = await createInlineNode(options);
  onTestFinished(() => node.close());
  const ask = <T>(method: string, ...params: unknown[]) =>
    node.request<UntypedMethod>({ method, params }) as Promise<T>;
  return {
    node,
    ask,
    transfer: (account, fields) =>
      ask(
        'eth_sendRawTransaction',
        signTransaction(account, { to: stranger('11'), value: 1n, gasLimit: 21_000n, ...PRICE, ...fields }),
      ),
    number: async (tag = 'latest') => Number((await ask<{ number: Hex }>('eth_getBlockByNumber', tag, false)).number),
  };
}

/** Sends from a dev account, without value; the node signs. @returns the hash of the transaction */
export const sendFrom = ({ ask }: DevNode, account: number, to: Hex) =>
  ask<Hex>('eth_sendTransaction', { from: accountAt(account), to });

/** Newest finalized block, and its root as the rollup contract on layer 1 has it. */
export async function settled(node: PlumblineNode): Promise<{ block: number; root: Uint8Array }> {
  const read = (data: string) =>
    node.l1.request<UntypedMethod>({ method: 'eth_call', params: [{ to: node.info.rollupAddress!, data }, 'latest'] });
  const block = Number(await read('0x695378f5'));
  const root = (await read(`0x8be745d1${block.toString(16).padStart(64, '0')}`)) as Hex;
  return { block, root: hexToBytes(root) };
}

/** The verifier's word on a proof for the newest finalized block, against the root on layer 1. */
export async function proved({ node, ask }: DevNode, address: Hex, keys: readonly Hex[] = []) {
  const { block, root } = await settled(node);
  const answer = await ask('linea_getProof', address, keys, `0x${block.toString(16)}`);
  const request = { address: hexToBytes(address), storageKeys: keys.map((key) => hexToBytes(key)), stateRoot: root };
  const verdict = verifyLineaProof(await loadHasher(node.info.hashScheme!), request, answer);
  if (!verdict.verified) throw new Error(verdict.message);
  return verdict;
}
