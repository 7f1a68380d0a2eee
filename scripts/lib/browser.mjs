import { existsSync } from 'node:fs';
import { bin, run } from './run.mjs';

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

/** Value of `CHROMIUM_PATH` for no browser at all. */
export const NONE = 'none';

/** Longest wait for a download or an installation, ms. */
const FETCH_MS = 600_000;

/**
 * Path of a Chromium to test with, or undefined.
 *
 * `CHROMIUM_PATH` decides when it is set, and is an error when nothing is there; `none` leaves out what needs a browser.
 * With `CI=true` a missing browser is an error as well.
 */
export async function findBrowser() {
  const found = await lookForBrowser();
  if (found === undefined && process.env.CI === 'true') throw new Error('no Chromium was found, and CI needs one');
  return found;
}

/**
 * As `findBrowser`, and gets one where there is none: Playwright's own download, else Debian's package where this is root.
 * Says what it does, and why when it could not.
 */
export async function ensureBrowser() {
  const found = await lookForBrowser();
  if (found !== undefined || process.env.CHROMIUM_PATH === NONE) return found;
  for (const { name, isPossible, commands } of SOURCES) {
    if (!isPossible()) continue;
    console.log(`No Chromium was found: getting ${name}.`);
    for (const [command, ...args] of commands) await fetchWith(command, args);
    const fetched = await lookForBrowser();
    if (fetched === undefined) console.log(`${name} could not be had.`);
    else if (await starts(fetched)) return fetched;
  }
  return findBrowser();
}

const isRoot = process.getuid?.() === 0;

const SOURCES = [
  {
    name: "Playwright's own download of Chromium",
    isPossible: () => !process.env.PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD,
    commands: [[bin('playwright'), 'install', '--no-shell', 'chromium']],
  },
  {
    name: "Debian's package chromium",
    isPossible: () => isRoot && existsSync('/usr/bin/apt-get'),
    commands: [
      ['apt-get', 'update', '-qq'],
      ['apt-get', 'install', '-y', '-qq', '--no-install-recommends', 'chromium'],
    ],
  },
];

async function fetchWith(command, args) {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await run(command, args, { env, timeout: FETCH_MS }).catch((error) => console.log(error.message));
}

async function lookForBrowser() {
  const named = process.env.CHROMIUM_PATH;
  if (named === NONE) return undefined;
  if (named !== undefined && named !== '') {
    if (!existsSync(named)) throw new Error(`CHROMIUM_PATH names no file: ${named}`);
    return named;
  }
  const { chromium } = await import('playwright');
  return [...PLACES, chromium.executablePath()].find((path) => path !== '' && existsSync(path));
}

/** A download may lack libraries of the system. */
async function starts(executablePath) {
  const { chromium } = await import('playwright');
  try {
    await (await chromium.launch({ executablePath, args: BROWSER_ARGS })).close();
    return true;
  } catch (error) {
    console.log(`${executablePath} does not start: ${error.message}`);
    return false;
  }
}

/** Switches for a browser that may run as root and has no network. */
export const BROWSER_ARGS = [
  ...(isRoot ? ['--no-sandbox'] : []),
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];
