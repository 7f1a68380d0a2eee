import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEV_ACCOUNTS, TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { GAS_SEARCHES } from '../../src/networks/gas-searches.js';
import { LINEA_MODULE_LIMITS } from '../../src/networks/module-limits.js';
import type { Hex } from '../../src/primitives/hex.js';
import { eventually } from '../support/eventually.js';
import { signTransaction, transferCalldata } from '../support/sign.js';

const FROM = DEV_ACCOUNTS[0]!.address;
const TO = DEV_ACCOUNTS[1]!.address;
const LOOP: Hex = `0x10${'00'.repeat(19)}`;
const CALL = { from: FROM, to: TEST_TOKEN, data: transferCalldata(TO, 5n) };

/** A loop of 500 000 rounds: most of the gas that a transaction may have. */
const ROUNDS = '0x5f5b600101806207a12011600157' as const;
const HASHING: Hex = `0x11${'00'.repeat(19)}`;
/** Hashes 64 KiB for as long as there is gas. */
const ENDLESS: Hex = `0x12${'00'.repeat(19)}`;
const alloc = {
  [ENDLESS]: { nonce: 1n, code: '0x5b620100005f20505f56' as Hex },
  [LOOP]: { nonce: 1n, code: `${ROUNDS}00` as Hex },
  // The hash of 137 bytes of memory.
  [HASHING]: { nonce: 1n, code: '0x60895f2000' as Hex },
};

describe('an explained estimate', () => {
  let node: PlumblineNode;
  const ask = <T>(method: string, ...params: unknown[]) =>
    node.request<UntypedMethod>({ method, params }) as Promise<T>;

  beforeAll(async () => {
    node = await createInlineNode({ chain: { kind: 'devnet', alloc } });
  });
  afterAll(() => node.close());

  test('has the three fields of the method, and the method has nothing else', async () => {
    const plain = await ask<object>('linea_estimateGas', CALL);
    expect(Object.keys(plain)).toEqual(['gasLimit', 'baseFeePerGas', 'priorityFeePerGas']);
    expect(await node.explainEstimate([CALL])).toMatchObject(plain);
  });

  test('tells the search, the size and the price in full', async () => {
    const { gasLimit, baseFeePerGas, priorityFeePerGas, evidence } = await node.explainEstimate([CALL]);
    const { gas } = evidence;
    expect(gas.search).toBe('besu');
    expect(gas.probes).toHaveLength(gas.runs);
    expect(gas.executed).toBeLessThanOrEqual(gas.runs);
    // The search begins at the cap of EIP-7825 and ends with the answer, the least that succeeded.
    expect(gas.probes[0]).toEqual({ gasLimit: '0x1000000', succeeded: true });
    const succeeded = gas.probes.filter((probe) => probe.succeeded).map((probe) => Number(probe.gasLimit));
    expect(Math.min(...succeeded)).toBe(Number(gasLimit));
    expect(Number(gas.gasUsed)).toBeLessThanOrEqual(Number(gasLimit));
    expect(evidence).toMatchObject({
      block: 0,
      trust: 'held',
      sizing: 'current',
      dictionary: { name: 'general', networkOwn: false },
      pricingModel: 'extra-data',
      pricesFromBlock: 0,
      margin: 1.2,
      baseFeeIsConstant: true,
    });
    const offered = BigInt(baseFeePerGas) + BigInt(priorityFeePerGas);
    expect(BigInt(evidence.maxFeePerGas)).toBe(offered);
    expect(BigInt(evidence.totalFee)).toBe(offered * BigInt(gasLimit));
  });

  test('names the limits that were checked with their counts, and those that cannot be', async () => {
    const { evidence } = await node.explainEstimate([{ from: FROM, to: HASHING, data: '0x01' }]);
    const { checked, unchecked } = evidence.limits;
    expect(Object.fromEntries(checked.map(({ module, limit }) => [module, limit]))).toEqual(LINEA_MODULE_LIMITS);
    const count = (name: string) => checked.find(({ module }) => module === name)!.count;
    expect(count('BLOCK_TRANSACTIONS')).toBe(1);
    expect(count('PRECOMPILE_SHA2_BLOCKS')).toBe(0);
    // Two blocks of the contract, one of the transaction, one of its sender's key.
    expect(count('BLOCK_KECCAK')).toBe(4);
    expect(unchecked).toEqual(expect.arrayContaining(['HUB', 'MMU', 'ROM']));
    expect(unchecked.filter((module) => module in LINEA_MODULE_LIMITS)).toEqual([]);
  });

  test('the size on layer 1 is that of the signed transaction, 20 bytes and 38 (docs/spec/fees.md 7)', async () => {
    const nonce = await ask<Hex>('eth_getTransactionCount', FROM, 'latest');
    const fees = { maxFeePerGas: '0x3b9aca00', maxPriorityFeePerGas: '0x3b9aca00' };
    const { gasLimit, evidence } = await node.explainEstimate([{ ...CALL, ...fees }]);
    const raw = signTransaction(0, {
      nonce: BigInt(nonce),
      to: TEST_TOKEN,
      data: CALL.data,
      gasLimit,
      maxFeePerGas: 10n ** 9n,
      maxPriorityFeePerGas: 10n ** 9n,
    });
    const size = evidence.limits.checked.find(({ module }) => module === 'BLOCK_L1_SIZE')!.count;
    // A real signature may be a byte or two shorter than the one that stands for it.
    expect(size - 58 - (raw.length - 2) / 2).toBeGreaterThanOrEqual(0);
    expect(size - 58 - (raw.length - 2) / 2).toBeLessThanOrEqual(2);
  });

  test.each(GAS_SEARCHES)('by the %s search where that is asked for', async (gasSearch) => {
    const explained = await node.explainEstimate([CALL], { gasSearch });
    expect(explained.evidence.gas.search).toBe(gasSearch);
    const withOverride = await node.explainEstimate([CALL, { [FROM]: { balance: '0xde0b6b3a7640000' } }], {
      gasSearch,
    });
    expect(withOverride.gasLimit).toBe(explained.gasLimit);
    const onBlock = await node.explainEstimate([CALL, 'latest', null], { gasSearch });
    expect(onBlock.gasLimit).toBe(explained.gasLimit);
  });

  test('a search there is none of is refused', async () => {
    const answer = node.explainEstimate([CALL], { gasSearch: 'best' as 'exact' });
    await expect(answer).rejects.toMatchObject({ code: -32602 });
  });
});

describe('what bounds an estimate', () => {
  const loop = { from: FROM, to: LOOP, data: '0x01' };
  const long = { to: ENDLESS, gas: '0x2faf080' };

  test('the search of a node is an option', async () => {
    const node = await createInlineNode({ gasSearch: 'exact' });
    const { gasLimit, evidence } = await node.explainEstimate([CALL]);
    expect(evidence.gas.search).toBe('exact');
    expect(await node.request({ method: 'eth_estimateGas', params: [CALL] })).toBe(gasLimit);
    await node.close();
  });

  test('the gas budget: an error, and the next request is answered', async () => {
    const node = await createInlineNode({ chain: { kind: 'devnet', alloc }, gasBudget: 50_000 });
    for (const method of ['linea_estimateGas', 'eth_estimateGas', 'eth_call', 'eth_createAccessList']) {
      const error = { code: -32000, message: 'execution stopped: its runs have used more than 50000 gas' };
      await expect(node.request<UntypedMethod>({ method, params: [loop] })).rejects.toMatchObject(error);
      expect(await node.request({ method: 'linea_estimateGas', params: [CALL] })).toHaveProperty('gasLimit');
    }
    await node.close();
  });

  test('the time of a request, during its execution', async () => {
    const node = await createInlineNode({ chain: { kind: 'devnet', alloc }, requestTimeoutMs: 30 });
    const answer = node.request<UntypedMethod>({ method: 'eth_call', params: [long] });
    await expect(answer).rejects.toMatchObject({ code: -32603, message: 'Timeout expired' });
    // Time that is so short may be over for this one, too, on a busy machine.
    await eventually(async () => expect(await node.request({ method: 'eth_chainId' })).toBe('0xe703'));
    await node.close();
  });

  test('its caller, and meanwhile others are answered', async () => {
    const node = await createInlineNode({ chain: { kind: 'devnet', alloc } });
    const controller = new AbortController();
    const answer = node.request<UntypedMethod>({ method: 'eth_call', params: [long] }, { signal: controller.signal });
    const refused = expect(answer).rejects.toBeDefined();
    let finished = false;
    answer.catch(() => {
      finished = true;
    });
    // It is answered in the turns between the slices of the long one.
    expect(await node.request({ method: 'linea_estimateGas', params: [CALL] })).toHaveProperty('gasLimit');
    expect(finished).toBe(false);
    controller.abort();
    await refused;
    await node.close();
  });
});
