import { expect, onTestFinished, test } from 'vitest';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import { devnet } from '../../src/networks/devnet.js';
import type { AnswerReport } from '../../src/rpc/answer-report.js';
import { accountAt } from '../support/dev-node.js';
import { settledScene } from '../support/settled-scene.js';

test('a light node reads at level settled from a devnet in the same program, without a socket', async () => {
  const { dev, clock, checkpoint } = await settledScene();
  const root = await checkpoint();
  const urls = new Set<string>();
  const light = await createInlineNode({
    clock,
    fetch: async (input, init) => {
      const request = new Request(input, init);
      urls.add(request.url.replace(/[?].*|0x.*/, ''));
      return request.url.startsWith('https://layer-2.example') ? dev.node.handle(request) : dev.node.handleL1(request);
    },
    chain: {
      kind: 'light',
      network: devnet(),
      endpoints: ['https://layer-2.example'],
      layerOne: {
        consensus: ['https://beacon.example'],
        execution: ['https://layer-1.example'],
        checkpoint: { root },
      },
    },
  });
  onTestFinished(() => light.close());
  const reports: AnswerReport[] = [];
  light.on('answer', (report) => reports.push(report));
  // Of genesis: 10 000 ETH.
  expect(await light.request({ method: 'eth_getBalance', params: [accountAt(0), 'finalized'] })).toBe(
    '0x21e19e0c9bab2400000',
  );
  expect(reports.at(-1)).toMatchObject({ class: 'proved', level: 'settled', blocks: [{ number: 5 }] });
  expect([...urls]).toEqual(
    expect.arrayContaining([
      'https://beacon.example/eth/v1/beacon/light_client/bootstrap/',
      'https://beacon.example/eth/v1/beacon/light_client/finality_update',
      'https://layer-1.example/',
      'https://layer-2.example/',
    ]),
  );
});
