import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { type BrowserContext, chromium, type Page, type Worker } from '@playwright/test';
import { BROWSER_ARGS, findBrowser } from '../../scripts/lib/browser.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

interface ExampleBuild {
  buildExtension(options: { outdir: string; alias: Record<string, string> }): Promise<void>;
}

/** An extension in a browser of its own. */
export interface ExtensionScene {
  readonly context: BrowserContext;
  readonly background: Worker;
  popup(): Promise<Page>;
  close(): Promise<void>;
}

export interface ExtensionAnswer {
  readonly result?: unknown;
  readonly error?: { readonly code: number };
}

/**
 * The example.
 *
 * @param folder - name below `build` for the bundled extension
 * @param inline - file that stands for `plumbline-l2/inline`
 */
export async function openExtension(
  folder: string,
  inline = `${root}dist/hosts/opening/inline.js`,
): Promise<ExtensionScene> {
  const outdir = `${root}build/${folder}`;
  const script = pathToFileURL(`${root}examples/extension/build.mjs`).href;
  const { buildExtension } = (await import(script)) as ExampleBuild;
  await buildExtension({ outdir, alias: { 'plumbline-l2/inline': inline } });
  return launchExtension(outdir);
}

/** @param outdir - with a manifest, a background script and, as its page, `popup.html` */
export async function launchExtension(outdir: string): Promise<ExtensionScene> {
  const profile = await mkdtemp(join(tmpdir(), 'plumbline-extension-'));
  const executablePath = await findBrowser();
  const context = await chromium.launchPersistentContext(profile, {
    ...(executablePath !== undefined && { executablePath }),
    ignoreDefaultArgs: ['--disable-extensions'],
    args: [
      ...BROWSER_ARGS,
      `--disable-extensions-except=${outdir}`,
      `--load-extension=${outdir}`,
      '--disable-features=DisableLoadExtensionCommandLineSwitch',
    ],
  });
  const background = context.serviceWorkers()[0] ?? (await context.waitForEvent('serviceworker'));
  return {
    context,
    background,
    async popup() {
      const page = await context.newPage();
      await page.goto(`chrome-extension://${new URL(background.url()).host}/popup.html`);
      return page;
    },
    async close() {
      await context.close();
      await rm(profile, { recursive: true, force: true });
    },
  };
}

/** As any page of the extension asks. */
export function askExtension(page: Page, method: string, params: unknown[] = []): Promise<ExtensionAnswer> {
  return page.evaluate(
    (rpc) => {
      const { chrome } = globalThis as unknown as {
        chrome: { runtime: { sendMessage(message: object): Promise<ExtensionAnswer> } };
      };
      return chrome.runtime.sendMessage({ rpc });
    },
    { method, params },
  );
}
