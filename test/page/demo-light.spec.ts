import { expect, type Page, test } from '@playwright/test';
import { createInlineNode } from '../../build/modules/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { type MockEndpoint, serveMock } from '../support/mock-chain.js';
import { card, estimate, LOOKS, look, status, visit, watch } from './demo-page.js';

/** In the address of every mock endpoint. */
const KEY = '0123456789abcdef0123456789abcdef';

let dev: PlumblineNode;
let first: MockEndpoint;
let second: MockEndpoint;
let layerOne: MockEndpoint;

test.beforeEach(async () => {
  dev = (await createInlineNode()) as unknown as PlumblineNode;
  const [from, to] = (await dev.request({ method: 'eth_accounts' })) as string[];
  await dev.request<UntypedMethod>({ method: 'eth_sendTransaction', params: [{ from, to, value: '0x1' }] });
  for (let i = 0; i < 3; i++) await dev.request({ method: 'evm_mine' });
  [first, second, layerOne] = await Promise.all([serveMock(dev), serveMock(dev), serveMock(dev.l1)]);
});
test.afterEach(async () => {
  await Promise.all([first, second, layerOne].map((mock) => mock.close()));
  await dev.close();
});

/** Fills the form of a light node in, with whole addresses as they are pasted. */
async function fillIn(
  page: Page,
  endpoints: readonly MockEndpoint[],
  settled: MockEndpoint | undefined,
): Promise<void> {
  await page.goto('/demo/#node');
  await page.getByLabel('Light node').check();
  await page.getByLabel('Network', { exact: true }).selectOption('devnet');
  for (const [i, { url }] of endpoints.entries()) {
    if (i > 0) await page.getByRole('button', { name: 'Add an endpoint' }).click();
    const field = page.getByLabel(`Endpoint ${i + 1}, address`);
    await field.fill(url);
    await field.blur();
    await expect(field).toHaveValue(url.replace(KEY, '{key}'));
  }
  if (settled === undefined) return;
  const field = page.getByLabel('Layer-1 endpoint, address');
  await field.fill(settled.url);
  await field.blur();
}

async function start(page: Page): Promise<void> {
  await page.getByRole('button', { name: /^Start( with these settings)?$/ }).click();
  await expect(status(page)).toContainText('Running: a light node');
}

async function open(page: Page, endpoints: readonly MockEndpoint[] = [first]): Promise<void> {
  await fillIn(page, endpoints, layerOne);
  await start(page);
  await visit(page, 'Node');
}

const known = (page: Page, label: string) => {
  const named = page.locator('.card-label').getByText(label, { exact: true });
  return page.locator('.card').filter({ has: named }).locator('.known');
};

test('head and finalized block, an estimate and a proof, each with its level', async ({ page }) => {
  const problems = watch(page);
  await open(page);
  await expect(card(page, 'Head')).toHaveText('4');
  await expect(known(page, 'Head')).toHaveText('checked · one server names the block');
  await expect(card(page, 'Finalized on layer 1')).toHaveText('2');
  // Layer 1 settles the zk state; whose header stands above it is said by the endpoint, as of the head.
  await expect(known(page, 'Finalized on layer 1')).toHaveText('checked · one server names the block');
  await expect(card(page, 'Trust in the head')).toHaveText('One server names the block');
  await visit(page, 'Fees');
  await estimate(page);
  await expect(page.getByText('Costs at most', { exact: true })).toBeVisible();
  await expect(page.locator('.view:visible .result .known').first()).toContainText(
    'computed here · one server names the block',
  );
  await expect(page.getByRole('button', { name: 'Send with this estimate' })).toHaveCount(0);
  await visit(page, 'Proofs');
  await page.getByRole('button', { name: 'Prove and verify' }).click();
  // One layer-1 server names the root: amber, and never green.
  await expect(page.locator('.view:visible .verdict-warn')).toContainText('That root is one layer-1 server’s word.');
  await expect(page.locator('.view:visible .result .known').first()).toContainText('one layer-1 server names the root');
  await expect(page.locator('.view:visible').locator('.known-good, .verdict-good')).toHaveCount(0);
  await visit(page, 'Log');
  await expect(page.locator('.table-cards tbody')).toContainText('checked');
  expect(problems).toEqual([]);
});

for (const [width, colorScheme] of LOOKS) {
  test(`what a light node shows, refusals among it, ${width} px, ${colorScheme}`, async ({ page }) => {
    // axe goes through every part.
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 844 });
    await open(page);
    await expect(card(page, 'Head')).toHaveText('4');
    await expect(card(page, 'Finalized on layer 1')).toHaveText('2');
    await look(page, 'light-chain');
    await visit(page, 'Fees');
    await estimate(page);
    await expect(page.getByText('Costs at most', { exact: true })).toBeVisible();
    await look(page, 'light-fees');
    await visit(page, 'Proofs');
    await page.getByRole('button', { name: 'Prove and verify' }).click();
    await expect(page.locator('.view:visible .verdict-warn')).toBeVisible();
    await look(page, 'light-proof');
    first.options.tamper = ({ method }, result) => {
      return method === 'eth_getProof' ? { ...(result as object), balance: '0xffffffff' } : result;
    };
    await visit(page, 'Console');
    await page.getByRole('combobox', { name: 'Method' }).fill('eth_getBalance');
    // An account that the node has not proved yet.
    await page.getByLabel('Parameters').fill(`["0x${'5'.repeat(40)}","latest"]`);
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await expect(page.locator('.exchange').first()).toContainText('was refused');
    await look(page, 'light-refused');
  });
}

test('two origins that agree link the head', async ({ page }) => {
  await open(page, [first, second]);
  await expect(card(page, 'Trust in the head')).toHaveText('Several servers name the block');
  await expect(known(page, 'Head')).toContainText('several servers name the block');
});

test('keys stay out of page, storage and log', async ({ page }) => {
  const said: string[] = [];
  page.on('console', (message) => said.push(message.text()));
  await open(page, [first, second]);
  await expect(card(page, 'Head')).toHaveText('4');
  await visit(page, 'Proofs');
  await page.getByRole('button', { name: 'Prove and verify' }).click();
  await expect(page.locator('.view:visible .verdict-warn')).toBeVisible();
  await first.close();
  await visit(page, 'Console');
  await page.getByRole('combobox', { name: 'Method' }).fill('eth_gasPrice');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(page.locator('.exchange')).toHaveCount(1);
  await visit(page, 'Node');
  await expect(page.getByLabel('Endpoint 1, key')).toHaveCSS('-webkit-text-security', 'disc');
  const kept = await page.evaluate(async () => {
    const stores = JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie]);
    const records: unknown[] = [];
    for (const { name } of await indexedDB.databases()) {
      const database = await new Promise<IDBDatabase>((resolve, reject) => {
        const request = indexedDB.open(name!);
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
      for (const table of database.objectStoreNames) {
        const all = database.transaction(table).objectStore(table).getAll();
        await new Promise((resolve) => {
          all.onsuccess = resolve;
        });
        for (const value of all.result) {
          const bytes = ArrayBuffer.isView(value) ? new Uint8Array(value.buffer) : undefined;
          records.push(bytes === undefined ? JSON.stringify(value) : new TextDecoder('latin1').decode(bytes));
        }
      }
      database.close();
    }
    return { stores, records: records.join(), html: document.documentElement.outerHTML, address: location.href };
  });
  expect(kept.stores).toContain('{key}');
  for (const text of [...Object.values(kept), ...said]) expect(text).not.toContain(KEY);

  await page.reload();
  await expect(status(page)).toHaveText('No node is running.');
  await expect(page.getByRole('heading', { level: 1, name: 'Node' })).toBeVisible();
  await page.getByRole('button', { name: 'Start', exact: true }).click();
  await expect(page.getByRole('alert')).toContainText('needs its key');
});

test('a forged answer is refused, and says so', async ({ page }) => {
  first.options.tamper = ({ method }, result) => {
    if (method === 'linea_getProof') {
      const proof = result as { storageProofs: { proof?: { value: string } }[] };
      for (const item of proof.storageProofs) if (item.proof) item.proof.value = item.proof.value.replace(/.$/, '1');
    }
    if (method === 'eth_getProof') (result as { balance: string }).balance = '0xffffffffffffffffffff';
    return result;
  };
  await open(page);
  await expect(card(page, 'Head')).toHaveText('4');
  await visit(page, 'Proofs');
  await page.getByRole('button', { name: 'Prove and verify' }).click();
  await expect(page.getByRole('alert')).toContainText('An endpoint was caught');
  await expect(page.locator('.view:visible .verdict-good')).toHaveCount(0);
  await visit(page, 'Console');
  await page.getByRole('combobox', { name: 'Method' }).fill('eth_getBalance');
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  await expect(page.locator('.exchange').first()).toContainText('was refused');
  await visit(page, 'Fees');
  await estimate(page);
  await expect(page.getByRole('alert').last()).toContainText('An endpoint was caught');
  // What was refused is listed as an error, and nowhere as proved.
  await visit(page, 'Log');
  const refused = page.locator('.table-cards tbody tr', { hasText: 'was refused' });
  await expect(refused).toHaveCount(3);
  await expect(refused.locator('.known')).toHaveCount(0);
  await visit(page, 'Node');
  await expect(page.locator('.latest .pill-bad')).toHaveCount(3);
  await expect(page.locator('.latest .known')).toHaveCount(0);
});

test('without layer 1, and without an endpoint that answers, it says what is not known', async ({ page }) => {
  await fillIn(page, [first], undefined);
  await start(page);
  await visit(page, 'Node');
  await expect(card(page, 'Head')).toHaveText('4');
  await expect(card(page, 'Finalized on layer 1')).toHaveText('unknown');
  await expect(page.getByText('No endpoint of layer 1 is named.')).toBeVisible();
  await visit(page, 'Proofs');
  await page.getByRole('button', { name: 'Prove and verify' }).click();
  await expect(page.getByRole('alert')).toBeVisible();
  await first.close();
  await visit(page, 'Fees');
  await estimate(page);
  await expect(page.getByRole('alert').last()).toContainText('No endpoint can be reached');
  await visit(page, 'Node');
  await page.getByRole('button', { name: 'Look again' }).click();
  await expect(card(page, 'Trust in the head')).toHaveText('unknown');
});

test('what is being typed stays when the page shows something new', async ({ page }) => {
  let go = () => {};
  const held = new Promise<void>((resolve) => {
    go = resolve;
  });
  await page.route(/\/providers-[^/]*\.js$/, async (route) => {
    await held;
    await route.continue();
  });
  await page.goto('/demo/#node');
  await page.getByLabel('Light node').check();
  const field = page.getByLabel('Endpoint 1, address');
  await field.pressSequentially('https://node.exam');
  go();
  await expect(page.getByText(/The field suggests endpoints of \d+ operators/)).toBeVisible();
  await field.pressSequentially('ple/');
  await expect(field).toHaveValue('https://node.example/');
  await field.blur();
  await expect(field).toHaveValue('https://node.example/');
});

test('a light node of the very server of the page', async ({ page }) => {
  await page.goto('/demo/#node');
  await page.getByLabel('Light node').check();
  await page.getByRole('button', { name: 'Fill in the devnet of this server' }).click();
  await start(page);
  await visit(page, 'Node');
  await expect(card(page, 'Head')).toHaveText(/^\d+$/);
  await page.reload();
  await expect(status(page)).toContainText('Running: a light node');
});

test('the dot is not green before an endpoint has answered rightly, nor for one of another chain', async ({ page }) => {
  const colour = () => page.locator('.status .dot').evaluate((dot) => getComputedStyle(dot).backgroundColor);
  await page.goto('/demo/');
  await expect(status(page)).toContainText('Running');
  const green = await colour();

  // Holds every answer until it is let go.
  let answer = () => {};
  const held = new Promise<void>((resolve) => {
    answer = resolve;
  });
  const slow = await serveMock(dev, { tamper: (_, result) => held.then(() => result) });
  await fillIn(page, [slow], undefined);
  await page.getByRole('button', { name: /^Start( with these settings)?$/ }).click();
  await expect(status(page)).toContainText('Waiting for an endpoint');
  expect(await colour()).not.toBe(green);
  answer();
  await expect(status(page)).toContainText('Running: a light node');
  await expect.poll(colour).toBe(green);
  await slow.close();

  const other = await serveMock(dev, {
    tamper: ({ method }, result) => (method === 'eth_chainId' ? '0x1' : result),
  });
  await fillIn(page, [other], undefined);
  await page.getByRole('button', { name: /^Start( with these settings)?$/ }).click();
  await expect(status(page)).toContainText('No endpoint answers');
  expect(await colour()).not.toBe(green);
  await expect(page.getByRole('alert')).toContainText('serves chain 1, not 59139');
  await other.close();
});
