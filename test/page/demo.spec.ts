import { expect, test } from '@playwright/test';
import { card, estimate, fact, hold, mine, openDemo, status, visit } from './demo-page.js';

test('estimates, sends, and proves what was sent, under a strict policy', async ({ page }) => {
  const problems = await openDemo(page, 'Fees');
  const policy = page.locator('meta[http-equiv="Content-Security-Policy"]');
  await expect(policy).toHaveAttribute(
    'content',
    /default-src 'none'; script-src 'self' 'wasm-unsafe-eval' 'sha256-[^']+'; style-src 'self' 'sha256-[^']+';/,
  );
  await estimate(page);
  await expect(fact(page, 'Base fee')).toHaveText('7 wei per gas');
  await expect(page.getByText('Costs at most', { exact: true })).toBeVisible();
  await expect(page.getByRole('img', { name: /Data on layer 1 .* %/ })).toBeVisible();
  await page.getByRole('button', { name: 'Send with this estimate' }).click();
  await expect(page.getByText(/^The transaction succeeded\./)).toBeVisible();
  await mine(page, 2);
  await expect(card(page, 'Head')).toHaveText('3');
  await expect(card(page, 'Finalized on layer 1')).toHaveText('1');
  await visit(page, 'Proofs');
  await page.getByRole('button', { name: 'Prove and verify' }).click();
  // The genesis gives account 1 a million tokens; one more was sent.
  await expect(page.locator('.view:visible .verdict-good')).toHaveText(
    'Dev account 1 holds 1\u202f000\u202f001 PLUMB at block 1. Checked: 15 hashes and links, up to the root on layer 1. ',
  );
  await expect(page.getByRole('img', { name: /leads to the trusted root/ })).toHaveCount(2);
  expect(problems).toEqual([]);
});

test('parts of the fee add up to what is paid at most', async ({ page }) => {
  await openDemo(page, 'Fees');
  await estimate(page);
  const gwei = async (text: Promise<string | null>) => Number((await text)!.replace(/[^\d.]/g, ''));
  await expect(page.locator('.chart-value')).not.toHaveCount(0);
  // In all their digits.
  for (const rounded of await page.locator('.amount-rounded').all()) await rounded.click();
  const parts = await page.locator('.chart-value').allTextContents();
  const sum = parts.reduce((total, text) => total + Number(text.replace(/[^\d.]/g, '')), 0);
  expect(sum).toBeCloseTo(await gwei(page.locator('.headline-note').textContent()), 6);
});

test('a state override lets a transfer pass that the chain would refuse', async ({ page }) => {
  await openDemo(page, 'Fees');
  await page.getByLabel('Tokens').fill('2000000');
  await estimate(page);
  await expect(page.getByRole('alert')).toContainText('would revert');
  await page.getByText('State overrides').click();
  await page.getByRole('button', { name: 'Give the sender plenty' }).click();
  await estimate(page);
  await expect(page.getByRole('alert')).toBeHidden();
  await expect(fact(page, 'Executed after')).toContainText('with state overrides');
  await page.getByRole('button', { name: 'Send with this estimate' }).click();
  await expect(page.getByRole('alert').or(page.getByText(/^The transaction failed\./))).toBeVisible();
});

test('the devnet is there again after a reload, and says what it keeps', async ({ page }) => {
  await openDemo(page, 'Fees');
  await estimate(page);
  await page.getByRole('button', { name: 'Send with this estimate' }).click();
  await expect(page.getByText(/^The transaction succeeded\./)).toBeVisible();
  await mine(page, 2);
  await page.reload();
  await expect(status(page)).toContainText('Running');
  await expect(card(page, 'Head')).toHaveText('3');
  await expect(fact(page, 'Of this origin')).toContainText(/\d/);
  await expect(page.getByRole('table', { name: /keeps, by table/ })).toContainText('blocks');
  await visit(page, 'Node');
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Save the chain as a file' }).click();
  const file = await (await saved).path();
  // Two clicks in haste delete nothing.
  await page.getByRole('button', { name: 'Delete what this node keeps' }).dblclick();
  await expect(page.getByRole('button', { name: 'Delete it for good' })).toBeHidden();
  // What was done last stands there.
  await expect(page.getByText('Saved.')).toBeVisible();
  await page.getByRole('button', { name: 'Delete what this node keeps' }).click();
  await page.getByRole('button', { name: 'Delete it for good' }).click();
  await expect(page.getByText('Deleted: the node has begun anew.')).toBeVisible();
  await visit(page, 'Node');
  await expect(card(page, 'Head')).toHaveText('0');
  await visit(page, 'Node');
  await page
    .getByLabel('Load a chain from a file')
    .setInputFiles({ name: 'no.chain', mimeType: '', buffer: Buffer.from('no') });
  await expect(page.getByRole('alert')).toContainText('CHAIN_FILE_REFUSED');
  await page.getByLabel('Load a chain from a file').setInputFiles(file);
  await expect(page.getByText('Loaded: the head is block 3.')).toBeVisible();
  await visit(page, 'Node');
  await expect(card(page, 'Head')).toHaveText('3');
});

test('a store that does not open leaves a node in memory, and the page says so', async ({ page }) => {
  await page.addInitScript(() => {
    // Workers have an IndexedDB of their own; this one stands for a private window that refuses it to all.
    const blob = globalThis.Worker;
    globalThis.Worker = class extends blob {
      constructor(url: string | URL, options?: WorkerOptions) {
        const source = `self.indexedDB.open = () => { throw new DOMException('no', 'InvalidStateError'); }; await import(${JSON.stringify(String(url))});`;
        super(URL.createObjectURL(new Blob([source], { type: 'text/javascript' })), options);
      }
    };
  });
  await page.route('**/demo/', async (route) => {
    const response = await route.fetch();
    // The policy of the page lets no worker in that the test makes.
    await route.fulfill({ response, body: (await response.text()).replace(/<meta http-equiv[^>]*>/, '') });
  });
  await page.goto('/demo/');
  await expect(status(page)).toContainText('Running');
  await expect(page.getByRole('alert')).toContainText('This node goes on in memory');
  await expect(page.getByRole('alert')).toContainText('STORE_UNAVAILABLE');
});

test('input that cannot be used is answered by what is wrong and what to do', async ({ page }) => {
  await openDemo(page, 'Fees');
  const alert = page.getByRole('alert');
  await page.getByLabel('Tokens').fill('2000000');
  await estimate(page);
  await expect(alert).toContainText(
    'InsufficientBalance: owner dev account 0, balance 1 000 000 PLUMB, needed 2 000 000 PLUMB.'.replaceAll(
      /(?<=\d) (?=\d)/g,
      '\u202f',
    ),
  );
  await expect(alert).toContainText('Lower the amount');
  await page.getByLabel('Tokens').fill('a few');
  await estimate(page);
  await expect(alert).toContainText('“a few” is not an amount');
  await page.getByLabel('Tokens').fill('1');
  await page.getByLabel('To', { exact: true }).fill('0x12');
  await estimate(page);
  await expect(alert).toContainText('Not an address');
  await page.getByLabel('To', { exact: true }).fill('0x70997970c51812dc3a010c7d01b50e0d17dc79c8');
  await page.getByText('State overrides').click();
  await page.getByRole('button', { name: 'Add an override' }).click();
  await estimate(page);
  await expect(alert).toContainText('No amount is given');
  await page.getByRole('button', { name: 'Remove override 1' }).click();
  // What it stood in stays open, and the way back into it in reach.
  await expect(page.getByRole('button', { name: 'Add an override' })).toBeVisible();
  await estimate(page);
  await expect(alert).toBeHidden();
});

test('an estimate that fails leaves none of an earlier call standing', async ({ page }) => {
  await openDemo(page, 'Fees');
  await estimate(page);
  await expect(page.getByText('Costs at most', { exact: true })).toBeVisible();
  await page.getByLabel('Tokens').fill('2000000');
  await estimate(page);
  await expect(page.getByRole('alert')).toContainText('would revert');
  await expect(page.getByText('Costs at most', { exact: true })).toBeHidden();
});

test('says what it loads, the script of the worker first', async ({ page }) => {
  const go = await hold(page);
  await page.goto('/demo/#node');
  await expect(status(page)).toHaveText('Starting: loading the node');
  await expect(page.getByRole('progressbar', { name: 'loading the node' })).toBeVisible();
  go();
  await expect(status(page)).toContainText('Running');
});

test('says so when the worker does not load, and tries again when asked', async ({ page }) => {
  await page.route(/worker.*\.js$/, (route) => route.fulfill({ status: 404, body: 'gone' }));
  await page.goto('/demo/');
  await expect(status(page)).toHaveText('The node did not start.');
  await expect(page.locator('.act > h2')).toContainText('It is not checked yet.');
  await expect(page.getByRole('alert')).toContainText('WORKER_FAILED');
  await page.unroute(/worker.*\.js$/);
  await page.getByRole('button', { name: 'Try again' }).click();
  await expect(status(page)).toContainText('Running');
});

test('a devnet with the other hash can be chosen by hand, in memory', async ({ page }) => {
  await openDemo(page, 'Node');
  await page.getByLabel('Hash of the zk state').selectOption('mimc');
  await page.getByLabel('Blocks').selectOption('manual');
  await page.getByLabel('Keep it in this browser').uncheck();
  await page.getByRole('button', { name: 'Start with these settings' }).click();
  await visit(page, 'Node');
  await expect(page.locator('.card', { hasText: 'Network' })).toContainText('mimc');
  await expect(fact(page, 'The node')).toContainText('in memory only');
  await visit(page, 'Fees');
  await estimate(page);
  await page.getByRole('button', { name: 'Send with this estimate' }).click();
  await expect(page.getByText(/^The transaction succeeded\./)).toBeVisible();
  await visit(page, 'Proofs');
  await page.getByRole('button', { name: 'An account that is absent' }).click();
  await page.getByRole('button', { name: 'Prove and verify' }).click();
  await expect(page.getByText('does not exist in this state')).toBeVisible();
  await visit(page, 'Node');
  await page.getByRole('button', { name: 'Stop the node' }).click();
  await expect(status(page)).toHaveText('No node is running.');
});

test('a plain fetch is answered by the service worker, until it is switched off', async ({ page }) => {
  await openDemo(page, 'Node');
  const post = () =>
    page.evaluate(async () => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] });
      const response = await fetch('/rpc', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
      return response.ok ? ((await response.json()) as { result: string }).result : response.status;
    });
  await page.getByRole('button', { name: 'Start it and ask for an estimate' }).click();
  await expect(page.getByText('Answered by the service worker.')).toBeVisible();
  await expect(fact(page, 'baseFeePerGas')).toContainText('0x7');
  expect(await post()).toBe('0xe703');
  await page.reload();
  await expect(page.getByRole('button', { name: 'Switch it off' })).toBeVisible();
  expect(await post()).toBe('0xe703');
  const ask = page.getByRole('button', { name: 'Ask for an estimate' });
  await ask.click();
  await expect(page.getByText('Answered by the service worker.')).toBeVisible();
  await expect(fact(page, 'gasLimit')).toContainText('computed');
  // An answer that has come from elsewhere is not said to be the worker's.
  await page.evaluate(() => {
    const answer = JSON.stringify({ jsonrpc: '2.0', id: 1, result: { gasLimit: '0x1' } });
    Object.assign(globalThis, { plain: fetch, fetch: async () => new Response(answer) });
  });
  await ask.click();
  await expect(page.getByRole('alert')).toContainText('not by the service worker');
  await expect(page.getByText('Answered by the service worker.')).toBeHidden();
  await page.evaluate(() => {
    globalThis.fetch = (globalThis as unknown as { plain: typeof fetch }).plain;
  });
  await page.getByRole('button', { name: 'Switch it off' }).click();
  await expect(page.getByRole('button', { name: 'Start it and ask for an estimate' })).toBeVisible();
  expect(await post()).toBe(404);
});

for (const width of [390, 1280]) {
  test(`what stands below the chain does not move when the node opens: ${width} pixels`, async ({ page }) => {
    await page.setViewportSize({ width, height: 720 });
    const go = await hold(page);
    await page.goto('/demo/#node');
    await expect(status(page)).toHaveText('Starting: loading the node');
    const top = () => page.getByLabel('Light node').evaluate((field) => field.getBoundingClientRect().top + scrollY);
    const before = await top();
    go();
    await expect(status(page)).toContainText('Running');
    await expect(page.getByRole('main').locator('.skeleton')).toHaveCount(0);
    expect(Math.abs((await top()) - before)).toBeLessThan(4);
  });
}

test('says how far it is while it starts, and that it has stopped when its worker ends', async ({ page }) => {
  let go = () => {};
  const held = new Promise<void>((resolve) => {
    go = resolve;
  });
  await page.route(/worker.*\.js$/, async (route) => {
    await held;
    await route.continue();
  });
  await page.goto('/demo/#node');
  await expect(status(page)).toContainText('Starting');
  await expect(page.getByRole('progressbar')).toBeVisible();
  await expect(page.getByRole('button', { name: 'Mine a block' })).toBeDisabled();
  go();
  await expect(status(page)).toContainText('Running');
  await expect(page.getByRole('progressbar')).toBeHidden();
  const [worker] = page.workers();
  await worker!.evaluate(() => globalThis.close());
  await expect(status(page)).toHaveText('The node has stopped.');
  await expect(page.getByRole('alert')).toContainText('4900');
  await page.getByRole('button', { name: 'Start it again' }).click();
  await expect(status(page)).toContainText('Running');
});
