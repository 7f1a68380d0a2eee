import { describe, expect, test } from 'vitest';
import type { Hex } from '../../src/primitives/hex.js';
import { accountAt, devNode, stranger } from '../support/dev-node.js';
import { CASES, failing, manual, REVERTS, RIPEMD, sign, unknown } from '../support/diagnoses.js';

describe('a devnet', () => {
  // The pool of the devnet is the judge: it refuses what is to be refused, and seals what is to be included.
  test.each(CASES)('does with %s what the diagnosis says', async (_, transaction, verdict, checks) => {
    const { node, ask } = await devNode(manual);
    const raw = transaction();
    const answer = await node.diagnoseTransaction(raw);
    expect([answer.verdict, failing(answer)]).toEqual([verdict, expect.arrayContaining([...checks])]);
    expect(failing(answer)).toHaveLength(checks.length);
    expect(answer).toMatchObject({ origin: 'raw', trust: 'held', block: 0 });
    if (verdict === 'will-be-refused') {
      await expect(ask('eth_sendRawTransaction', raw)).rejects.toMatchObject({ code: expect.any(Number) });
      return;
    }
    const hash = await ask<Hex>('eth_sendRawTransaction', raw);
    expect(answer.hash).toBe(hash);
    expect(await node.diagnoseTransaction(hash)).toMatchObject({ verdict, origin: 'pool' });
    await ask('evm_mine');
    const receipt = await ask<{ blockHash: Hex } | null>('eth_getTransactionReceipt', hash);
    expect(receipt === null).toBe(verdict === 'will-wait');
    if (receipt === null) return;
    for (const later of [await node.diagnoseTransaction(hash), await node.diagnoseTransaction(raw)])
      expect(later).toMatchObject({
        verdict: 'included',
        origin: 'block',
        included: { blockNumber: 1, blockHash: receipt.blockHash, transactionIndex: 0 },
        checks: [],
      });
  });

  test('a transaction that counts more lines than the prover has', async () => {
    const { node } = await devNode(manual);
    const raw = sign({ to: RIPEMD, value: 0n, gasLimit: 60_000n });
    const answer = await node.diagnoseTransaction(raw);
    expect([answer.verdict, failing(answer)]).toEqual(['will-be-refused', ['line-counts']]);
    const check = answer.checks.find(({ check }) => check === 'line-counts');
    // One block of RIPEMD-160; docs/spec/fees.md 7 allows none.
    expect(check).toMatchObject({
      found: '0x1',
      needed: '0x0',
      reason: 'PRECOMPILE_RIPEMD_BLOCKS',
      basis: 'execution',
    });
    expect(answer.nextStep).toContain('PRECOMPILE_RIPEMD_BLOCKS counts 1, a block may have 0');
    expect(answer.limits.unchecked).toContain('HUB');
    const call = await node.diagnoseTransaction({ from: accountAt(0), to: RIPEMD });
    expect([call.verdict, failing(call)]).toEqual(['will-be-refused', ['line-counts']]);
  });

  test('a nonce that another transaction has used', async () => {
    const { node, transfer } = await devNode({ chain: { ...manual.chain, mining: 'auto' } });
    await transfer(0, { nonce: 0, value: 5n });
    const answer = await node.diagnoseTransaction(sign());
    expect([answer.verdict, failing(answer)]).toEqual(['will-be-refused', ['nonce-used']]);
  });

  test('a pending transaction of an impersonated contract has no signature to check', async () => {
    const { node, ask } = await devNode(manual);
    await ask('anvil_impersonateAccount', REVERTS);
    await ask('anvil_setBalance', REVERTS, '0xde0b6b3a7640000');
    const hash = await ask<Hex>('eth_sendTransaction', { from: REVERTS, to: stranger('11'), gas: '0x5208' });
    const answer = await node.diagnoseTransaction(hash);
    expect(answer).toMatchObject({ verdict: 'will-be-included', origin: 'pool', from: REVERTS });
    expect(answer.checks.map(({ check }) => check)).not.toContain('signature');
    const call = await node.diagnoseTransaction({
      from: REVERTS,
      to: stranger('11'),
      gas: '0x5208',
      gasPrice: '0x3b9aca00',
    });
    expect([call.verdict, failing(call)]).toEqual(['will-be-refused', ['sender']]);
  });

  test('a gap that pending transactions fill', async () => {
    const { node, transfer } = await devNode(manual);
    await transfer(0, { nonce: 0 });
    expect((await node.diagnoseTransaction(sign({ nonce: 1 }))).verdict).toBe('will-be-included');
    const later = await node.diagnoseTransaction(sign({ nonce: 3 }));
    expect(later.verdict).toBe('will-wait');
    expect(later.nextStep).toMatch(/^Send the transaction with nonce 1 first/);
    expect((await node.diagnoseTransaction({ from: accountAt(0), to: stranger('11') })).filled.nonce).toBe('0x1');
  });

  test('a replacement, which must pay 10 % more in both prices', async () => {
    const { node, transfer, ask } = await devNode(manual);
    await transfer(0, { nonce: 0 });
    const fees = (maxFeePerGas: bigint, maxPriorityFeePerGas: bigint) =>
      sign({ value: 2n, maxFeePerGas, maxPriorityFeePerGas });
    const enough = [11n * 10n ** 8n, 11n * 10n ** 7n] as const;
    const short = await node.diagnoseTransaction(fees(enough[0], enough[1] - 1n));
    expect([short.verdict, failing(short)]).toEqual(['will-be-refused', ['replacement']]);
    expect(short.nextStep).toContain('maxPriorityFeePerGas to at least 110000000 wei');
    expect(failing(await node.diagnoseTransaction(fees(enough[0] - 1n, enough[1])))).toEqual(['replacement']);
    await expect(ask('eth_sendRawTransaction', fees(enough[0] - 1n, enough[1]))).rejects.toThrow();
    expect((await node.diagnoseTransaction(fees(...enough))).verdict).toBe('will-be-included');
  });

  test('a call: what is left out is filled in, and a revert is named', async () => {
    const { node, ask } = await devNode(manual);
    const call = { from: accountAt(0), to: stranger('11'), value: '0x1' };
    const fees = await ask<{ gasLimit: Hex; priorityFeePerGas: Hex }>('linea_estimateGas', call);
    const answer = await node.diagnoseTransaction(call);
    expect(answer).toMatchObject({ verdict: 'will-be-included', origin: 'call', from: accountAt(0), nonce: '0x0' });
    expect(answer.hash).toBeUndefined();
    expect(answer.filled).toMatchObject({
      nonce: '0x0',
      gas: fees.gasLimit,
      maxPriorityFeePerGas: fees.priorityFeePerGas,
    });
    const reverting = await node.diagnoseTransaction({ from: accountAt(0), to: REVERTS });
    expect([reverting.verdict, failing(reverting)]).toEqual(['cannot-tell', ['execution']]);
    expect(unknown(reverting)).toEqual(expect.arrayContaining(['gas-limit', 'pool-price', 'funds']));
    expect(reverting.nextStep).toContain('execution reverted');
    const poor = await node.diagnoseTransaction({ ...call, value: '0xffffffffffffffffffffffff' });
    expect([poor.verdict, failing(poor)]).toEqual(['will-be-refused', expect.arrayContaining(['funds'])]);
    const named = await node.diagnoseTransaction({ ...call, maxFeePerGas: '0x3b9aca00' });
    expect(Object.keys(named.filled).sort()).toEqual(['gas', 'maxPriorityFeePerGas', 'nonce']);
    expect(named.verdict).toBe('will-be-included');
    const capped = await node.diagnoseTransaction({ ...call, gas: '0x5208', maxFeePerGas: '0x3b9aca00' });
    expect(capped.filled).toEqual({ nonce: '0x0', maxPriorityFeePerGas: fees.priorityFeePerGas });
    // Without a recipient there can be no authorizations (EIP-7702): the estimate refuses it, and that is no failure of the method.
    const signed = { chainId: '0xe703', address: stranger('ee'), nonce: '0x0', yParity: '0x0', r: '0x1', s: '0x1' };
    const authorizationList = [signed];
    const odd = await node.diagnoseTransaction({ from: accountAt(0), data: '0x00', authorizationList });
    expect(odd.verdict).toBe('will-be-refused');
  });

  test('what it refused once it may accept now, and a hash alone says what was wrong then', async () => {
    const { node, ask } = await devNode(manual);
    const raw = sign({ value: 10n ** 23n });
    await expect(ask('eth_sendRawTransaction', raw)).rejects.toThrow();
    const { hash } = await node.diagnoseTransaction(raw);
    const before = await node.diagnoseTransaction(hash!);
    expect(before).toMatchObject({ verdict: 'will-be-refused', origin: 'none' });
    expect(before.checks).toMatchObject([{ check: 'exclusion', outcome: 'fails', basis: 'pool' }]);
    await ask('hardhat_setBalance', accountAt(0), `0x${(10n ** 24n).toString(16)}`);
    expect((await node.diagnoseTransaction(raw)).verdict).toBe('will-be-included');
    const nothing = await node.diagnoseTransaction(`0x${'12'.repeat(32)}`);
    expect(nothing).toMatchObject({ verdict: 'cannot-tell', origin: 'none', block: null });
  });

  test.each<[unknown, string]>([
    ['0x', 'will-be-refused'],
    ['0xzz', 'throws'],
    [5, 'throws'],
    [null, 'throws'],
    [{ to: stranger('11') }, 'throws'],
    [{ from: '0x1' }, 'throws'],
  ])('of %j: %s', async (value, expected) => {
    const { node } = await devNode(manual);
    const answer = node.diagnoseTransaction(value as Hex);
    if (expected === 'throws') await expect(answer).rejects.toMatchObject({ code: -32602 });
    else expect((await answer).verdict).toBe(expected);
  });
});
