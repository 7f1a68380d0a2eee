import { type Alloc, AllocState } from '../../conformance/alloc-state.js';
import type { BlockContext } from '../../src/evm/block-context.js';
import { Machine } from '../../src/evm/machine.js';
import { StateOverlay } from '../../src/evm/state-overlay.js';
import type { StateReader } from '../../src/evm/state-reader.js';
import type { TransactionMessage } from '../../src/evm/transaction-message.js';
import type { Hardfork } from '../../src/networks/network.js';
import { type Hex, hexToBytes } from '../../src/primitives/hex.js';

/** The forks that change execution, in their order, up to the last one that @ethereumjs/vm has. */
export const FORKS = [
  'chainstart',
  'homestead',
  'tangerineWhistle',
  'spuriousDragon',
  'byzantium',
  'constantinople',
  'petersburg',
  'istanbul',
  'berlin',
  'london',
  'paris',
  'shanghai',
  'cancun',
  'prague',
  'osaka',
] as const satisfies readonly Hardfork[];

/** Published example of contract addresses: what this sender creates at nonce 0 and 1. */
export const SENDER: Hex = '0x6ac7ea33f8831ea9dcc53393aaa88b25a785dbf0';
export const FIRST_CREATED: Hex = '0xcd234a471b72ba2f1ccf0a70fcaba648a5eecd8d';
export const SECOND_CREATED: Hex = '0x343c43a37d37dff08ae8c4a11544c718abb4fcf8';

export const CONTRACT: Hex = '0x00000000000000000000000000000000000c0de1';
export const STRANGER: Hex = '0x2000000000000000000000000000000000000002';
export const COINBASE: Hex = '0x8f81e2e3f8b46467523463835f965ffe476e1c9e';
export const ETHER = 10n ** 18n;

export const SLOT_0: Hex = `0x${'00'.repeat(32)}`;

export function networkAt(hardfork: Hardfork, chainId = 1) {
  return { chainId, forks: [{ hardfork, block: 0 }], rpcGasCap: 50_000_000n };
}

export function blockContext(overrides: Partial<BlockContext> = {}): BlockContext {
  return {
    number: 100,
    timestamp: 1_700_000_000,
    gasLimit: 2_000_000_000n,
    baseFeePerGas: 7n,
    coinbase: hexToBytes(COINBASE),
    prevRandao: new Uint8Array(32),
    blockHash: async (number) => new Uint8Array(32).fill(number % 256),
    ...overrides,
  };
}

/** A rich sender, and a contract with this code. */
export function allocWith(code: Hex, storage?: Record<Hex, Hex>): Alloc {
  return { [SENDER]: { balance: `0x${ETHER.toString(16)}` }, [CONTRACT]: { nonce: '0x1', code, storage } };
}

export async function openMachine(
  alloc: Alloc | StateReader,
  hardfork: Hardfork = 'osaka',
  block: Partial<BlockContext> = {},
): Promise<Machine> {
  const reader = 'account' in alloc ? (alloc as StateReader) : new AllocState(alloc as Alloc);
  return Machine.open(networkAt(hardfork), blockContext(block), new StateOverlay(reader));
}

export function message(overrides: Partial<TransactionMessage> = {}): TransactionMessage {
  return {
    from: hexToBytes(SENDER),
    to: hexToBytes(CONTRACT),
    nonce: 0n,
    gasLimit: 1_000_000n,
    gasPrice: 7n,
    value: 0n,
    data: new Uint8Array(0),
    ...overrides,
  };
}
