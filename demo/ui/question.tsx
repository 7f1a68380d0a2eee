import type { ComponentChildren } from 'preact';
import { type Fields, isStale, openLink, type Question } from '../state/link.js';
import { Copy } from './copyable.js';

interface AnswerProps {
  readonly to: Question;
  /** What the form says now. */
  readonly now: Fields;
  readonly children: ComponentChildren;
}

/** The answer to a question; dimmed while the form asks another one. */
export function AnswerTo({ to, now, children }: AnswerProps) {
  const stale = isStale(to, now);
  const { link } = to;
  return (
    <div class={stale ? 'answer is-stale' : 'answer'}>
      {stale && (
        <p class="notice notice-stale" role="status">
          The form has changed, or another node runs. This is the answer to what stood there before.{' '}
          {link !== undefined && (
            <button type="button" class="button-small" onClick={() => openLink(link)}>
              Ask that again
            </button>
          )}
        </p>
      )}
      {children}
    </div>
  );
}

/** Copies the address under which this page asks the same again. */
export function CopyLink({ to: { link }, name }: { readonly to: Question; readonly name: string }) {
  if (link === undefined) return null;
  return <Copy text={new URL(link, location.href).href} name={`to ${name}`} label="Copy link" />;
}

/** Why the question of a link was not asked. */
export function LinkNotice({ children }: { readonly children: string | undefined }) {
  if (children === undefined) return null;
  return (
    <p class="notice notice-stale" role="status">
      {children}
    </p>
  );
}
