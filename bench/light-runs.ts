import { Common, Mainnet } from '@ethereumjs/common';
import { RPCStateManager } from '@ethereumjs/statemanager';
import { createLegacyTx } from '@ethereumjs/tx';
import { Address } from '@ethereumjs/util';
import { createVM, type RunTxOpts, runTx } from '@ethereumjs/vm';
import { type Hex, hexToBytes } from '../src/primitives/hex.js';

export interface RemoteCall {
  readonly from: Hex;
  readonly to: Hex;
  readonly data: Hex;
}

/** The block a remote execution runs in, as JSON-RPC shows its parent. */
export interface ParentJson {
  readonly number: Hex;
  readonly timestamp: Hex;
}

/**
 * One execution by `runTx` over `RPCStateManager`: each read a request of its own, nothing verified.
 *
 * @returns gas used
 */
export async function remoteRun(url: string, chainId: number, parent: ParentJson, call: RemoteCall): Promise<bigint> {
  const common = new Common({ chain: { ...Mainnet, chainId }, hardfork: 'osaka' });
  const stateManager = new RPCStateManager({ provider: url, blockTag: BigInt(parent.number), common });
  const vm = await createVM({ common, stateManager });
  const header = {
    number: BigInt(parent.number) + 1n,
    timestamp: BigInt(parent.timestamp) + 1n,
    gasLimit: 2_000_000_000n,
    baseFeePerGas: 7n,
    coinbase: new Address(new Uint8Array(20)),
    prevRandao: new Uint8Array(32),
    difficulty: 0n,
    getBlobGasPrice: () => 1n,
  };
  const fields = { to: call.to, data: call.data, gasLimit: 2n ** 24n, gasPrice: 7n };
  const tx = createLegacyTx(fields, { common, freeze: false });
  tx.getSenderAddress = () => new Address(hexToBytes(call.from));
  const block = { header } as unknown as NonNullable<RunTxOpts['block']>;
  const options = { tx, block, skipNonce: true, skipBalance: true, skipHardForkValidation: true };
  const { execResult, totalGasSpent } = await runTx(vm, options);
  if (execResult.exceptionError !== undefined) throw new Error(execResult.exceptionError.error);
  return totalGasSpent;
}
