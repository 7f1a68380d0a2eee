import { computed, effect, signal } from '@preact/signals';

/** The parts of the page, by the name in the address. */
export const VIEWS = {
  start: 'Start',
  fees: 'Fees',
  preview: 'Preview',
  withdraw: 'Withdraw',
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

/** What the address of the page says behind `#`. */
export interface Address {
  readonly view: View;
  /** What a link gives the view to work on. */
  readonly params: URLSearchParams;
  /** A name that no view has. */
  readonly unknown: string | undefined;
}

export function readAddress(hash: string): Address {
  const [name = '', query] = hash.slice(1).split('?', 2);
  const isView = Object.hasOwn(VIEWS, name);
  return {
    view: isView ? (name as View) : 'start',
    params: new URLSearchParams(query),
    unknown: isView || name === '' ? undefined : name,
  };
}

export const address = signal(readAddress(location.hash));
export const view = computed(() => address.value.view);
export const online = signal(navigator.onLine);
export const theme = signal<Theme>('auto');

/** Follows address, network and theme. */
export function followPage(): void {
  addEventListener('hashchange', () => {
    address.value = readAddress(location.hash);
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
