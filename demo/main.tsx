import { render } from 'preact';
import { App } from './app.js';
import { followVisits, loadAhead } from './app-parts.js';
import { keepForOffline } from './state/offline.js';
import { startNode } from './state/session.js';
import { settings } from './state/settings.js';
import { followStatus } from './state/status.js';
import { followPage } from './state/view.js';

/** How long the page is left to what it shows first, once its node runs, ms. */
const PATIENCE_MS = 1_000;

/** The longest wait for the paint of what index.html has, ms. In a tab in the background there is none. */
const PAINT_MS = 250;

/** Resolves when the first view is painted: what follows would take the processor from it. */
function painted(): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, document.hidden ? 0 : PAINT_MS);
    new PerformanceObserver(() => resolve()).observe({ type: 'paint', buffered: true });
  });
}

/** What can wait, and would take time from the start of the node: keeping the page, and parts that were not visited. */
function settle(): void {
  setTimeout(() => {
    void keepForOffline();
    loadAhead();
  }, PATIENCE_MS);
}

followPage();
followStatus();
followVisits();
// A page that is kept already only looks whether there is a newer one.
if (navigator.serviceWorker?.controller) addEventListener('load', () => void keepForOffline(), { once: true });

await painted();
render(<App />, document.getElementById('app')!);

const { kind, endpoints } = settings.value;
if (kind !== 'devnet' && endpoints.some(({ address }) => address === '' || address.includes('{key}'))) {
  // Keys are kept nowhere: a light node that needs one waits for it.
  if (location.hash === '') location.hash = 'node';
  settle();
} else void startNode(settings.value).then(settle);
