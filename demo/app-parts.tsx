import { effect, signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { VIEWS, type View, view } from './state/view.js';
import { Failure } from './ui/failure.js';
import { StartView } from './views/start.js';

/** The parts but the first are loaded when they are visited, or when nothing else is to be done. */
const LOADERS: Readonly<Record<Exclude<View, 'start'>, () => Promise<ComponentType>>> = {
  fees: async () => (await import('./views/fees.js')).FeesView,
  preview: async () => (await import('./views/preview.js')).PreviewView,
  withdraw: async () => (await import('./views/withdraw.js')).WithdrawView,
  proofs: async () => (await import('./views/proofs.js')).ProofsView,
  evidence: async () => (await import('./views/evidence.js')).EvidenceView,
  console: async () => (await import('./views/console.js')).ConsoleView,
  log: async () => (await import('./views/log.js')).LogView,
  node: async () => (await import('./views/node.js')).NodeView,
};

type Loaded = { readonly page: ComponentType } | { readonly error: unknown } | 'loading';

const loaded = signal<Readonly<Partial<Record<View, Loaded>>>>({ start: { page: StartView } });
/** Parts that were visited: they stay, so that what was typed and answered is there again. */
const visited = signal<ReadonlySet<View>>(new Set());

async function load(name: Exclude<View, 'start'>): Promise<void> {
  const set = (state: Loaded) => {
    loaded.value = { ...loaded.value, [name]: state };
  };
  set('loading');
  try {
    const [page] = await Promise.all([LOADERS[name](), import('./styles/views.css')]);
    set({ page });
  } catch (error) {
    set({ error });
  }
}

/** Loads what has not been visited yet. */
export function loadAhead(): void {
  const names = Object.keys(LOADERS) as (keyof typeof LOADERS)[];
  const later = globalThis.requestIdleCallback ?? ((work: () => void) => setTimeout(work, 500));
  later(() => {
    for (const name of names) if (loaded.value[name] === undefined) void load(name);
  });
}

/** Loads a part when it is visited. */
export function followVisits(): void {
  effect(() => {
    const now = view.value;
    if (!visited.peek().has(now)) visited.value = new Set([...visited.peek(), now]);
    if (now !== 'start' && loaded.peek()[now] === undefined) void load(now);
  });
}

/** The part that the address names, with those visited before hidden beside it. */
export function Parts() {
  const now = view.value;
  return (
    <>
      {(Object.keys(VIEWS) as View[])
        .filter((name) => visited.value.has(name))
        .map((name) => (
          <div key={name} class="view" hidden={now !== name}>
            <Part name={name} />
          </div>
        ))}
    </>
  );
}

function Part({ name }: { readonly name: View }) {
  const state = loaded.value[name] ?? 'loading';
  if (state === 'loading') return <p class="empty">Loading…</p>;
  if ('page' in state) return <state.page />;
  return (
    <>
      <Failure error={state.error} />
      <p class="actions">
        <button type="button" onClick={() => name !== 'start' && void load(name)}>
          Try again
        </button>
      </p>
    </>
  );
}
