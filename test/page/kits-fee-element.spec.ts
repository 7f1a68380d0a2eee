import { fileURLToPath } from 'node:url';
import { expect, type Page, test } from '@playwright/test';
import { createInlineNode } from '../../src/hosts/opening/inline.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import { linea } from '../../src/networks/linea.js';
import { bundlePage } from '../support/bundle-page.js';
import { type MockEndpoint, serveMock } from '../support/mock-chain.js';
import { openSite, type Site } from '../support/proxy-site.js';
import { axe } from './demo-page.js';

const ELEMENT = fileURLToPath(new URL('../../dist/fee-element.js', import.meta.url));

/** The first account of the mnemonic `test … junk`. */
const FROM = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
const TO = '0x2500000000000000000000000000000000000000';
const CALL = `from="${FROM}" to="${TO}" value="5"`;

let site: Site;
let chain: PlumblineNode;
let endpoint: MockEndpoint;
test.beforeAll(async () => {
  site = await openSite();
  site.scripts.set('/app/page.js', await bundlePage(`import '${ELEMENT}';`));
  for (const name of ['worker', 'worker-devnet']) {
    site.scripts.set(`/app/${name}.js`, `import '/dist/hosts/worker/${name}.js';`);
  }
  chain = await createInlineNode({ chain: { kind: 'devnet', network: linea }, dictionary: { kind: 'general' } });
  endpoint = await serveMock(chain);
  // As docs/browsers.md has it, with the endpoint: the element needs no word for its styles.
  const connect = `connect-src 'self' ${new URL(endpoint.url).origin}`;
  const policy = `default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self'; ${connect}; base-uri 'none'`;
  site.headers.set('/', { 'content-security-policy': policy });
});
test.afterAll(async () => {
  await endpoint.close();
  await chain.close();
  await site.close();
});

async function show(page: Page, html: string): Promise<void> {
  await page.goto(site.origin);
  await page.evaluate((text) => {
    document.documentElement.lang = 'en';
    document.body.innerHTML = `<main><h1>Fees</h1>${text}</main>`;
  }, html);
  await page.addScriptTag({ url: '/app/page.js', type: 'module' });
}

test('shows gas, priority fee and total with units, under the strictest policy; axe finds nothing', async ({
  page,
}) => {
  await show(page, `<plumbline-fee ${CALL}></plumbline-fee>`);
  const fee = page.locator('plumbline-fee');
  await expect(fee.getByRole('status')).toHaveText('Estimating the fee…');
  await expect(fee.getByRole('status')).toBeHidden();
  await expect(fee.getByRole('term')).toHaveText(['Gas limit', 'Priority fee', 'Fee at most', 'Checked']);
  const [gas, priority, total, level] = await fee.getByRole('definition').allTextContents();
  // 21 000 is what a plain transfer costs; the base fee of a devnet is 7 wei (docs/hosts.md).
  expect(gas).toBe('21000 gas');
  const wei = BigInt(Math.round(Number(priority!.replace(' gwei per gas', '')) * 1e9));
  expect(wei).toBeGreaterThan(0n);
  expect(total).toMatch(/^0\.\d+ ETH$/);
  expect(Math.round(Number(total!.replace(' ETH', '')) * 1e18)).toBe(Number(21_000n * (wei + 7n)));
  expect(level).toBe('computed in this page, from this node’s own chain');
  expect(await axe(page)).toEqual([]);
});

test('follows its attributes; a mistake is an alert that says what to do', async ({ page }) => {
  await show(page, `<plumbline-fee ${CALL}></plumbline-fee>`);
  const fee = page.locator('plumbline-fee');
  await expect(fee.locator('[part~="gas"]')).toHaveText('21000');
  // Each zero byte of data costs 4 gas, above a plain transfer: EIP-2028.
  await fee.evaluate((element) => element.setAttribute('data', `0x${'00'.repeat(10)}`));
  await expect(fee.locator('[part~="gas"]')).not.toHaveText('21000');
  await fee.evaluate((element) => element.setAttribute('value', '0.5 ETH'));
  await expect(fee.getByRole('alert')).toHaveText(
    'No fee: value: is wei as an integer, such as 1000000000000000000 for one ETH, not 0.5 ETH',
  );
  expect(await axe(page)).toEqual([]);
  await fee.evaluate((element) => element.setAttribute('value', '1'));
  await fee.evaluate((element) => element.setAttribute('network', 'moon'));
  await expect(fee.getByRole('alert')).toHaveText(/^No fee: network: is one of linea, .*, not moon$/);
});

test('asks a light node of its endpoints, and says what the answer rests on', async ({ page }) => {
  endpoint.options.latencyMs = 50;
  await show(page, `<plumbline-fee network="linea" endpoints="${endpoint.url}" ${CALL}></plumbline-fee>`);
  const fee = page.locator('plumbline-fee');
  await expect(fee.locator('[part~="level"]')).toHaveText(
    'computed in this page, from a block that one endpoint names',
  );
  await expect(fee.locator('[part~="gas"]')).toHaveText('21000');
});

test('elements of one network share a node, which is closed with the last of them', async ({ page }) => {
  await show(page, `<plumbline-fee ${CALL}></plumbline-fee><plumbline-fee ${CALL}></plumbline-fee>`);
  await expect(page.locator('[part~="gas"]')).toHaveText(['21000', '21000']);
  expect(page.workers()).toHaveLength(1);
  // Moved within the page: the node stays.
  await page.evaluate(() => document.querySelector('main')!.append(document.querySelector('plumbline-fee')!));
  await expect(page.locator('[part~="gas"]')).toHaveText(['21000', '21000']);
  expect(page.workers()).toHaveLength(1);
  await page.evaluate(() => document.querySelector('main')!.replaceChildren());
  await expect.poll(() => page.workers().length).toBe(0);
});

test('has parts and properties for the styles of the page', async ({ page }) => {
  await show(page, `<plumbline-fee ${CALL}></plumbline-fee>`);
  await page.evaluate(() => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(
      'plumbline-fee { --plumbline-fee-name-color: rgb(1, 2, 3); } plumbline-fee::part(amount) { color: rgb(4, 5, 6); }',
    );
    document.adoptedStyleSheets = [sheet];
  });
  const colour = (part: string) =>
    page
      .locator(`[part~="${part}"]`)
      .first()
      .evaluate((element) => getComputedStyle(element).color);
  expect([await colour('name'), await colour('amount')]).toEqual(['rgb(1, 2, 3)', 'rgb(4, 5, 6)']);
});
