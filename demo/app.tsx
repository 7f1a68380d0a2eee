import { Parts } from './app-parts.js';
import { StatusBar } from './app-status.js';
import { ThemeSwitch } from './app-theme.js';
import { readOn } from './lib/links.js';
import { online, VIEWS, type View, view } from './state/view.js';
import { UnknownView } from './ui/unknown-view.js';

/** The mark: a line and its bob. */
function Mark() {
  return (
    <svg class="mark" viewBox="0 0 24 24" aria-hidden="true">
      <path class="mark-line" d="M12 1v8" />
      <path class="mark-bob" d="M8 9h8l-1 6-3 8-3-8z" />
    </svg>
  );
}

export function App() {
  return (
    <>
      <button type="button" class="skip" onClick={() => document.getElementById('main')?.focus()}>
        Skip to the content
      </button>
      <header class="top">
        <a class="brand" href="#start">
          <Mark />
          plumbline
        </a>
        <div class="top-end">
          {!online.value && <span class="pill pill-warn">offline</span>}
          {readOn().map(({ name, href }) => (
            <a key={name} class="top-link" href={href}>
              {name}
            </a>
          ))}
          <ThemeSwitch />
        </div>
        <nav class="nav" aria-label="Parts of this page">
          {(Object.keys(VIEWS) as View[]).map((name) => (
            <a key={name} href={`#${name}`} aria-current={view.value === name ? 'page' : undefined}>
              {VIEWS[name]}
            </a>
          ))}
        </nav>
      </header>
      <StatusBar />
      <main id="main" tabIndex={-1}>
        <UnknownView />
        <Parts />
      </main>
      <footer class="foot">
        An Ethereum layer-2 node that runs in this page. Beside each answer stands how it is known: checked here,
        computed here, from this page’s own chain, or one server’s word.{' '}
        {readOn().map(({ name, href }) => (
          <span key={name}>
            <a href={href}>{name}</a>,{' '}
          </span>
        ))}
        MIT license.
      </footer>
    </>
  );
}
