import type { BlockContext } from '../src/evm/block-context.js';
import { ZERO_WORD } from '../src/primitives/bytes.js';
import { type Hex, hexToBytes } from '../src/primitives/hex.js';
import type { Alloc } from './alloc-state.js';
import type { Material } from './area.js';

/** A genesis file in the form of go-ethereum. */
export interface Genesis {
  readonly config: Record<string, unknown>;
  readonly alloc: Alloc;
  readonly mixHash?: Hex;
  readonly excessBlobGas?: string;
  readonly [member: string]: unknown;
}

/** Transactions that were made for plumbline, with what was worked out about them. Quantities are hex. */
export interface Scenario {
  readonly block: Readonly<
    Record<'number' | 'timestamp' | 'coinbase' | 'baseFeePerGas' | 'prevRandao' | 'gasLimit', Hex>
  >;
  readonly transactions: readonly {
    readonly raw: Hex;
    readonly receipt: { readonly gasUsed: Hex };
    readonly environmentReads: readonly string[];
    readonly geth: Readonly<Record<'callTracer' | 'prestateTracer' | 'prestateDiff' | 'fourByte', object>>;
  }[];
  /** docs/spec/preview.md 7 and 8. */
  readonly expected: Readonly<Record<string, unknown>>;
}

export const SCENARIOS = 'tracing/scenarios';
/** Files of the scenarios' folder that are none. */
const OTHERS = ['abi.json', 'contracts.json', 'genesis.json', 'names.json'];

/** Files of the scenarios. */
export const scenarioFiles = (material: Material) =>
  material.list(SCENARIOS, /\.json$/).filter((path) => !OTHERS.some((name) => path.endsWith(`/${name}`)));

/** The block that a scenario ran in. */
export function contextOfScenario(block: Scenario['block']): BlockContext {
  return {
    number: Number(block.number),
    timestamp: Number(block.timestamp),
    gasLimit: BigInt(block.gasLimit),
    baseFeePerGas: BigInt(block.baseFeePerGas),
    coinbase: hexToBytes(block.coinbase, 20),
    prevRandao: hexToBytes(block.prevRandao, 32),
    blobBaseFee: 1n,
    blockHash: async () => ZERO_WORD,
  };
}

export const whole = (hex: string) => (hex.startsWith('0x') ? hex : `0x${hex}`).toLowerCase() as Hex;

/** Addresses in lower case, and slots as 32 bytes; some files leave out `0x`. */
export function wholeKeys(alloc: Alloc): Alloc {
  const word = (value: string): Hex => `0x${BigInt(value).toString(16).padStart(64, '0')}`;
  const entries = Object.entries(alloc).map(([address, account]) => {
    const storage = Object.entries(account?.storage ?? {}).map(([key, value]) => [word(key), word(value!)]);
    const code = whole(account?.code ?? '0x');
    return [whole(address), { ...account, code, storage: Object.fromEntries(storage) }];
  });
  return Object.fromEntries(entries);
}
