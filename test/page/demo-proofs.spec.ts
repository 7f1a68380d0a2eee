import { expect, type Page, test } from '@playwright/test';
import { fixtureJson } from '../support/fixtures.js';
import { ANSWERS, type AnswerFixture } from '../support/proof-fixtures.js';
import { fact, openDemo } from './demo-page.js';

async function prove(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Prove and verify' }).click();
  await expect(page.locator('.view:visible .verdict-good')).toBeVisible();
}

test('draws the neighbours of a key that is absent', async ({ page }) => {
  await openDemo(page, 'Proofs');
  await page.getByRole('button', { name: 'A slot that is empty' }).click();
  await prove(page);
  await expect(page.getByText('zero: not in the tree')).toBeVisible();
  const drawing = page.locator('.tree').last();
  await expect(drawing).toContainText('Lower neighbour');
  await expect(drawing).toContainText('Upper neighbour');
  await expect(drawing).toContainText('Nothing between them');
  await expect(page.getByText('The two neighbours point at each other')).toBeVisible();
  await expect(page.locator('.check-passed')).toHaveCount(await page.locator('.check').count());
  await page.getByText('The path as a list').last().click();
  await expect(
    page
      .getByRole('region', { name: /Path to leaf/ })
      .last()
      .locator('tbody tr'),
  ).toHaveCount(40);
});

/** What a forgery is caught by. */
const FORGERIES = {
  value: ['VALUE_MISMATCH', 'The value is the one that the leaf commits to'],
  sibling: ['PATH_MISMATCH', 'The leaf: leaf and 40 siblings hash to the top'],
  position: ['PATH_MISMATCH', 'The leaf: leaf and 40 siblings hash to the top'],
  root: ['ROOT_MISMATCH', 'The leaf: the top node hashes to the trusted root'],
} as const;

test('a forged copy is refused, and it is shown where', async ({ page }) => {
  await openDemo(page, 'Proofs');
  for (const [how, [reason, check]] of Object.entries(FORGERIES)) {
    await page.getByLabel('Or forge a copy first').selectOption(how);
    await page.getByRole('button', { name: 'Verify a forged copy' }).click();
    await expect(page.locator('.view:visible .verdict-bad')).toContainText(reason);
    await expect(page.locator('.check-failed')).toHaveCount(1);
    await expect(page.locator('.check-failed')).toContainText(check);
    await expect(page.locator('.tree').locator('.tree-node.is-bad, .tree-box.is-bad').first()).toBeVisible();
    await expect(page.getByText('What is proven')).toBeHidden();
  }
});

test('an answer that was pasted is checked, changed and refused, and read only if it is one', async ({ page }) => {
  await openDemo(page, 'Proofs');
  await page.getByRole('button', { name: 'Token balance of account 1' }).click();
  await prove(page);
  await page.locator('summary', { hasText: /^The answer$/ }).click();
  const answer = (await page.locator('.view:visible .fold pre').first().textContent())!;
  await page.getByLabel('Paste an answer').check();
  const field = page.getByLabel('Answer of linea_getProof');
  const verify = page.getByRole('button', { name: 'Verify what was pasted' });
  await field.fill(answer);
  await verify.click();
  await expect(page.getByLabel('State root')).toHaveAttribute('aria-invalid', 'true');
  await page.getByRole('button', { name: 'Take the newest root' }).click();
  await expect(page.getByLabel('State root')).toHaveValue(/^0x[0-9a-f]{64}$/);
  await verify.click();
  await expect(page.locator('.view:visible .verdict-warn')).toBeVisible();
  await expect(fact(page, 'Root from')).toContainText('the form');
  // Whether layer 1 holds a root that was typed in is not known here, and nothing says that it does.
  await expect(page.locator('.view:visible .verdict-warn')).toContainText('the root that you named');
  await expect(page.getByRole('heading', { name: 'What is proven' })).toBeVisible();
  await expect(page.locator('.view:visible .result .known')).toHaveCount(0);
  await expect(page.locator('.tree').first()).toContainText('The root that you named');

  const forged = JSON.parse(answer);
  forged.storageProofs[0].proof.proofRelatedNodes[41] = forged.storageProofs[0].proof.proofRelatedNodes[41].replace(
    /.$/,
    '1',
  );
  await field.fill(JSON.stringify({ jsonrpc: '2.0', id: 1, result: forged }));
  await verify.click();
  await expect(page.locator('.view:visible .verdict-bad')).toContainText('PATH_MISMATCH');

  await field.fill('{"accountProof":{"key":"0x00"},"storageProofs":[]}');
  await verify.click();
  await expect(page.getByRole('alert')).toContainText('PROOF_MALFORMED');
  await field.fill('{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"block is missing"}}');
  await verify.click();
  await expect(page.getByRole('alert')).toContainText('block is missing (-32600)');
  await field.fill('not json');
  await verify.click();
  await expect(page.getByRole('alert')).toContainText('not JSON');
});

test('answers of other trees lead to their roots, through trees of many leaves', async ({ page }) => {
  await openDemo(page, 'Proofs');
  await page.getByLabel('Paste an answer').check();
  for (const name of ANSWERS) {
    const { scheme, stateRoot, result } = fixtureJson<AnswerFixture>(`state/getproof/${name}.json`);
    await page.getByLabel('Answer of linea_getProof').fill(JSON.stringify(result));
    await page.getByLabel('State root').fill(stateRoot);
    await page.getByLabel('Hash of the state').selectOption(scheme);
    await page.getByRole('button', { name: 'Verify what was pasted' }).click();
    await expect(page.locator('.view:visible .verdict-warn')).toBeVisible();
    expect(await page.locator('.check').count()).toBeGreaterThan(6);
    await expect(page.locator('.check:not(.check-passed)')).toHaveCount(0);
    const other = scheme === 'mimc' ? 'poseidon2' : 'mimc';
    await page.getByLabel('Hash of the state').selectOption(other);
    await page.getByRole('button', { name: 'Verify what was pasted' }).click();
    await expect(page.getByRole('alert')).toContainText('PROOF_MALFORMED');
    await expect(page.locator('.view:visible .verdict-warn')).toHaveCount(0);
  }
});
