import { describe, expect, expectTypeOf, onTestFinished, test } from 'vitest';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { LayerOneSchema, RpcSchema, UntypedMethod } from '../../src/hosts/provider/provider.js';
import type { Hex } from '../../src/primitives/hex.js';
import type { METHOD_INFO } from '../../src/rpc/method-info.js';
import type { BlockResultJson } from '../../src/rpc/schema/json.js';
import type { ChainSchema, DevnetSchema, WalletSchema } from '../../src/rpc/schema/methods.generated.js';

async function open(): Promise<PlumblineNode> {
  const node = await createInlineNode();
  onTestFinished(() => node.close());
  return node;
}

describe('the types of request', () => {
  test('parameters and result follow from the method', async () => {
    const node = await open();
    const [account] = await node.request({ method: 'eth_accounts' });
    expectTypeOf(account).toEqualTypeOf<Hex | undefined>();
    const balance = await node.request({ method: 'eth_getBalance', params: [account!, 'latest'] });
    expectTypeOf(balance).toEqualTypeOf<Hex>();
    expect(balance).toBe('0x21e19e0c9bab2400000');
    const block = await node.request({ method: 'eth_getBlockByNumber', params: ['latest', false] });
    expectTypeOf(block).toEqualTypeOf<BlockResultJson | null>();
    const id = await node.l1.request({ method: 'eth_chainId' });
    expectTypeOf(id).toEqualTypeOf<Hex>();
    // @ts-expect-error an address is no number
    await expect(node.request({ method: 'eth_getBalance', params: [1] })).rejects.toMatchObject({ code: -32602 });
    // @ts-expect-error parameters are missing
    await expect(node.request({ method: 'eth_getBalance' })).rejects.toMatchObject({ code: -32602 });
    // @ts-expect-error a misspelt member
    const call = node.request({ method: 'eth_call', params: [{ to: account!, dat: '0x' }] });
    expect(await call).toBe('0x');
  });

  test('a misspelt method does not compile; an unknown one is called by its type', async () => {
    const node = await open();
    // @ts-expect-error misspelt
    await expect(node.request({ method: 'eth_blocknumber' })).rejects.toMatchObject({ code: -32601 });
    // @ts-expect-error misspelt, with parameters
    await expect(node.request({ method: 'eth_getBalanc', params: [] })).rejects.toMatchObject({ code: -32601 });
    const method: string = 'eth_blockNumber';
    // @ts-expect-error any name
    expect(await node.request({ method })).toBe('0x0');
    const untyped = await node.request<UntypedMethod>({ method, params: [] });
    expectTypeOf(untyped).toBeUnknown();
    expect(untyped).toBe('0x0');
    const own = node.request<{ method: 'my_count'; params: readonly [Hex]; result: number }>({
      method: 'my_count',
      params: ['0x'],
    });
    expectTypeOf(own).resolves.toBeNumber();
    await expect(own).rejects.toMatchObject({ code: -32601 });
    // @ts-expect-error not of the simulated layer 1
    await expect(node.l1.request({ method: 'eth_mining' })).rejects.toMatchObject({ code: -32601 });
  });

  test('every method has types, and all types a method', () => {
    type Typed = keyof ChainSchema | keyof DevnetSchema | keyof WalletSchema;
    expectTypeOf<Typed>().toEqualTypeOf<keyof typeof METHOD_INFO.l2>();
    expectTypeOf<keyof RpcSchema>().toEqualTypeOf<Typed | 'l2_estimateGas' | 'l2_getProof'>();
    expectTypeOf<keyof LayerOneSchema>().toEqualTypeOf<keyof typeof METHOD_INFO.l1>();
    // Each name is in one of them.
    expectTypeOf<keyof ChainSchema & (keyof DevnetSchema | keyof WalletSchema)>().toBeNever();
    expectTypeOf<keyof DevnetSchema & keyof WalletSchema>().toBeNever();
  });
});
