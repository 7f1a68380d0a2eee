import type { ComponentChildren } from 'preact';
import type { Knowledge } from '../lib/trust.js';
import { Known } from './known.js';

export interface Fact {
  readonly name: string;
  readonly value: ComponentChildren;
  readonly known?: Knowledge | undefined;
  /** Text rather than a figure or hex. */
  readonly prose?: boolean;
}

/** Names and values, and how each is known where that differs from line to line. */
export function Facts({ of, label }: { readonly of: readonly (Fact | false | undefined)[]; readonly label?: string }) {
  return (
    <dl class="facts" aria-label={label}>
      {of.map(
        (fact) =>
          fact && (
            <div key={fact.name}>
              <dt>{fact.name}</dt>
              <dd>
                <span class={fact.prose === true ? 'prose' : 'figure'}>{fact.value}</span>
                {fact.known !== undefined && <Known of={fact.known} />}
              </dd>
            </div>
          ),
      )}
    </dl>
  );
}
