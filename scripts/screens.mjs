/**
 * `npm run screens`: a picture of every view of the demo page as it opens, with its first example answered, on a narrow and on a wide
 * screen, light and dark. The pictures are put into build/screens, to be looked at. Names of views as arguments: those only.
 */
import { mkdir } from 'node:fs/promises';
import { withDemo } from './lib/demo-pages.mjs';
import { root } from './lib/run.mjs';

const DIRECTORY = `${root}/build/screens`;
/** What is there when the first example is answered. */
const ANSWERED = {
  start: '.act-verdict.is-good',
  fees: '.result',
  preview: '.result',
  signature: '.result',
  withdraw: '.way-actions',
  proofs: '.verdict-good',
  evidence: '.verdict-good',
  console: '.exchange',
  log: 'tbody tr',
  node: '.card',
};
const MOST_MS = 60_000;

async function picture(context, url, name, file) {
  const page = await context.newPage();
  await page.goto(`${url}#${name === 'signature' ? 'preview' : name}`);
  if (name === 'signature') await page.getByLabel('Signature').check();
  await page.locator(`.view:visible ${ANSWERED[name]}`).first().waitFor({ timeout: MOST_MS });
  // It is answered when it is in sight.
  await page
    .locator('.compare')
    .scrollIntoViewIfNeeded({ timeout: 1000 })
    .catch(() => {});
  await page.waitForFunction(() => document.querySelector('[aria-busy="true"]') === null, undefined, {
    timeout: MOST_MS,
  });
  await page.evaluate(() => Promise.all(document.getAnimations().map(({ finished }) => finished.catch(() => {}))));
  if (name === 'start') await page.locator('.compare .known').first().waitFor();
  await page.screenshot({ path: file, fullPage: true });
  await page.close();
}

const asked = process.argv.slice(2);
const names = asked.length === 0 ? Object.keys(ANSWERED) : asked;
await mkdir(DIRECTORY, { recursive: true });
await withDemo(async (browser, url) => {
  for (const width of [390, 1440])
    for (const colorScheme of ['light', 'dark']) {
      for (const name of names) {
        // Each begins as a first visitor does.
        const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
        await picture(context, url, name, `${DIRECTORY}/${name}-${width}-${colorScheme}.png`);
        await context.close();
      }
    }
});
console.log(`${names.length * 4} pictures in build/screens`);
