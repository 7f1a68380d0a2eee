/**
 * `npm run first-visit`: what the demo page shows on a first visit: at once, after 5 seconds, after 20 with the
 * one click that has the server lie, and after 60 further down. On a wide and on a narrow screen; pictures and words are put
 * into build/first-visit.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { withDemo } from './lib/demo-pages.mjs';
import { root } from './lib/run.mjs';

const DIRECTORY = `${root}/build/first-visit`;
const SCREENS = [
  { width: 1280, height: 844 },
  { width: 390, height: 844 },
];

/** What is done before the look at some second. */
const VISIT = [
  { second: 0, act: async () => {} },
  { second: 5, act: async () => {} },
  { second: 20, act: (page) => page.getByRole('button', { name: 'Let the server lie' }).click() },
  {
    second: 60,
    act: (page) => page.locator('.compare').evaluate((place) => place.scrollIntoView({ block: 'center' })),
  },
];
/** From the act to the look, ms: reading takes time. */
const PAUSE_MS = 4_000;

/** Texts of the page that are on screen. */
function textsInSight() {
  const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  const seen = [];
  while (walker.nextNode()) {
    const range = document.createRange();
    range.selectNodeContents(walker.currentNode);
    const { top, bottom, width } = range.getBoundingClientRect();
    if (width > 1 && bottom > 0 && top < innerHeight) seen.push(walker.currentNode.data.trim());
  }
  return seen.filter((text) => text !== '').join(' ');
}

async function visit(browser, url, viewport) {
  const page = await browser.newPage({ viewport, colorScheme: 'light' });
  const words = [];
  const began = performance.now();
  const until = (ms) => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms - (performance.now() - began))));
  await page.goto(url);
  for (const { second, act } of VISIT) {
    await until(1000 * second - PAUSE_MS);
    await act(page);
    await until(1000 * second);
    await page.screenshot({ path: `${DIRECTORY}/${viewport.width}-${second}s.png` });
    words.push(`${viewport.width} px, after ${second} s: ${await page.evaluate(textsInSight)}\n`);
  }
  await page.close();
  return words;
}

await mkdir(DIRECTORY, { recursive: true });
await withDemo(async (browser, url) => {
  const words = (await Promise.all(SCREENS.map((screen) => visit(browser, url, screen)))).flat().join('\n');
  await writeFile(`${DIRECTORY}/words.txt`, words);
  console.log(words);
});
