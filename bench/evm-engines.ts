import { Common, Mainnet } from '@ethereumjs/common';
import { createEVM } from '@ethereumjs/evm';
import { SimpleStateManager } from '@ethereumjs/statemanager';
import { Account, Address } from '@ethereumjs/util';
import { type Alloc, AllocState } from '../conformance/alloc-state.js';
import { callAt } from '../src/evm/call.js';
import { bytesToHex, type Hex, hexToBytes } from '../src/primitives/hex.js';
import { toQuantity } from '../src/primitives/quantity.js';
import type { Anvil, RpcRequest } from '../test/support/anvil.js';
import { blockContext, networkAt } from '../test/support/evm.js';
import type { EvmProgram } from './evm-programs.js';

/** Enough for a recursion to the limit of depth, of which each level keeps a 64th. */
export const GAS = 40_000_000_000n;
/** The last fork before transactions had a limit of gas. */
export const HARDFORK = 'prague';

/** One run of a program. @returns what it returns, and the gas that it took where the engine says so */
export type Run = () => Promise<{ readonly returned: Hex; readonly gas?: bigint }>;

/** The library as its users call it: state, machine and run are new each time. */
export function plumblineRun({ alloc, call }: EvmProgram): Run {
  const reader = new AllocState(allocOf(alloc));
  const network = { ...networkAt(HARDFORK), rpcGasCap: GAS };
  const block = blockContext({ gasLimit: GAS });
  const request = { from: hexToBytes(call.from), to: hexToBytes(call.to), data: hexToBytes(call.data), gas: GAS };
  return async () => {
    const outcome = await callAt(reader, block, request, { network });
    return { returned: bytesToHex(outcome.returnData), gas: outcome.gasUsedBeforeRefund };
  };
}

/** @ethereumjs/evm alone, on a state in memory that each run leaves as it was. */
export async function ethereumjsRun({ alloc, call }: EvmProgram, intrinsic: bigint): Promise<Run> {
  const common = new Common({ chain: { ...Mainnet, chainId: 1 }, hardfork: HARDFORK });
  const stateManager = new SimpleStateManager({ common });
  for (const [key, { nonce, balance, code, storage }] of Object.entries(alloc)) {
    const address = new Address(hexToBytes(key, 20));
    await stateManager.putAccount(address, new Account(nonce ?? 0n, balance ?? 0n));
    if (code !== undefined) await stateManager.putCode(address, hexToBytes(code));
    for (const [slot, value] of Object.entries(storage ?? {})) {
      const digits = BigInt(value).toString(16);
      const bytes = hexToBytes(`0x${digits.length % 2 === 0 ? '' : '0'}${digits}`);
      await stateManager.putStorage(address, hexToBytes(slot), bytes);
    }
  }
  const evm = await createEVM({ common, stateManager });
  const { number, timestamp, gasLimit, baseFeePerGas, coinbase, prevRandao } = blockContext({ gasLimit: GAS });
  const header = {
    number: BigInt(number),
    timestamp: BigInt(timestamp),
    gasLimit,
    baseFeePerGas,
    coinbase: new Address(coinbase),
    prevRandao,
    difficulty: 0n,
    getBlobGasPrice: () => 1n,
  };
  const [caller, to] = [call.from, call.to].map((address) => new Address(hexToBytes(address))) as [Address, Address];
  const data = hexToBytes(call.data);
  return async () => {
    await stateManager.checkpoint();
    const { execResult } = await evm.runCall({ caller, to, data, gasLimit: GAS - intrinsic, block: { header } });
    await evm.journal.cleanup();
    await stateManager.revert();
    stateManager.originalStorageCache.clear();
    return { returned: bytesToHex(execResult.returnValue), gas: execResult.executionGasUsed + intrinsic };
  };
}

/** revm in a process of its own. Its state is set once. */
export async function revmRun(anvil: Anvil, { alloc, call }: EvmProgram): Promise<Run> {
  const requests: RpcRequest[] = [];
  for (const [address, { nonce, code, storage } = {}] of Object.entries(allocOf(alloc))) {
    requests.push(
      { method: 'anvil_setNonce', params: [address, nonce] },
      { method: 'anvil_setCode', params: [address, code] },
    );
    for (const [slot, value] of Object.entries(storage ?? {})) {
      requests.push({ method: 'anvil_setStorageAt', params: [address, slot, value] });
    }
  }
  for (const reply of await anvil.batch(requests)) if (reply.error !== undefined) throw new Error(reply.error.message);
  const { number, timestamp } = blockContext();
  const overrides = { number: toQuantity(number), time: toQuantity(timestamp) };
  const request = { from: call.from, to: call.to, data: call.data, gas: toQuantity(GAS) };
  return async () => ({ returned: await anvil.ask<Hex>('eth_call', request, 'latest', {}, overrides) });
}

/** The accounts in the form of fixtures. */
export function allocOf(alloc: EvmProgram['alloc']): Alloc {
  const entries = Object.entries(alloc).map(([address, { nonce, balance, code, storage }]) => {
    const account = { nonce: toQuantity(nonce ?? 0n), balance: toQuantity(balance ?? 0n), code: code ?? '0x' };
    return [address.toLowerCase(), { ...account, storage }];
  });
  return Object.fromEntries(entries) as Alloc;
}
