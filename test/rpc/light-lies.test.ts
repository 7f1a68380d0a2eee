import { describe, expect, test } from 'vitest';
import { TEST_TOKEN } from '../../src/chain/devnet/state/dev-accounts.js';
import type { Hex } from '../../src/primitives/hex.js';
import { accountAt, stranger, word } from '../support/dev-node.js';
import { lightScene } from '../support/light-node.js';
import { inProofOf, type SeenCall } from '../support/mock-chain.js';
import { transferCalldata } from '../support/sign.js';

const lies: Record<string, (call: SeenCall, result: unknown) => unknown> = {
  balance: inProofOf(accountAt(0), (proof) => {
    proof.balance = '0x1';
  }),
  nonce: inProofOf(accountAt(0), (proof) => {
    proof.nonce = '0x7';
  }),
  'code hash': inProofOf(TEST_TOKEN, (proof) => {
    proof.codeHash = word(1n);
  }),
  'account said to be missing': inProofOf(TEST_TOKEN, (proof) => {
    proof.accountProof = proof.accountProof.slice(0, 1);
  }),
  'no proof at all': inProofOf(TEST_TOKEN, (proof) => {
    proof.accountProof = [];
  }),
  'storage value': inProofOf(TEST_TOKEN, (proof) => {
    for (const slot of proof.storageProof) slot.value = '0x1';
  }),
  'empty storage proof': inProofOf(TEST_TOKEN, (proof) => {
    for (const slot of proof.storageProof) Object.assign(slot, { proof: [], value: '0x0' });
  }),
  'a storage proof left out': inProofOf(TEST_TOKEN, (proof) => {
    proof.storageProof.pop();
  }),
  code: ({ method, params }, result) =>
    method === 'eth_getCode' && params[0] === TEST_TOKEN ? `${result as Hex}00` : result,
  'no code': ({ method, params }, result) => (method === 'eth_getCode' && params[0] === TEST_TOKEN ? '0x' : result),
};

const call = { from: accountAt(0), to: TEST_TOKEN, data: transferCalldata(stranger('31'), 5n) };

describe('lies about state', () => {
  test.each(Object.entries(lies))('%s: the other endpoint is believed, or none', async (_, tamper) => {
    const scene = await lightScene({ endpoints: [{ tamper }, {}] });
    const expected = await scene.dev.ask('linea_estimateGas', call);
    expect(await scene.ask('linea_estimateGas', call)).toEqual(expected);

    scene.endpoints[1]!.options.tamper = tamper;
    const deceived = await scene.open();
    await expect(deceived.request({ method: 'linea_estimateGas', params: [call] })).rejects.toMatchObject({
      code: -32000,
    });
  });

  // A hint decides what is asked for early, and nothing else.
  test.each([
    ['nothing', () => ({ accessList: [], gasUsed: '0x0' })],
    [
      'a slot less',
      (list: { accessList: { storageKeys: Hex[] }[] }) => {
        list.accessList[0]?.storageKeys.pop();
        return list;
      },
    ],
    ['strangers', () => ({ accessList: [{ address: stranger('99'), storageKeys: [word(1n)] }], gasUsed: '0x0' })],
    ['what is no list', () => 'none'],
    ['what is no address', () => ({ accessList: [{ address: '0x12', storageKeys: 7 }] })],
  ])('an access list with %s changes no answer', async (_, change) => {
    const tamper = ({ method }: SeenCall, result: unknown) =>
      method === 'eth_createAccessList' ? change(result as never) : result;
    const scene = await lightScene({ endpoints: [{ tamper }, { tamper }] });
    expect(await scene.ask('linea_estimateGas', call)).toEqual(await scene.dev.ask('linea_estimateGas', call));
  });

  test('with access lists switched off no endpoint is sent the call', async () => {
    const scene = await lightScene({ chain: { accessLists: false } });
    expect(await scene.ask('linea_estimateGas', call)).toEqual(await scene.dev.ask('linea_estimateGas', call));
    const methods = new Set(scene.endpoints.flatMap(({ seen }) => seen.flat()).map(({ method }) => method));
    expect([...methods].sort()).toEqual(['eth_chainId', 'eth_getBlockByNumber', 'eth_getCode', 'eth_getProof']);
  });

  test('state overrides stay here', async () => {
    const scene = await lightScene();
    const overrides = { [accountAt(0)]: { balance: '0x123456789abcdef0000' } };
    const params = [{ ...call, value: '0x0' }, overrides];
    expect(await scene.ask('linea_estimateGas', ...params)).toEqual(
      await scene.dev.ask('linea_estimateGas', ...params),
    );
    expect(JSON.stringify(scene.endpoints.map(({ seen }) => seen))).not.toContain('createAccessList');
  });
});
