import { Common, Hardfork, Mainnet } from '@ethereumjs/common';
import { RLP } from '@ethereumjs/rlp';
import { createBlob4844Tx } from '@ethereumjs/tx';
import { sha256 } from '@noble/hashes/sha2.js';
import { describe, expect, test } from 'vitest';
import { DEV_ACCOUNTS } from '../../src/chain/devnet/state/dev-accounts.js';
import type { TransactionDiagnosis } from '../../src/diagnosis/diagnosis.js';
import { devnet } from '../../src/networks/devnet.js';
import { ethereum } from '../../src/networks/ethereum.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { attestedScene } from '../support/attested-chain.js';
import { accountAt, PRICE, stranger } from '../support/dev-node.js';
import { failing, unknown } from '../support/diagnoses.js';
import { lightScene } from '../support/light-node.js';
import { signTransaction, type Unsigned } from '../support/sign.js';

// Expected outcomes are those of geth's pool: ethereum/go-ethereum@v1.17.10 core/txpool; `interop/geth` asks geth itself.
const CHAIN_ID = 1337;
const DELEGATED = 4;
const BASE_FEE = 1_000_000_000n;
const EMPTY = stranger('11');

const sign = (fields: Partial<Unsigned> = {}, account = 0): Hex =>
  signTransaction(account, {
    chainId: CHAIN_ID,
    to: EMPTY,
    value: 1n,
    gasLimit: 21_000n,
    nonce: 0,
    maxFeePerGas: 2n * BASE_FEE,
    maxPriorityFeePerGas: PRICE.maxPriorityFeePerGas,
    ...fields,
  });

/** A light node of a layer 1 with the base fee of `BASE_FEE`; account 4 is delegated. */
async function scene() {
  const { dev, servers, carry, open, finalized, clock, slotNow, network } = await attestedScene();
  await dev.ask('anvil_setCode', accountAt(DELEGATED), `0xef0100${EMPTY.slice(2)}`);
  await dev.ask('anvil_setNextBlockBaseFeePerGas', `0x${((BASE_FEE * 8n) / 7n).toString(16)}`);
  await dev.ask('anvil_mine', 1);
  clock.advance(3_000);
  servers[0]!.attested = { block: await carry(slotNow() - 1, 7, finalized) };
  const blobs = { target: 6, max: 9, baseFeeUpdateFraction: 5_007_716n };
  const forks = network.forks.map((fork) => ({ ...fork, blobs }));
  return { dev, ...(await open({}, { network: { ...network, forks } })) };
}

const check = ({ checks }: TransactionDiagnosis, name: string) => checks.find((one) => one.check === name);

const OF_ROLLUPS = [
  'denied',
  'recipient',
  'gas-limit',
  'calldata',
  'pool-price',
  'nonce-distance',
  'base-fee',
  'line-counts',
  'uncounted-lines',
  'exclusion',
  'block-price',
  'used-price',
];

test.each<[string, Partial<Unsigned>, TransactionDiagnosis['verdict'], string[]]>([
  ['a transfer', {}, 'will-be-included', []],
  ['a call of a precompile', { to: `0x${'04'.padStart(40, '0')}`, gasLimit: 30_000n }, 'will-be-included', []],
  ['a price below the base fee', { maxFeePerGas: BASE_FEE / 2n }, 'will-wait', ['fee-cap']],
  ['an older price below it', { gasPrice: BASE_FEE - 1n }, 'will-wait', ['fee-cap']],
  ['no priority fee', { maxPriorityFeePerGas: 0n }, 'will-be-refused', ['least-price', 'builder-tip']],
  ['a priority fee of a wei', { maxPriorityFeePerGas: 1n }, 'will-wait', ['builder-tip']],
  ['a priority fee of 0.001 gwei', { maxPriorityFeePerGas: 1_000_000n }, 'will-be-included', []],
  ['a price that leaves less', { gasPrice: BASE_FEE + 999_999n }, 'will-wait', ['builder-tip']],
  ['a nonce above the next', { nonce: 1 }, 'will-wait', ['nonce-gap']],
  ['a nonce far above', { nonce: 100_000 }, 'will-wait', ['nonce-gap']],
  ['a value above the balance', { value: 10n ** 30n }, 'will-be-refused', ['funds']],
  ['too little gas', { gasLimit: 20_999n }, 'will-be-refused', ['gas-minimum']],
  ['gas above 2^24', { gasLimit: 2n ** 24n + 1n }, 'will-be-refused', ['gas-cap']],
  ['another chain', { chainId: 1 }, 'will-be-refused', ['chain-id']],
  [
    'init code of 49 153 bytes',
    { to: '0x', value: 0n, data: `0x${'00'.repeat(49_153)}`, gasLimit: 2_000_000n },
    'will-be-refused',
    ['init-code'],
  ],
])('a layer 1, as geth: %s', async (_, fields, verdict, checks) => {
  const { node, dev } = await scene();
  const answer = await node.diagnoseTransaction(sign(fields));
  expect([answer.verdict, failing(answer)]).toEqual([verdict, checks]);
  expect(answer).toMatchObject({ trust: 'attested', block: 7, limits: { checked: [], unchecked: [] } });
  for (const name of OF_ROLLUPS) expect(check(answer, name), name).toBeUndefined();
  expect(unknown(answer).filter((name) => name !== 'execution')).toEqual(['replacement']);
  expect(await dev.number()).toBe(7);
});

test('a transaction may have 131 072 bytes', async () => {
  const { node } = await scene();
  const of = (bytes: number) => sign({ data: `0x${'00'.repeat(bytes)}`, gasLimit: 2_000_000n });
  const length = (raw: Hex) => (raw.length - 2) / 2;
  const bytes = 131_072 - (length(of(131_000)) - 131_000);
  expect(length(of(bytes))).toBe(131_072);
  expect(failing(await node.diagnoseTransaction(of(bytes)))).toEqual([]);
  const answer = await node.diagnoseTransaction(of(bytes + 1));
  expect([answer.verdict, failing(answer)]).toEqual(['will-be-refused', ['size']]);
  expect(answer.nextStep).toBe('Split it: its 131073 bytes are above the 131072 that nodes take.');
});

test('how far the base fee is from a price that waits', async () => {
  const { node } = await scene();
  const answer = await node.diagnoseTransaction(sign({ maxFeePerGas: BASE_FEE / 2n }));
  const finding = check(answer, 'fee-cap')!;
  expect(finding).toMatchObject({ failure: 'waits', basis: 'header', rule: 'at least', unit: 'wei per gas' });
  expect([BigInt(finding.found!), BigInt(finding.needed!)]).toEqual([BASE_FEE / 2n, BASE_FEE]);
  // (7/8)^5 is 0.513, (7/8)^6 is 0.449.
  expect(finding.reason).toBe('the base fee is 500000000 wei above it; it falls so far in 6 blocks at least');
  expect(answer.nextStep).toBe(
    'It waits in the pool until the base fee, which is 1000000000 wei, falls to 500000000. To go sooner, raise maxFeePerGas to at least 1000000000 wei, sign again with the same nonce, and send it.',
  );
  const never = await node.diagnoseTransaction(sign({ maxFeePerGas: 1n, maxPriorityFeePerGas: 1n }));
  expect(check(never, 'fee-cap')!.reason).toMatch(/never falls so far/);
});

test('a call: gas and prices are filled in, also below the base fee, and its own gas is judged', async () => {
  const { node } = await scene();
  const call = { from: accountAt(0), to: EMPTY, value: '0x1' } as const;
  const plain = await node.diagnoseTransaction(call);
  expect([plain.verdict, failing(plain)]).toEqual(['will-be-included', []]);
  expect(plain.filled).toMatchObject({ nonce: '0x0', gas: '0x5208' });
  const low = await node.diagnoseTransaction({ ...call, maxFeePerGas: '0x5', maxPriorityFeePerGas: '0x1' });
  expect([low.verdict, failing(low)]).toEqual(['will-wait', ['fee-cap']]);
  expect(low.filled).toEqual({ nonce: '0x0', gas: '0x5208' });
  const short = await node.diagnoseTransaction({ ...call, gas: '0x5207' });
  expect([short.verdict, failing(short)]).toEqual(['will-be-refused', ['gas-minimum']]);
  const odd = await node.diagnoseTransaction({
    ...call,
    maxFeePerGas: '0xee6b2800',
    maxPriorityFeePerGas: '0xee6b2801',
  });
  expect([odd.verdict, failing(odd)]).toEqual(['will-be-refused', ['priority-fee']]);
});

describe('beside what this node sent', () => {
  test('a replacement raises both prices by 10 %', async () => {
    const { node, ask } = await scene();
    const prices = (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint) =>
      sign({ value: 2n, maxFeePerGas, maxPriorityFeePerGas });
    await ask('eth_sendRawTransaction', sign());
    const short = await node.diagnoseTransaction(prices(22n * 10n ** 8n, 11n * 10n ** 7n - 1n));
    expect([short.verdict, failing(short)]).toEqual(['will-be-refused', ['replacement']]);
    expect(failing(await node.diagnoseTransaction(prices(22n * 10n ** 8n - 1n, 11n * 10n ** 7n)))).toEqual([
      'replacement',
    ]);
    const enough = await node.diagnoseTransaction(prices(22n * 10n ** 8n, 11n * 10n ** 7n));
    expect([enough.verdict, failing(enough)]).toEqual(['will-be-included', []]);
  });

  test('the balance covers all of them', async () => {
    const { node, ask } = await scene();
    const ether = 10n ** 18n;
    await ask('eth_sendRawTransaction', sign({ value: 6_000n * ether }));
    const second = await node.diagnoseTransaction(sign({ nonce: 1, value: 5_000n * ether }));
    expect([second.verdict, failing(second)]).toEqual(['will-be-refused', ['funds']]);
    expect(check(second, 'funds')).toMatchObject({ reason: 'with 1 pending of the account' });
    const less = await node.diagnoseTransaction(sign({ nonce: 1, value: 3_000n * ether }));
    expect([less.verdict, failing(less)]).toEqual(['will-be-included', []]);
    const instead = await node.diagnoseTransaction(
      sign({ value: 5_000n * ether, maxFeePerGas: 3n * BASE_FEE, maxPriorityFeePerGas: BASE_FEE }),
    );
    expect(failing(instead)).toEqual([]);
  });

  test('one with blobs is refused beside one without', async () => {
    const { node, ask } = await scene();
    await ask('eth_sendRawTransaction', sign());
    const answer = await node.diagnoseTransaction(typeThree(1, { nonce: 1 }));
    expect([answer.verdict, failing(answer)]).toEqual(['will-be-refused', ['sidecar', 'other-pool']]);
  });
});

test('of a delegated account nodes take the next transaction alone', async () => {
  const { node } = await scene();
  const next = await node.diagnoseTransaction(sign({ nonce: 0 }, DELEGATED));
  expect([next.verdict, failing(next)]).toEqual(['will-be-included', []]);
  const later = await node.diagnoseTransaction(sign({ nonce: 1 }, DELEGATED));
  expect([later.verdict, failing(later)]).toEqual(['will-be-refused', ['delegated-sender', 'nonce-gap']]);
  expect(check(later, 'delegated-sender')).toMatchObject({ found: '0x1', needed: '0x0', basis: 'state' });
});

/** Of a blob of zeros: the point at infinity. */
const COMMITMENT = hexToBytes(`0xc0${'00'.repeat(47)}`);

const common = new Common({
  chain: { ...Mainnet, chainId: CHAIN_ID },
  hardfork: Hardfork.Prague,
  // Signing needs nothing of KZG, but the class asks for it.
  customCrypto: { kzg: {} as never },
});

/** With the hashes of blobs, and without the blobs. */
function typeThree(blobs: number, fields: { nonce?: number; maxFeePerBlobGas?: bigint } = {}): Hex {
  const data = {
    nonce: 0,
    gasLimit: 21_000n,
    to: EMPTY,
    maxFeePerGas: 2n * BASE_FEE,
    maxPriorityFeePerGas: 10n ** 8n,
    maxFeePerBlobGas: 1n,
    blobVersionedHashes: Array<Hex>(blobs).fill(`0x01${bytesToHex(sha256(COMMITMENT)).slice(4)}`),
    ...fields,
  };
  const key = hexToBytes(DEV_ACCOUNTS[0]!.privateKey);
  return bytesToHex(createBlob4844Tx(data, { common }).sign(key).serialize());
}

/** As it is sent (EIP-7594): a version, blobs of zeros and their commitments. The proofs are left out: nobody checks them here. */
function withSidecar(raw: Hex): Hex {
  const payload = RLP.decode(hexToBytes(`0x${raw.slice(4)}`)) as Uint8Array[][];
  const blobs = payload[10]!.map(() => new Uint8Array(131_072));
  return `0x03${bytesToHex(RLP.encode([payload, 1, blobs, blobs.map(() => COMMITMENT), []])).slice(2)}`;
}

describe('blobs', () => {
  test('six at most', async () => {
    const { node } = await scene();
    expect(failing(await node.diagnoseTransaction(withSidecar(typeThree(6))))).toEqual([]);
    const answer = await node.diagnoseTransaction(withSidecar(typeThree(7)));
    expect([answer.verdict, failing(answer)]).toEqual(['will-be-refused', ['blobs']]);
    expect(check(answer, 'blobs')).toMatchObject({ found: '0x7', needed: '0x6', unit: 'blobs' });
  });

  test('they do not wait for the nonces before', async () => {
    const { node } = await scene();
    const answer = await node.diagnoseTransaction(withSidecar(typeThree(1, { nonce: 1 })));
    expect([answer.verdict, failing(answer)]).toEqual(['will-be-refused', ['blob-nonce', 'nonce-gap']]);
    expect(check(answer, 'blob-nonce')).toMatchObject({ found: '0x1', needed: '0x0' });
  });

  test('they come along, and cost a wei at least', async () => {
    const { node } = await scene();
    const bare = await node.diagnoseTransaction(typeThree(1));
    expect([bare.verdict, failing(bare)]).toEqual(['will-be-refused', ['sidecar']]);
    const whole = await node.diagnoseTransaction(withSidecar(typeThree(1)));
    expect([whole.verdict, check(whole, 'sidecar')!.outcome]).toEqual(['will-be-included', 'unknown']);
    expect(check(whole, 'blob-fee-cap')).toMatchObject({ outcome: 'ok', found: '0x1', needed: '0x1' });
    const free = await node.diagnoseTransaction(withSidecar(typeThree(1, { maxFeePerBlobGas: 0n })));
    expect([free.verdict, failing(free)]).toEqual(['will-be-refused', ['least-price', 'blob-fee-cap']]);
  });
});

test('an unknown hash: nobody is asked whether it was excluded', async () => {
  const { node } = await scene();
  const answer = await node.diagnoseTransaction(`0x${'12'.repeat(32)}`);
  expect(answer).toMatchObject({ verdict: 'cannot-tell', origin: 'none', checks: [] });
});

test('under Amsterdam a light node finds the limit too, by proofs', async () => {
  const writer = stranger('f5');
  // PUSH1 1, PUSH1 slot, SSTORE for slots 1 to 5; figures as in diagnose-amsterdam.test.ts
  const code = `0x${[1, 2, 3, 4, 5].map((slot) => `6001600${slot}55`).join('')}` as Hex;
  const rules = devnet({ hardfork: 'amsterdam' });
  const { layerOne: _, ...layerOne } = ethereum;
  const { light } = await lightScene({
    dev: { chain: { kind: 'devnet', network: rules, mining: 'manual', alloc: { [writer]: { nonce: 1n, code } } } },
    chain: { network: { ...layerOne, chainId: rules.chainId, forks: rules.forks }, layerOne: undefined as never },
  });
  const fields = { chainId: rules.chainId, to: writer, value: 0n };
  const answer = await light.diagnoseTransaction(sign({ ...fields, gasLimit: 565_129n }));
  expect([answer.verdict, failing(answer)]).toEqual(['will-be-included', ['state-gas', 'execution']]);
  expect(Number(check(answer, 'state-gas')!.needed)).toBe(565_130);
  // Above 2^24, which no check of a layer 1 forbids any more.
  const above = await light.diagnoseTransaction(sign({ ...fields, gasLimit: 2n ** 24n + 1n }));
  expect([above.verdict, failing(above)]).toEqual(['will-be-included', []]);
});
