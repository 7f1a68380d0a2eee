import { Common, Mainnet, type StateManagerInterface } from '@ethereumjs/common';
import { createEVM } from '@ethereumjs/evm';
import { MerkleStateManager, SimpleStateManager } from '@ethereumjs/statemanager';
import { createLegacyTx } from '@ethereumjs/tx';
import { Account, Address } from '@ethereumjs/util';
import { createVM, type RunTxOpts, type RunTxResult, runTx } from '@ethereumjs/vm';
import type { GenesisAlloc } from '../src/chain/devnet/state/genesis.js';
import type { BlockContext } from '../src/evm/block-context.js';
import { rulesAt } from '../src/evm/common.js';
import type { RunWithGas } from '../src/evm/gas.js';
import { intrinsicGas } from '../src/evm/transaction-checks.js';
import type { TransactionMessage, TransactionOutcome } from '../src/evm/transaction-message.js';
import type { Network } from '../src/networks/network.js';
import { type Hex, hexToBytes } from '../src/primitives/hex.js';

/** What the engines below run: one call on one state, at any gas limit. */
export interface Subject {
  readonly network: Network;
  readonly alloc: GenesisAlloc;
  readonly context: BlockContext;
  readonly call: { readonly from: Hex; readonly to: Hex; readonly data: Hex };
}

export type StateKind = 'simple' | 'merkle';

function commonOf({ network, context }: Subject): Common {
  const { hardfork } = rulesAt(network, context.number, context.timestamp);
  return new Common({ chain: { ...Mainnet, chainId: network.chainId }, hardfork });
}

async function stateOf(kind: StateKind, { alloc }: Subject, common: Common): Promise<StateManagerInterface> {
  const state = kind === 'simple' ? new SimpleStateManager({ common }) : new MerkleStateManager({ common });
  await state.checkpoint();
  for (const [address, entry] of Object.entries(alloc)) {
    const account = addressOf(address as Hex);
    await state.putAccount(account, new Account(entry.nonce ?? 0n, entry.balance ?? 0n));
    if (entry.code !== undefined) await state.putCode(account, hexToBytes(entry.code));
    for (const [slot, value] of Object.entries(entry.storage ?? {})) {
      await state.putStorage(account, hexToBytes(slot), minimal(hexToBytes(value)));
    }
  }
  await state.commit();
  return state;
}

function minimal(word: Uint8Array): Uint8Array {
  const first = word.findIndex((byte) => byte !== 0);
  return first < 0 ? new Uint8Array(0) : word.slice(first);
}

const addressOf = (text: Hex): Address => new Address(hexToBytes(text));

function intrinsicOf({ call, network, context }: Subject): bigint {
  const message = { to: hexToBytes(call.to), data: hexToBytes(call.data) } as TransactionMessage;
  return intrinsicGas(message, rulesAt(network, context.number, context.timestamp));
}

/**
 * The interpreter alone: one `runCall` at each of the gas limits, with the clean-up without which a reused instance
 * counts gas wrongly.
 *
 * @returns a function that gives back the gas used by the last run, intrinsic gas included
 */
export async function bareRuns(subject: Subject): Promise<(limits: readonly bigint[]) => Promise<bigint>> {
  const common = commonOf(subject);
  const stateManager = await stateOf('simple', subject, common);
  const evm = await createEVM({ common, stateManager });
  const caller = addressOf(subject.call.from);
  const to = addressOf(subject.call.to);
  const data = hexToBytes(subject.call.data);
  const block = blockOf(subject.context);
  const intrinsic = intrinsicOf(subject);
  return async (limits) => {
    let used = 0n;
    for (const limit of limits) {
      await stateManager.checkpoint();
      const { execResult } = await evm.runCall({ caller, to, data, gasLimit: limit - intrinsic, block });
      used = execResult.executionGasUsed + intrinsic;
      await evm.journal.cleanup();
      await stateManager.revert();
      stateManager.originalStorageCache.clear();
    }
    return used;
  };
}

function blockOf(context: BlockContext) {
  const { number, timestamp, gasLimit, baseFeePerGas, prevRandao } = context;
  return {
    header: {
      number: BigInt(number),
      timestamp: BigInt(timestamp),
      gasLimit,
      baseFeePerGas,
      coinbase: new Address(context.coinbase),
      prevRandao,
      difficulty: 0n,
      getBlobGasPrice: () => 1n,
    },
  };
}

/**
 * Runs of `runTx` of @ethereumjs/vm for a search: each on the same state, taken back afterwards, without a signature to
 * check and without asking for funds.
 */
export async function transactionRuns(kind: StateKind, subject: Subject): Promise<RunWithGas> {
  const common = commonOf(subject);
  const { call, context } = subject;
  const stateManager = await stateOf(kind, subject, common);
  const vm = await createVM({ common, stateManager });
  const block = blockOf(context) as unknown as NonNullable<RunTxOpts['block']>;
  const from = addressOf(call.from);
  const intrinsic = intrinsicOf(subject);
  return async (limit) => {
    const fields = { to: call.to, data: call.data, gasLimit: limit, gasPrice: context.baseFeePerGas };
    const tx = createLegacyTx(fields, { common, freeze: false });
    tx.getSenderAddress = () => from;
    await stateManager.checkpoint();
    try {
      const options = { tx, block, skipNonce: true, skipBalance: true, skipHardForkValidation: true };
      return outcomeOf(await runTx(vm, options), intrinsic, context.baseFeePerGas);
    } finally {
      await stateManager.revert();
    }
  };
}

function outcomeOf(result: RunTxResult, intrinsic: bigint, effectiveGasPrice: bigint): TransactionOutcome {
  const { execResult, totalGasSpent } = result;
  const used = execResult.executionGasUsed + intrinsic;
  return {
    succeeded: execResult.exceptionError === undefined,
    exception: execResult.exceptionError?.error,
    gasUsed: totalGasSpent,
    gasUsedBeforeRefund: used > totalGasSpent ? used : totalGasSpent,
    executionGas: totalGasSpent,
    stateGas: 0n,
    authorizationRefund: 0n,
    effectiveGasPrice,
    returnData: execResult.returnValue,
    logs: [],
    createdAddress: undefined,
  };
}
