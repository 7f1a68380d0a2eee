import { createRequire } from 'node:module';
import { Common, Mainnet } from '@ethereumjs/common';
import { SimpleStateManager } from '@ethereumjs/statemanager';
import { createTx } from '@ethereumjs/tx';
import { Account, Address, type PrefixedHexString } from '@ethereumjs/util';
import { createVM, type RunTxOpts, type RunTxResult, runTx } from '@ethereumjs/vm';
import { padStart } from '../../../src/primitives/bytes.js';
import type { AccessListEntry } from '../../../src/primitives/call-request.js';
import { bytesToHex, type Hex, hexToBytes } from '../../../src/primitives/hex.js';
import { type AccountState, differencesFrom, endOf, type Outcome } from './outcome.js';
import { scenarioBlock } from './plumbline-engine.js';
import { requestOf, typeOf } from './revm-engine.js';
import type { Scenario } from './scenario.js';

const { createBlock } = createRequire(import.meta.resolve('@ethereumjs/vm'))('@ethereumjs/block') as {
  createBlock: (data: unknown, options: unknown) => NonNullable<RunTxOpts['block']>;
};

/** What only this engine says beside the outcome. */
export interface EthereumjsRun {
  readonly outcome: Outcome;
  readonly exception: string | undefined;
  readonly gasUsedBeforeRefund: bigint;
  /** Addresses, and addresses with keys, that were not warm from the start. In ascending order. */
  readonly touched: readonly string[];
}

/** Runs the transaction of a scenario with @ethereumjs/vm on a state of its own. */
export async function runEthereumjs({ alloc, message, hardfork }: Scenario): Promise<EthereumjsRun> {
  // It asks for a KZG library to make a transaction with blobs, and uses it for point evaluation alone.
  const customCrypto = { kzg: {} as never };
  const common = new Common({ chain: { ...Mainnet, chainId: 1 }, hardfork, customCrypto });
  const stateManager = new SimpleStateManager({ common });
  for (const [key, entry] of Object.entries(alloc)) {
    const address = new Address(hexToBytes(key, 20));
    await stateManager.putAccount(address, new Account(BigInt(entry?.nonce ?? 0), BigInt(entry?.balance ?? 0)));
    if (entry?.code !== undefined && entry.code !== '0x') await stateManager.putCode(address, hexToBytes(entry.code));
    for (const [slot, value] of Object.entries(entry?.storage ?? {})) {
      await stateManager.putStorage(address, hexToBytes(slot), trimmed(value!));
    }
  }
  const block = scenarioBlock(hardfork);
  const getBlock = async (of: number) => {
    const hash = await block.blockHash(of);
    return { hash: () => hash };
  };
  const blockchain = { getBlock };
  const vm = await createVM({
    common,
    stateManager,
    blockchain: { ...blockchain, shallowCopy: () => blockchain } as never,
  });
  const { number, timestamp, gasLimit, baseFeePerGas, coinbase, prevRandao } = block;
  const header = { number, timestamp, gasLimit, baseFeePerGas, coinbase, mixHash: prevRandao };
  const { input, gas, ...fields } = requestOf(message) as { input: Hex; gas: Hex } & Record<string, unknown>;
  const type = typeOf(message);
  let result: RunTxResult;
  let intrinsic: bigint;
  try {
    const data = { ...fields, data: input, gasLimit: gas, type, chainId: 1n };
    const tx = createTx(data as never, { common, freeze: false, allowUnlimitedInitCodeSize: false });
    tx.getSenderAddress = () => new Address(message.from);
    tx.isSigned = () => true;
    intrinsic = tx.getIntrinsicGas();
    const made = createBlock({ header }, { common, skipConsensusFormatValidation: true });
    result = await runTx(vm, { tx, block: made, reportAccessList: true, skipHardForkValidation: true });
  } catch (error) {
    if (!isRefusal(error)) throw error;
    return { outcome: { refused: true }, exception: undefined, gasUsedBeforeRefund: 0n, touched: [] };
  }
  const { execResult, totalGasSpent } = result;
  const used = intrinsic + execResult.executionGasUsed;
  const gasUsedBeforeRefund = used > totalGasSpent ? used : totalGasSpent;
  const exception = execResult.exceptionError?.error.split(' at ')[0];
  const data = bytesToHex(execResult.returnValue);
  const ended = endOf(exception === undefined, exception === 'revert', data, message.gasLimit - gasUsedBeforeRefund);
  const logs = (exception === undefined ? (execResult.logs ?? []) : []).map(([address, topics, data]) => {
    return { address: bytesToHex(address), topics: topics.map(bytesToHex), data: bytesToHex(data) };
  });
  const outcome: Outcome = {
    ended,
    gasUsed: totalGasSpent,
    returnData: ended === 'halt' ? '0x' : data,
    logs,
    state: differencesFrom(alloc, stateIn(stateManager)),
  };
  const touched = touchedBeside(message.accessList ?? [], result.accessList ?? []);
  return { outcome, exception, gasUsedBeforeRefund, touched };
}

/** What a run touched, without what the transaction lists: @ethereumjs/vm names that too. As text, in ascending order. */
function touchedBeside(listed: readonly AccessListEntry[], touched: NonNullable<RunTxResult['accessList']>): string[] {
  const known = new Set(
    listed.flatMap(({ address, storageKeys }) => {
      return [bytesToHex(address), ...storageKeys.map((key) => bytesToHex(address) + bytesToHex(key))];
    }),
  );
  return touched
    .flatMap(({ address, storageKeys }) => [address, ...storageKeys.map((key) => address + key)])
    .filter((name) => !known.has(name))
    .sort();
}

function isRefusal(error: unknown): boolean {
  return error instanceof Error && /gas limit|gasLimit|intrinsic|initcode|balance|floor/i.test(error.message);
}

function trimmed(value: Hex): Uint8Array {
  const bytes = hexToBytes(value, 32);
  const first = bytes.findIndex((byte) => byte !== 0);
  return first < 0 ? new Uint8Array(0) : bytes.slice(first);
}

function stateIn(manager: SimpleStateManager): Map<Hex, AccountState | 'gone'> {
  const last = <T>(stack: readonly Map<string, T>[]) => stack[stack.length - 1]!;
  const accounts = last(manager.accountStack as Map<PrefixedHexString, Account | undefined>[]);
  const slots = new Map<string, Record<Hex, Hex>>();
  for (const [name, value] of last(manager.storageStack)) {
    const [address, key] = name.split('_') as [string, string];
    const of = slots.get(address) ?? {};
    of[`0x${BigInt(key).toString(16).padStart(64, '0')}`] = bytesToHex(padStart(value, 32));
    slots.set(address, of);
  }
  const state = new Map<Hex, AccountState | 'gone'>();
  for (const [address, account] of accounts) {
    const codeHash = account && bytesToHex(account.codeHash);
    const { nonce = 0n, balance = 0n } = account ?? {};
    state.set(
      address as Hex,
      account === undefined ? 'gone' : { nonce, balance, codeHash, slots: slots.get(address) ?? {} },
    );
  }
  return state;
}
