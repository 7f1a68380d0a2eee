import { existsSync } from 'node:fs';

const PLACES = [
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/usr/bin/google-chrome-stable',
  '/opt/google/chrome/chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
];

/**
 * Path of a Chromium to test with, or undefined.
 *
 * `CHROMIUM_PATH` decides when it is set, and is an error when nothing is there. With `CI=true` a missing browser is an
 * error as well.
 */
export async function findBrowser() {
  const named = process.env.CHROMIUM_PATH;
  if (named !== undefined && named !== '') {
    if (!existsSync(named)) throw new Error(`CHROMIUM_PATH names no file: ${named}`);
    return named;
  }
  const { chromium } = await import('playwright');
  const found = [...PLACES, chromium.executablePath()].find((path) => path !== '' && existsSync(path));
  if (found === undefined && process.env.CI === 'true') throw new Error('no Chromium was found, and CI needs one');
  return found;
}

/** Switches for a browser that may run as root and has no network. */
export const BROWSER_ARGS = [
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
