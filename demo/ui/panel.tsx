import type { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { Copy } from './copyable.js';

interface PanelProps {
  readonly title: string;
  readonly intro?: ComponentChildren;
  /** Beside the title, at the end of its line. */
  readonly aside?: ComponentChildren;
  readonly class?: string;
  readonly children?: ComponentChildren;
}

/** A titled part of a view. */
export function Panel({ title, intro, aside, class: name = '', children }: PanelProps) {
  const id = useId();
  return (
    <section class={`panel ${name}`} aria-labelledby={id}>
      <header class="panel-head">
        <h2 id={id}>{title}</h2>
        {aside !== undefined && <div class="panel-aside">{aside}</div>}
      </header>
      {intro !== undefined && <p class="panel-intro">{intro}</p>}
      {children}
    </section>
  );
}

/** What stands in a panel that has nothing to show yet. */
export function Empty({ children }: { readonly children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

interface JsonProps {
  readonly summary: string;
  readonly text: string;
}

/** JSON behind a fold. */
export function Json({ summary, text }: JsonProps) {
  return (
    <details class="fold">
      <summary>{summary}</summary>
      <Copy text={text} name={summary} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard has to be able to scroll it. */}
      <pre tabIndex={0}>{text}</pre>
    </details>
  );
}
