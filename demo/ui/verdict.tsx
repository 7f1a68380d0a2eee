import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { Tone } from '../lib/trust.js';

interface VerdictProps {
  /** `bad`: checked and found false. `none`: nothing to be believed yet. */
  readonly tone: Tone | 'bad' | 'none';
  readonly children: ComponentChildren;
  /** Brought into view when this changes: on a small screen it is below the button that was pressed. */
  readonly of?: unknown;
}

/** A claim in a sentence, in the colour of the weakest link that it rests on. */
export function Verdict({ tone, children, of }: VerdictProps) {
  const shown = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    if (of !== undefined) shown.current?.scrollIntoView({ block: 'nearest' });
  }, [of]);
  return (
    <p ref={shown} class={`verdict verdict-${tone}`}>
      {children}
    </p>
  );
}
