import { type BrowserContext, expect, type Page } from '@playwright/test';

/** Ends the service workers of a page's origin, as the browser does of itself when it likes to, and waits for that. */
export async function stopWorkers(context: BrowserContext, page: Page): Promise<void> {
  const session = await context.newCDPSession(page);
  const states = new Map<string, string>();
  session.on('ServiceWorker.workerVersionUpdated', ({ versions }) => {
    for (const { versionId, runningStatus } of versions) states.set(versionId, runningStatus);
  });
  await session.send('ServiceWorker.enable');
  await expect.poll(() => [...states.values()]).toContain('running');
  await session.send('ServiceWorker.stopAllWorkers');
  await expect.poll(() => new Set(states.values())).toEqual(new Set(['stopped']));
  await session.detach();
}
