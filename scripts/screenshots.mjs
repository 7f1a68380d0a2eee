/**
 * `npm run screenshots`: makes the pictures of the demo page in docs/images: its first view, light and dark, for README.md, and
 * one for those who link to the page.
 */
import { mkdir } from 'node:fs/promises';
import { withDemo } from './lib/demo-pages.mjs';
import { root } from './lib/run.mjs';

const DIRECTORY = `${root}/docs/images`;
const README = { width: 1120, height: 790 };
/** As sites that show a link ask for. */
const LINK = { width: 1200, height: 630 };

/** The first view, with a server that lies. */
async function picture(browser, url, name, { viewport, colorScheme, zoom = 1 }) {
  const page = await browser.newPage({
    viewport: { width: Math.round(viewport.width / zoom), height: Math.round(viewport.height / zoom) },
    deviceScaleFactor: zoom,
    colorScheme,
    reducedMotion: 'reduce',
  });
  await page.goto(url);
  await page.getByRole('button', { name: 'Let the server lie' }).click();
  await page.getByText('Refused. No balance shown.').waitFor();
  // The pointer and the ring of what was clicked.
  await page.mouse.move(0, 0);
  await page.evaluate(() => document.activeElement.blur());
  await page.screenshot({ path: `${DIRECTORY}/${name}.png` });
  await page.close();
}

await mkdir(DIRECTORY, { recursive: true });
await withDemo(async (browser, url) => {
  for (const colorScheme of ['light', 'dark']) {
    await picture(browser, url, `demo-${colorScheme}`, { viewport: README, colorScheme });
  }
  await picture(browser, url, 'og', { viewport: LINK, colorScheme: 'light', zoom: 0.85 });
});
