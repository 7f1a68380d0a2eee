import { type BrowserContext, expect, type Page } from '@playwright/test';

/**
 * Ends the service workers of a page's origin, as the browser does of itself when it likes to, and waits for that. Requests
 * that are under way may start them again at once.
 */
export async function stopWorkers(context: BrowserContext, page: Page): Promise<void> {
  const session = await context.newCDPSession(page);
  const running = new Set<string>();
  const ended = new Set<string>();
  session.on('ServiceWorker.workerVersionUpdated', ({ versions }) => {
    for (const { versionId, runningStatus } of versions) {
      if (runningStatus === 'running') running.add(versionId);
      else if (running.has(versionId) && runningStatus !== 'stopping') ended.add(versionId);
    }
  });
  await session.send('ServiceWorker.enable');
  await expect.poll(() => running.size).toBeGreaterThan(0);
  await session.send('ServiceWorker.stopAllWorkers');
  await expect.poll(() => ended).toEqual(running);
  await session.detach();
}
