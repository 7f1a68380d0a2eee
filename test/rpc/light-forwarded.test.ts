import { expect, test } from 'vitest';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import type { Hex } from '../../src/primitives/hex.js';
import { accountAt, PRICE, stranger } from '../support/dev-node.js';
import { AnsweredError } from '../support/liar.js';
import { lightScene } from '../support/light-node.js';
import { signTransaction } from '../support/sign.js';

const DATA = '0xdeadbeef';
const raw: Hex = signTransaction(0, { to: stranger('11'), value: 1n, gasLimit: 21_000n, nonce: 0, ...PRICE });
const questions: Readonly<Record<string, readonly unknown[]>> = {
  eth_sendRawTransaction: [raw],
  linea_getTransactionExclusionStatusV1: [`0x${'12'.repeat(32)}`],
  linea_getForcedTransactionInclusionStatus: [6],
  linea_sendForcedRawTransaction: [[{ forcedTransactionNumber: 6, transaction: raw, deadlineBlockNumber: '4046' }]],
};

test.each(Object.entries(questions))(
  '%s: what endpoints say against it is passed on as it is',
  async (asked, params) => {
    const { ask, endpoints } = await lightScene();
    for (const { options } of endpoints)
      options.answers = ({ method }) => {
        if (method === asked) throw new AnsweredError(-32000, 'of the pool', DATA);
        return undefined;
      };
    await expect(ask(asked, ...params)).rejects.toMatchObject({ code: -32000, message: 'of the pool', data: DATA });
  },
);

test('what they say against a read on the way there is not', async () => {
  const { ask, endpoints } = await lightScene();
  for (const { options } of endpoints)
    options.tamper = ({ method }, result) => {
      if (method === 'eth_getProof') throw new AnsweredError(3, 'execution reverted', DATA);
      return result;
    };
  for (const [method, params] of [
    ['eth_sendRawTransaction', [raw]],
    ['eth_call', [{ from: accountAt(0), to: accountAt(1), value: '0x1' }, 'latest']],
  ] as const) {
    const error = await ask(method, ...params).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error, method).toMatchObject({
      code: -32000,
      message: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+ answered eth_\w+ .*with error 3, it says "/),
    });
    expect(error, method).not.toMatchObject({ data: DATA });
  }
});

test('a transaction that one endpoint refuses is not sent to another', async () => {
  const { ask, endpoints } = await lightScene();
  endpoints[0]!.options.tamper = ({ method }, result) => {
    if (method === 'eth_sendRawTransaction') throw new AnsweredError(-32000, 'of the pool', undefined);
    return result;
  };
  await expect(ask('eth_sendRawTransaction', raw)).rejects.toMatchObject({ code: -32000 });
  const sent = endpoints.map(
    ({ seen }) => seen.flat().filter(({ method }) => method === 'eth_sendRawTransaction').length,
  );
  expect(sent).toEqual([1, 0]);
});

test.each([
  // As the coordinator and the sequencer of Linea write them (docs/spec/json-rpc.md 2.8).
  [
    'linea_getForcedTransactionInclusionStatus',
    { forcedTransactionNumber: 6, blockNumber: '0xeff35f', blockTimestamp: 123123, inclusionResult: 'BadNonce' },
  ],
  ['linea_sendForcedRawTransaction', [{ forcedTransactionNumber: 6, error: 'Invalid nonce' }]],
])('%s: the answer of one endpoint is passed on as it is, and marked so', async (asked, answer) => {
  const { light, endpoints } = await lightScene();
  for (const { options } of endpoints) options.answers = ({ method }) => (method === asked ? answer : undefined);
  const reports: unknown[] = [];
  light.on('answer', (report) => reports.push(report));
  expect(await light.request<UntypedMethod>({ method: asked, params: questions[asked]! })).toEqual(answer);
  expect(reports).toMatchObject([{ method: asked, class: 'forwarded', blocks: [] }]);
  const sent = endpoints.flatMap(({ seen }) => seen.flat()).filter(({ method }) => method === asked);
  expect(sent).toMatchObject([{ params: questions[asked] }]);
});
