import { expect, test } from '@playwright/test';
import { askExtension as ask, type ExtensionScene, openExtension } from '../support/extension-scene.js';
import { stopWorkers } from '../support/stop-workers.js';

const TOKEN = '0x7e57c0de00000000000000000000000000007e57';

let scene: ExtensionScene;
test.beforeAll(async () => {
  scene = await openExtension('extension');
});
test.afterAll(() => scene?.close());

test('both methods are answered from the background worker, with no network', async () => {
  const reached: string[] = [];
  scene.context.on('request', (request) => {
    if (!request.url().startsWith('chrome-extension:')) reached.push(request.url());
  });
  const page = await scene.popup();
  const [from, to] = (await ask(page, 'eth_accounts')).result as string[];
  const data = `0xa9059cbb${to!.slice(2).padStart(64, '0')}${'1'.padStart(64, '0')}`;
  expect((await ask(page, 'linea_estimateGas', [{ from, to: TOKEN, data }])).result).toEqual({
    gasLimit: expect.stringMatching(/^0x[1-9a-f]/),
    baseFeePerGas: '0x7',
    priorityFeePerGas: expect.stringMatching(/^0x[1-9a-f]/),
  });
  expect((await ask(page, 'linea_getProof', [TOKEN, ['0x2'], 'latest'])).result).toMatchObject({
    accountProof: { key: TOKEN },
    storageProofs: [{ key: `0x${'2'.padStart(64, '0')}` }],
  });
  const tooMuch = `0xa9059cbb${to!.slice(2).padStart(64, '0')}${'f'.repeat(64)}`;
  expect((await ask(page, 'linea_estimateGas', [{ from, to: TOKEN, data: tooMuch }])).error?.code).toBe(3);
  expect((await ask(page, 'evm_mine')).error?.code).toBe(-32601);
  expect(reached).toEqual([]);
  await page.close();
});

test('it goes on after the browser ended the worker', async () => {
  const page = await scene.popup();
  const prove = async () => (await ask(page, 'linea_getProof', [TOKEN, ['0x2'], 'latest'])).result;
  const before = await prove();
  expect(before).toMatchObject({ accountProof: { key: TOKEN } });
  for (let stop = 0; stop < 3; stop++) {
    await stopWorkers(scene.context, page);
    expect(await prove()).toEqual(before);
  }
  await page.close();
});

test('the popup works by mouse and keyboard', async () => {
  const page = await scene.popup();
  await page.setViewportSize({ width: 352, height: 420 });
  await page.getByRole('button', { name: 'Estimate a transfer' }).click();
  await expect(page.getByRole('status')).toContainText('Answered');
  await expect(page.getByText('7 wei per gas', { exact: true })).toBeVisible();
  await page.screenshot({ path: 'build/results/extension-light.png' });
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.getByRole('button', { name: 'Prove the token' }).focus();
  await page.keyboard.press('Enter');
  await expect(page.getByText('the test token')).toBeVisible();
  await expect(page.getByRole('status')).toContainText('Answered');
  await page.screenshot({ path: 'build/results/extension-dark.png' });
  await page.close();
});
