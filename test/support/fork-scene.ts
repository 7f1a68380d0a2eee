import { onTestFinished } from 'vitest';
import { DEV_ACCOUNTS, TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import type { ForkChainOptions, ForkOptions } from '../../src/chain/fork/fork-options.js';
import { createInlineNode, type InlineOptions } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { devnet } from '../../src/networks/devnet.js';
import type { Hex } from '../../src/primitives/hex.js';
import { type DevNode, devNode, PRICE, stranger, word } from './dev-node.js';
import { type MockEndpoint, type MockOptions, serveMock } from './mock-chain.js';
import { transferCalldata } from './sign.js';

/** Holds test tokens on the network and has no known key. */
export const HOLDER = stranger('a1');
export const RECEIVER = stranger('b2');
/** A time for blocks that both chains make. */
export const LATER = 4_000_000_000;

export interface ForkScene {
  /** The network: what it does by itself is what a fork has to come to as well. */
  readonly dev: DevNode;
  readonly endpoints: readonly MockEndpoint[];
  readonly layerOne: MockEndpoint;
  /** Opens a fork on the endpoints. */
  open(
    fork?: Partial<ForkOptions>,
    more?: InlineOptions,
    chain?: Partial<ForkChainOptions>,
  ): Promise<{ node: PlumblineNode; ask: DevNode['ask'] }>;
  /** Requests that all endpoints have got. */
  requests(): number;
}

/** A devnet on which `HOLDER` has tokens, and endpoints on loopback that serve it; all end with the test. */
export async function forkScene(mocks: readonly MockOptions[] = [{}], more: InlineOptions = {}): Promise<ForkScene> {
  const dev = await devNode(more);
  for (let nonce = 0; nonce < 4; nonce++)
    await dev.transfer(0, {
      nonce,
      to: TEST_TOKEN,
      gasLimit: 100_000n,
      value: 0n,
      data: transferCalldata(HOLDER, 1_000n),
    });
  const endpoints = await Promise.all(mocks.map((mock) => serveMock(dev.node, mock)));
  const layerOne = await serveMock(dev.node.l1);
  for (const mock of [...endpoints, layerOne]) onTestFinished(() => mock.close());
  const open: ForkScene['open'] = async (fork = {}, more = {}, chain = {}) => {
    const node = await createInlineNode({
      ...more,
      chain: {
        kind: 'devnet',
        fork: { network: devnet(), endpoints: endpoints.map(({ url }) => url), layerOne: [layerOne.url], ...fork },
        ...chain,
      },
    });
    onTestFinished(() => node.close());
    const ask = <T>(method: string, ...params: unknown[]) =>
      node.request<UntypedMethod>({ method, params }) as Promise<T>;
    return { node, ask };
  };
  const requests = () => [...endpoints, layerOne].reduce((sum, { seen }) => sum + seen.length, 0);
  return { dev, endpoints, layerOne, open, requests };
}

type Ask = DevNode['ask'];

const DEV_BALANCE = '0x21e19e0c9bab2400000';

/** What a fork does before its first block: the dev accounts have 10 000 ETH. */
export async function fund(ask: Ask): Promise<void> {
  for (const { address } of DEV_ACCOUNTS) await ask('anvil_setBalance', address, DEV_BALANCE);
}

/** Balance of an account in test tokens. */
export async function tokensOf(ask: Ask, account: Hex, at = 'latest'): Promise<bigint> {
  const data = `0x70a08231${word(BigInt(account)).slice(2)}`;
  return BigInt(await ask<Hex>('eth_call', { to: TEST_TOKEN, data }, at));
}

/** Makes `HOLDER` transfer tokens as its impersonator, in a block at `LATER`. @returns the hash of the transaction */
export async function transferAsHolder(ask: Ask, amount: bigint, time = LATER): Promise<Hex> {
  const hex = (value: bigint): Hex => `0x${value.toString(16)}`;
  await ask('anvil_impersonateAccount', HOLDER);
  await ask('anvil_setBalance', HOLDER, hex(10n ** 18n));
  await ask('evm_setNextBlockTimestamp', time);
  return ask('eth_sendTransaction', {
    from: HOLDER,
    to: TEST_TOKEN,
    data: transferCalldata(RECEIVER, amount),
    gas: '0x186a0',
    maxFeePerGas: hex(PRICE.maxFeePerGas),
    maxPriorityFeePerGas: hex(PRICE.maxPriorityFeePerGas),
  });
}
