import { expect, type Page, test } from '@playwright/test';

/** Asks with a plain `fetch` of the page. */
function ask(
  page: Page,
  method: string,
  params: unknown[] = [],
): Promise<{ result?: unknown; error?: { code: number } }> {
  return page.evaluate(
    async ([name, list]) => {
      const response = await fetch('/rpc', {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: name, params: list }),
      });
      return response.json();
    },
    [method, params] as const,
  );
}

test('both methods are answered through the service worker by plain fetch', async ({ page }) => {
  const reached: string[] = [];
  await page.context().route('**/rpc', (route) => {
    reached.push(route.request().url());
    return route.abort();
  });
  await page.goto('/demo/');
  await page.getByRole('button', { name: 'Start it and ask' }).click();
  await expect(page.getByText('Answered by the service worker.')).toBeVisible({ timeout: 30_000 });
  const [from, to] = (await ask(page, 'eth_accounts')).result as string[];
  const token = '0x7e57c0de00000000000000000000000000007e57';
  const data = `0xa9059cbb${to!.slice(2).padStart(64, '0')}${'1'.padStart(64, '0')}`;
  expect((await ask(page, 'linea_estimateGas', [{ from, to: token, data }])).result).toMatchObject({
    baseFeePerGas: '0x7',
  });
  expect((await ask(page, 'linea_getProof', [token, ['0x2'], 'latest'])).result).toMatchObject({
    accountProof: { key: token },
    storageProofs: [{ key: `0x${'2'.padStart(64, '0')}` }],
  });
  expect((await ask(page, 'linea_getProof', [token, [], '0x63'])).error?.code).toBe(-32600);
  expect((await ask(page, 'nope')).error?.code).toBe(-32601);
  expect(reached).toEqual([]);

  await ask(page, 'evm_mine');
  await page.reload();
  expect((await ask(page, 'eth_blockNumber')).result).toBe('0x1');
});
