import { render } from 'preact';
import { App } from './app.js';
import { followVisits, loadAhead } from './app-parts.js';
import { keepForOffline } from './state/offline.js';
import { startNode } from './state/session.js';
import { settings } from './state/settings.js';
import { followStatus } from './state/status.js';
import { followPage } from './state/view.js';
import './styles/index.css';

followPage();
followStatus();
followVisits();
render(<App />, document.getElementById('app')!);

const { kind, endpoints } = settings.value;
if (kind === 'devnet') void startNode(settings.value);
else if (endpoints.some(({ address }) => address === '' || address.includes('{key}'))) {
  // Keys are kept nowhere: a light node that needs one waits for it.
  if (location.hash === '') location.hash = 'node';
} else void startNode(settings.value);

/** What can wait until the page stands. */
function settle(): void {
  void keepForOffline();
  loadAhead();
}
if (document.readyState === 'complete') settle();
else addEventListener('load', settle, { once: true });
