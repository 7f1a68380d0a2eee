import { expect, test } from 'vitest';
import type { CompleteTransaction, Conditions } from '../../src/diagnosis/diagnosed.js';
import { raisedPrice, waitingChecks } from '../../src/diagnosis/layer-one-checks.js';

const transaction = {
  from: new Uint8Array(20),
  to: new Uint8Array(20),
  value: 0n,
  data: new Uint8Array(0),
  nonce: 0n,
  gasLimit: 21_000n,
  maxFeePerGas: 100_000_000n,
  maxPriorityFeePerGas: 1_000_000n,
};
const plain: CompleteTransaction = { ...transaction, type: 2 };
const blobs: CompleteTransaction = { ...transaction, type: 3, maxFeePerBlobGas: 9n, blobVersionedHashes: [] };
const at = (baseFeePerGas: bigint, blobBaseFee: bigint) =>
  ({ context: { baseFeePerGas, blobBaseFee } }) as unknown as Conditions;

// go-ethereum@v1.17.10 core/txpool/legacypool/list.go, blobpool/blobpool.go: old × (100 + bump) / 100 in whole numbers, and more than old.
test.each<[string, CompleteTransaction, bigint, bigint]>([
  ['a tenth', plain, 100n, 110n],
  ['a tenth, rounded down', plain, 19n, 20n],
  ['a wei where a tenth is less', plain, 9n, 10n],
  ['a wei where there was nothing', plain, 0n, 1n],
  ['twice for blobs', blobs, 100n, 200n],
])('a replacement raises its prices: %s', (_, of, price, raised) => {
  expect(raisedPrice(of, price)).toBe(raised);
});

test('a blob fee below the blob base fee waits, beside the fee for gas', () => {
  const outcomes = (...on: Parameters<typeof at>) =>
    waitingChecks(blobs, at(...on)).map(({ check, outcome }) => [check, outcome]);
  expect(outcomes(99_000_000n, 9n)).toEqual([
    ['fee-cap', 'ok'],
    ['builder-tip', 'ok'],
    ['blob-fee-cap', 'ok'],
  ]);
  expect(outcomes(100_000_001n, 10n)).toEqual([
    ['fee-cap', 'fails'],
    ['blob-fee-cap', 'fails'],
  ]);
  expect(waitingChecks(plain, at(99_000_000n, 10n))).toHaveLength(2);
});

// EIP-1559: an empty block lowers the base fee by an eighth, in whole numbers: 115, 101, 89.
test('blocks until the base fee has fallen', () => {
  const low = { ...plain, maxFeePerGas: 100n };
  const reason = (baseFee: bigint) => waitingChecks(low, at(baseFee, 1n))[0]!.reason;
  expect(reason(115n)).toBe('the base fee is 15 wei above it; it falls so far in 2 blocks at least');
  expect(reason(100n)).toBeUndefined();
});

// go-ethereum@v1.17.10 miner/miner.go: DefaultConfig.GasPrice is 0.001 gwei.
test('what is left for the builder beside the base fee', () => {
  const finding = (baseFee: bigint, of = plain) =>
    waitingChecks(of, at(baseFee, 1n)).find(({ check }) => check === 'builder-tip');
  expect(finding(99_000_000n)).toMatchObject({ outcome: 'ok', found: 1_000_000n, needed: 1_000_000n });
  const short = finding(99_000_001n)!;
  expect(short).toMatchObject({ outcome: 'fails', found: 999_999n });
  expect(short.remedy).toMatch(/^maxFeePerGas to at least 100000001 wei, sign/);
  const low = finding(99_000_000n, { ...plain, maxPriorityFeePerGas: 999_999n })!;
  expect(low.remedy).toMatch(/^maxPriorityFeePerGas to at least 1000000 wei, sign/);
  const { maxFeePerGas: _, maxPriorityFeePerGas: _tip, ...rest } = plain;
  expect(finding(99_000_001n, { ...rest, type: 0, gasPrice: 100_000_000n })!.remedy).toMatch(/^gasPrice to at least/);
  expect(finding(100_000_001n)).toBeUndefined();
});
