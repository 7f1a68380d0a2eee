import { Common, Mainnet } from '@ethereumjs/common';
import { createTx } from '@ethereumjs/tx';
import { expect } from 'vitest';
import { type Alloc, AllocState } from '../../../conformance/alloc-state.js';
import { isPlumblineError } from '../../../src/errors.js';
import { loadSignerRecovery } from '../../../src/ethereum/signer.js';
import { parseSignedTransaction } from '../../../src/ethereum/transaction.js';
import type { BlockContext } from '../../../src/evm/block-context.js';
import { Machine } from '../../../src/evm/machine.js';
import { StateOverlay } from '../../../src/evm/state-overlay.js';
import { runTransaction } from '../../../src/evm/transaction.js';
import type { TransactionMessage } from '../../../src/evm/transaction-message.js';
import type { Hardfork } from '../../../src/networks/network.js';
import { bytesToHex, type Hex, hexToBytes } from '../../../src/primitives/hex.js';
import { toQuantity } from '../../../src/primitives/quantity.js';
import type { Anvil, RpcRequest } from '../anvil.js';
import { show } from './outcome.js';
import { requestOf, typeOf } from './revm-engine.js';
import { SENDER, scenario } from './scenario.js';
import { COINBASE, since } from './setting.js';

interface Receipt {
  readonly status: Hex;
  readonly gasUsed: Hex;
  readonly blockNumber: Hex;
  readonly contractAddress: Hex | null;
  readonly logs: readonly { readonly address: Hex; readonly topics: readonly Hex[]; readonly data: Hex }[];
}

type Header = Record<'number' | 'timestamp' | 'gasLimit' | 'baseFeePerGas' | 'miner' | 'mixHash' | 'difficulty', Hex>;

/** Options of anvil for `compareMined`. */
export const MINING_OPTIONS: readonly string[] = [
  '--gas-limit',
  '30000000',
  '--disable-min-priority-fee',
  '--no-mining',
  '--base-fee',
  '7',
];
const CHAIN_ID = 1;

/**
 * Signs transactions on one state, has anvil mine each in a block, and runs them with the library in the same blocks.
 * Receipts have to be the same after each, and after the last all accounts that changed.
 *
 * @returns how many were mined and succeeded
 */
export async function compareMined(anvil: Anvil, hardfork: Hardfork, seed: number, count: number): Promise<number> {
  await loadSignerRecovery();
  const { alloc, name } = scenario(hardfork, seed, { authoritiesExist: true, withoutBlobs: true });
  const snapshot = await anvil.ask<Hex>('evm_snapshot');
  await anvil.batch(requestsFor(alloc));
  const state = new StateOverlay(new AllocState(alloc));
  const common = new Common({ chain: Mainnet, hardfork });
  let nonce = BigInt(alloc[SENDER.address.toLowerCase() as Hex]!.nonce!);
  let succeeded = 0;
  for (let i = 0; i < count; i++) {
    const { message } = scenario(hardfork, seed + 1_000_003 * (i + 1), { authoritiesExist: true, withoutBlobs: true });
    const raw = signed({ ...message, nonce }, common);
    await anvil.ask('anvil_setNextBlockBaseFeePerGas', '0x7');
    const [sent] = await anvil.batch<Hex>([{ method: 'eth_sendRawTransaction', params: [bytesToHex(raw)] }]);
    const what = `${name}, transaction ${i}`;
    const expectRefusal = async (theirs: unknown) => {
      const isRefusedHere = await isRefused(await open(anvil, hardfork, state, 'latest'), raw);
      expect([what, isRefusedHere, theirs]).toEqual([what, true, theirs]);
    };
    if (sent!.error !== undefined) {
      await expectRefusal(sent!.error);
      continue;
    }
    await anvil.ask('evm_mine');
    const receipt = await anvil.ask<Receipt | null>('eth_getTransactionReceipt', sent!.result);
    if (receipt === null) {
      // Its pool takes a transaction with too little gas for its access list, and leaves it out of the block.
      await expectRefusal('left out');
      continue;
    }
    nonce++;
    const machine = await open(anvil, hardfork, state, receipt.blockNumber);
    const outcome = await runTransaction(machine, parseSignedTransaction(raw, CHAIN_ID));
    machine.close();
    const logs = outcome.logs.map(({ address, topics, data }) => {
      return { address: bytesToHex(address), topics: topics.map(bytesToHex), data: bytesToHex(data) };
    });
    // A failed creation has an address in the receipt, too.
    const created = outcome.createdAddress && bytesToHex(outcome.createdAddress);
    const ours = [outcome.succeeded, outcome.gasUsed, created, logs];
    const isDone = receipt.status === '0x1';
    const theirs = [
      isDone,
      BigInt(receipt.gasUsed),
      isDone ? (receipt.contractAddress ?? undefined) : undefined,
      receipt.logs.map(({ address, topics, data }) => ({ address, topics, data })),
    ];
    expect(`${what} ${show(ours)}`).toBe(`${what} ${show(theirs)}`);
    if (isDone) succeeded++;
  }
  await compareState(anvil, name, state);
  await anvil.ask('evm_revert', snapshot);
  return succeeded;
}

/** Sets an alloc on a state that has none of its accounts. */
function requestsFor(alloc: Alloc): RpcRequest[] {
  const requests: RpcRequest[] = [{ method: 'anvil_setCoinbase', params: [COINBASE] }];
  for (const [address, { nonce = '0x0', balance = '0x0', code = '0x', storage = {} } = {}] of Object.entries(alloc)) {
    requests.push({ method: 'anvil_setBalance', params: [address, balance] });
    requests.push({ method: 'anvil_setNonce', params: [address, nonce] });
    if (code !== '0x') requests.push({ method: 'anvil_setCode', params: [address, code] });
    for (const [slot, value] of Object.entries(storage)) {
      requests.push({ method: 'anvil_setStorageAt', params: [address, slot, value] });
    }
  }
  return requests;
}

function signed(message: TransactionMessage, common: Common): Uint8Array {
  const { input, gas, ...fields } = requestOf(message) as { input: Hex; gas: Hex };
  const type = typeOf(message);
  const data = { ...fields, data: input, gasLimit: gas, type, chainId: BigInt(CHAIN_ID) };
  return createTx(data as never, { common, allowUnlimitedInitCodeSize: true })
    .sign(hexToBytes(SENDER.privateKey))
    .serialize();
}

/** A machine for a block that anvil mined. */
async function open(anvil: Anvil, hardfork: Hardfork, state: StateOverlay, number: Hex | 'latest'): Promise<Machine> {
  const header = await anvil.ask<Header>('eth_getBlockByNumber', number, false);
  const block: BlockContext = {
    number: Number(header.number),
    timestamp: Number(header.timestamp),
    gasLimit: BigInt(header.gasLimit),
    baseFeePerGas: BigInt(header.baseFeePerGas),
    coinbase: hexToBytes(header.miner, 20),
    prevRandao: hexToBytes(header.mixHash, 32),
    ...(!since({ hardfork }, 'paris') && { difficulty: BigInt(header.difficulty) }),
    async blockHash(of) {
      const { hash } = await anvil.ask<{ hash: Hex }>('eth_getBlockByNumber', toQuantity(of), false);
      return hexToBytes(hash, 32);
    },
  };
  return Machine.open({ chainId: CHAIN_ID, forks: [{ hardfork, block: 0 }] }, block, state);
}

async function isRefused(machine: Machine, raw: Uint8Array): Promise<boolean> {
  try {
    await runTransaction(machine, parseSignedTransaction(raw, CHAIN_ID), { gasAvailable: machine.block.gasLimit });
    return false;
  } catch (error) {
    if (isPlumblineError(error, 'TRANSACTION_REJECTED') || isPlumblineError(error, 'INSUFFICIENT_FUNDS')) return true;
    throw error;
  }
}

/** Each account and slot that changed, as anvil has it now. */
async function compareState(anvil: Anvil, name: string, state: StateOverlay): Promise<void> {
  const ours: [string, Hex][] = [];
  const requests: RpcRequest[] = [];
  for (const { address, after, slots } of await state.changes()) {
    const at = bytesToHex(address);
    const code = after === undefined ? new Uint8Array(0) : await state.code(after.codeHash);
    const ask = (method: string, value: Hex, ...params: unknown[]) => {
      ours.push([`${method} ${at} ${params.join(' ')}`, value]);
      requests.push({ method, params: [at, ...params, 'latest'] });
    };
    ask('eth_getBalance', toQuantity(after?.balance ?? 0n));
    ask('eth_getTransactionCount', toQuantity(after?.nonce ?? 0n));
    ask('eth_getCode', bytesToHex(code));
    for (const { key, after: value } of slots) ask('eth_getStorageAt', bytesToHex(value), bytesToHex(key));
  }
  const replies = await anvil.batch<Hex>(requests);
  const theirs = replies.map((reply, i) => [
    ours[i]![0],
    reply.error === undefined ? reply.result : reply.error.message,
  ]);
  expect([name, ours]).toEqual([name, theirs]);
}
