import { describe, expect, test } from 'vitest';
import { CASES, failing, manual, profile, sign, unknown } from '../support/diagnoses.js';
import { lightScene } from '../support/light-node.js';

describe('a light node', () => {
  const rules = { ...profile, blockMargin: 1 };
  const scene = () => lightScene({ dev: manual, chain: { network: rules } });

  test.each(CASES)('says of %s what a devnet says', async (_, transaction, verdict, checks) => {
    const { light } = await scene();
    const answer = await light.diagnoseTransaction(transaction());
    const own = failing(answer).filter((check) => check !== 'block-price' && check !== 'used-price');
    expect([answer.verdict, own.sort()]).toEqual([verdict, [...checks].sort()]);
    expect(answer).toMatchObject({ origin: 'raw', trust: 'linked', block: 0 });
    expect(unknown(answer)).toContain('replacement');
    expect(answer.checks.find(({ check }) => check === 'exclusion')).toMatchObject({
      outcome: 'ok',
      basis: 'endpoint',
    });
  });

  test('a transaction in the pool of an endpoint, by its hash', async () => {
    const { light, dev, endpoints, clock } = await scene();
    const hash = await dev.transfer(0, { nonce: 0 });
    expect(await light.diagnoseTransaction(hash)).toMatchObject({
      verdict: 'will-be-included',
      origin: 'endpoint',
      hash,
    });
    const waiting = await dev.transfer(0, { nonce: 2 });
    expect(await light.diagnoseTransaction(waiting)).toMatchObject({ verdict: 'will-wait', origin: 'endpoint' });
    // Another transaction under the hash that was asked for is not believed.
    for (const { options } of endpoints)
      options.tamper = ({ method }, result) =>
        method === 'eth_getTransactionByHash' && result !== null ? { ...(result as object), value: '0x2' } : result;
    expect(await light.diagnoseTransaction(waiting)).toMatchObject({ verdict: 'cannot-tell', origin: 'none' });
    for (const { options } of endpoints) options.tamper = (_, result) => result;
    await dev.ask('evm_mine');
    clock.advance(5_000);
    expect(await light.diagnoseTransaction(hash)).toMatchObject({ verdict: 'included', included: { blockNumber: 1 } });
  });

  test('a transaction that an endpoint says was excluded', async () => {
    const { light, endpoints } = await scene();
    const raw = sign();
    const { hash, from } = await light.diagnoseTransaction(raw);
    for (const { options } of endpoints)
      options.tamper = ({ method }, result) =>
        method !== 'linea_getTransactionExclusionStatusV1'
          ? result
          : {
              txHash: hash,
              from,
              nonce: '0x0',
              txRejectionStage: 'SEQUENCER',
              reasonMessage: 'sender is blocked as appearing on the SDN list',
              blockNumber: '0x1',
              timestamp: '2026-01-25T01:42:20Z',
            };
    for (const asked of [raw, hash!]) {
      const answer = await light.diagnoseTransaction(asked);
      expect([answer.verdict, failing(answer)]).toEqual(['will-be-refused', ['exclusion']]);
      expect(answer.checks.find(({ check }) => check === 'exclusion')).toMatchObject({ basis: 'endpoint' });
      expect(answer.nextStep).toContain('an endpoint says: SEQUENCER for block 1: sender is blocked');
    }
  });

  test('what no endpoint answers is unknown; a hash cannot be looked up at all', async () => {
    const { light, endpoints, clock } = await scene();
    await light.request({ method: 'eth_blockNumber' });
    for (const endpoint of endpoints) await endpoint.close();
    clock.advance(60_000);
    const answer = await light.diagnoseTransaction(sign({ chainId: 59_139 }));
    expect(answer.verdict).toBe('cannot-tell');
    expect(unknown(answer)).toEqual(expect.arrayContaining(['nonce-used', 'funds', 'pool-price', 'exclusion']));
    expect(failing(answer)).toEqual([]);
    await expect(light.diagnoseTransaction(`0x${'12'.repeat(32)}`)).rejects.toMatchObject({ code: -32000 });
  });
});
