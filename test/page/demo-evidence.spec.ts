import { readFile } from 'node:fs/promises';
import { expect, type Page, test } from '@playwright/test';
import { DEV_ACCOUNTS, devnet } from '../../dist/index.js';
import { bytesToHex, type EvidenceBundle, hexToBytes, verifyEvidence } from '../../dist/verify.js';
import { ask, LOOKS, look, openDemo, tabTo, visit } from './demo-page.js';

const LINKS = ['checkpoint', 'committee', 'block', 'contract', 'history', 'header', 'account'] as const;

/** The part of the drawing about a link. */
const link = (page: Page, name: string) => page.locator(`.chain-link[data-link="${name}"]`);

/** A value of a link, whole. */
const value = (page: Page, name: string, label: string) =>
  link(page, name)
    .locator('.chain-values > div')
    .filter({ has: page.locator('dt').getByText(label, { exact: true }) })
    .locator('code')
    .getAttribute('title');

async function read(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Read it and show the evidence' }).click();
  await expect(page.locator('.view:visible .verdict-good')).toBeVisible();
}

async function lie(page: Page, name: string): Promise<void> {
  await page.getByLabel('Or let one of the servers lie').selectOption(name);
  await page.getByRole('button', { name: 'Read it with this lie' }).click();
  await expect(page.getByRole('button', { name: 'Read it with this lie' })).toBeEnabled();
  await expect(page.locator('.view:visible .verdict-bad')).toBeVisible();
}

test('a balance is proved from a beacon block down, and the file proves its block elsewhere', async ({ page }) => {
  const problems = await openDemo(page);
  const [{ address: from }, { address: to }] = DEV_ACCOUNTS as unknown as [{ address: string }, { address: string }];
  await ask(page, 'eth_sendTransaction', { from, to, value: '0xde0b6b3a7640000' });
  await ask(page, 'anvil_mine', '0x6');
  await visit(page, 'Evidence');
  await page.getByLabel('Balance of the account').fill(to);
  await read(page);
  await expect(page.locator('.view:visible .result .panel-aside .known-word')).toHaveText(
    'checked · layer 1’s validators signed the block',
  );
  await expect(page.locator('.chain-link')).toHaveCount(LINKS.length);
  await expect(link(page, 'checkpoint')).toHaveClass(/is-trusted/);
  for (const name of LINKS.slice(1)) await expect(link(page, name)).toHaveClass(/is-holds/);
  await expect(link(page, 'committee')).toContainText(/3[12] of 32 members/);
  await expect(link(page, 'account').getByRole('heading')).toHaveText('10\u202f001 ETH');

  const download = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Download the evidence' }).click();
  const bundle = JSON.parse(await readFile(await (await download).path(), 'utf8')) as EvidenceBundle;
  const checkpoint = (await value(page, 'checkpoint', 'Root'))!;
  const verdict = await verifyEvidence(bundle, { network: devnet(), checkpoint: hexToBytes(checkpoint) });
  if (!verdict.verified) throw new Error(verdict.message);
  const { layerOne, finalized, header } = verdict;
  const drawn = [
    ['committee', 'Root', layerOne.beaconRoot],
    ['block', 'Block hash', layerOne.blockHash],
    ['block', 'State root', layerOne.stateRoot!],
    ['contract', 'zk state root', finalized.stateRoot!],
    ['history', 'Block hash', header!.hash],
    ['header', 'State root', header!.header.stateRoot],
  ] as const;
  for (const [name, label, bytes] of drawn) expect(await value(page, name, label), label).toBe(bytesToHex(bytes));

  const number = `0x${header!.header.number.toString(16)}`;
  expect((await ask<{ hash: string }>(page, 'eth_getBlockByNumber', number, false)).hash).toBe(
    bytesToHex(header!.hash),
  );
  expect(BigInt(await ask<string>(page, 'eth_getBalance', to, number))).toBe(10_001n * 10n ** 18n);
  expect(problems).toEqual([]);
});

/** Where each lie is refused, and by which check (docs/spec/consensus.md 5, docs/spec/settled.md 3). */
const REFUSALS = {
  signers: ['committee', 'SIGNATURE'],
  block: ['block', 'FINALIZED_EXECUTION_BRANCH'],
  root: ['contract', 'VALUE_MISMATCH'],
  hash: ['history', 'VALUE_MISMATCH'],
  header: ['header', 'HEADER_HASH'],
  balance: ['account', 'VALUE_MISMATCH'],
} as const;

test('each lie ends the chain at the link that it is about, and no balance is shown', async ({ page }) => {
  const problems = await openDemo(page, 'Evidence');
  for (const [name, [at, check]] of Object.entries(REFUSALS)) {
    await lie(page, name);
    const refused = LINKS.indexOf(at);
    for (const [i, other] of LINKS.entries()) {
      const state = i === refused ? 'refused' : i > refused ? 'not-reached' : i === 0 ? 'trusted' : 'holds';
      await expect(link(page, other), `${name}: ${other}`).toHaveClass(new RegExp(`is-${state}$`));
    }
    await expect(link(page, at).getByRole('alert')).toContainText(`was refused: ${check}`);
    await expect(link(page, 'account').getByRole('heading')).toHaveText('No balance is shown');
    await expect(page.locator('.view:visible .result .known')).toHaveCount(0);
  }
  await read(page);
  await expect(link(page, 'account').getByRole('heading')).toHaveText('10\u202f000 ETH');
  expect(problems).toEqual([]);
});

test('without a devnet in the page, and for a text that is no address, it says what is needed', async ({ page }) => {
  await openDemo(page, 'Evidence');
  await page.getByLabel('Balance of the account').fill('0x12');
  const alerts = await page.evaluateHandle(() => {
    const texts = new Set<string>();
    const note = () => {
      for (const alert of document.querySelectorAll('[role=alert]')) texts.add(alert.textContent);
    };
    new MutationObserver(note).observe(document.body, { childList: true, subtree: true });
    return texts;
  });
  await page.getByRole('button', { name: 'Read it and show the evidence' }).click();
  await expect(page.getByRole('alert')).toContainText('Not an address');
  expect(await alerts.evaluate((texts) => [...texts])).toEqual(['Not an address of 0x and 40 hex digits.']);
  await visit(page, 'Node');
  await page.getByLabel('Light node').check();
  await page.getByRole('button', { name: 'Stop the node' }).click();
  await visit(page, 'Evidence');
  await expect(page.getByText('This needs the devnet of this page')).toBeVisible();
});

test('the keyboard alone reads a balance and copies a root', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await openDemo(page, 'Evidence');
  await expect(page.locator('.view:visible .verdict-good')).toBeVisible();
  await page.locator('main').focus();
  await tabTo(page, /^Read it and show/);
  await page.keyboard.press('Enter');
  await expect(page.locator('.view:visible .verdict-good')).toBeVisible();
  await tabTo(page, /^Copy zk state root/);
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: /^Copied zk state root/ })).toBeFocused();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(
    await value(page, 'contract', 'zk state root'),
  );
});

for (const [width, colorScheme] of LOOKS) {
  test(`the chain and a lie in it, ${width} px, ${colorScheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width, height: 844 });
    const problems = await openDemo(page, 'Evidence');
    await look(page, 'evidence-empty');
    await read(page);
    await page.getByText('What the words mean').click();
    await look(page, 'evidence-proved');
    await lie(page, 'root');
    await look(page, 'evidence-refused');
    expect(problems).toEqual([]);
  });
}
