import { effect, signal } from '@preact/signals';

/** The parts of the page, by the name in the address. */
export const VIEWS = {
  start: 'Start',
  fees: 'Fees',
  preview: 'Preview',
  proofs: 'Proofs',
  evidence: 'Evidence',
  console: 'Console',
  log: 'Log',
  node: 'Node',
} as const;

export type View = keyof typeof VIEWS;
export type Theme = 'auto' | 'light' | 'dark';

const STORED_THEME = 'plumbline-demo-theme';
/** Of the first view; index.html has the same. */
const TITLE = document.title;

function viewOfAddress(): View {
  const name = location.hash.slice(1);
  return Object.hasOwn(VIEWS, name) ? (name as View) : 'start';
}

export const view = signal<View>(viewOfAddress());
export const online = signal(navigator.onLine);
export const theme = signal<Theme>('auto');

/** Follows address, network and theme. */
export function followPage(): void {
  addEventListener('hashchange', () => {
    view.value = viewOfAddress();
    scrollTo(0, 0);
    // As a new page would: keyboard and screen reader go on from the beginning of the new part.
    document.querySelector<HTMLElement>('main')?.focus({ preventScroll: true });
  });
  addEventListener('online', () => {
    online.value = true;
  });
  addEventListener('offline', () => {
    online.value = false;
  });
  try {
    const kept = localStorage.getItem(STORED_THEME);
    if (kept === 'light' || kept === 'dark') theme.value = kept;
  } catch {
    // Nothing is kept in this browser.
  }
  effect(() => {
    const chosen = theme.value;
    if (chosen === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = chosen;
    try {
      if (chosen === 'auto') localStorage.removeItem(STORED_THEME);
      else localStorage.setItem(STORED_THEME, chosen);
    } catch {
      // As above.
    }
  });
  effect(() => {
    document.title = view.value === 'start' ? TITLE : `${VIEWS[view.value]} · plumbline`;
  });
}
