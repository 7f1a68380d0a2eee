import { openMaterial } from '../../conformance/area.js';
import { visitRecorded } from '../../conformance/inclusion.js';
import type { RecordedBlock } from '../../conformance/recorded-block.js';
import type { DiagnosisParts } from '../../src/diagnosis/diagnosed.js';
import type { TransactionDiagnosis } from '../../src/diagnosis/diagnosis.js';
import type { Hex } from '../../src/primitives/hex.js';
import type { RpcContext } from '../../src/rpc/methods/context.js';
import { diagnoseTransaction } from '../../src/rpc/methods/diagnoseTransaction.js';
import { FIXTURE_DIRECTORIES, hasFixture } from './fixtures.js';

const BLOCK = 'blocks/linea-mainnet-28279206.json';
export const hasRecorded = hasFixture(BLOCK) && hasFixture('compression/dict/25-04-21.bin');

/** The answer of the method on a chain, without a node around it. */
export const ask = (parts: DiagnosisParts, transaction: unknown) =>
  diagnoseTransaction(parts as unknown as RpcContext, [transaction], {}) as Promise<TransactionDiagnosis>;

/** What is asked at the moment before the third transaction of the block, as a light node sees it. */
export async function inMoment<T>(use: (parts: DiagnosisParts, raw: Hex) => Promise<T>): Promise<T> {
  const material = openMaterial(FIXTURE_DIRECTORIES, 'simd');
  const answers: T[] = [];
  await visitRecorded(material, material.json<RecordedBlock>(BLOCK), async ({ index, transaction, parts }) => {
    if (index === 2) answers.push(await use(parts, transaction.raw));
  });
  return answers[0]!;
}
export const askThen = (transaction: unknown) => inMoment((parts) => ask(parts, transaction));

/** Fields of the third transaction, as recorded. */
export const CALL = {
  from: '0x8b5cfb62d2cf8726c6ad330bfd17911bcf22082a',
  to: '0xa6175051f9d1350597bd82721b6cd6424ce40681',
  nonce: '0x705',
  gas: '0xbe90',
  maxFeePerGas: '0x26d61b2',
  maxPriorityFeePerGas: '0x26d61ab',
  data: `0x304c44d1${'20'.padStart(64, '0')}${'41'.padStart(64, '0')}c3f0cb7e171bd3487114bbd658e450d266ff5b4654cd08ab2ff508cd9203a4800a1d88dd82df6994bde77ea89c08588ff3d5e2f5746fffde7fcda1fa1dbdfd6c1b${'0'.repeat(62)}`,
};
export const quantity = (value: number): Hex => `0x${value.toString(16)}`;
export const price = (wei: number) => ({ maxFeePerGas: quantity(wei), maxPriorityFeePerGas: quantity(wei - 7) });

/*
 * By docs/spec/fees.md 2 and 2.1: 10^9 wei per byte, 3 * 10^7 wei per gas, 160 bytes, gas limit 48784, gas used 48397 (recorded), base
 * fee 7. 160e9 / 48784 = 3279763, and 160e9 / 48397 = 3305990.
 */
export const POOL_PRICE = 7 + Math.trunc(0.8 * 33_279_763);
export const BLOCK_PRICE = 7 + 33_279_763;
export const USED_PRICE = 7 + 33_305_990;
