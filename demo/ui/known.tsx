import { useSignal } from '@preact/signals';
import { CLASSES, type Knowledge, LEVELS, toneOf, trustMeaning, trustWords } from '../lib/trust.js';

export { CLASSES, LEVELS };

interface KnownProps {
  readonly of: Knowledge | undefined;
  /** Not to be pressed: in the summary of a fold, which is pressed itself. */
  readonly plain?: boolean;
}

/** How a value is known, by its weakest link. Pressed, it says what that means. */
export function Known({ of, plain = false }: KnownProps) {
  const open = useSignal(false);
  if (of === undefined) return <span class="known">not known yet</span>;
  if (plain) {
    return (
      <span class={`known known-${toneOf(of)}`}>
        <span class="known-word">{trustWords(of)}</span>
      </span>
    );
  }
  return (
    <span class={`known known-${toneOf(of)}`}>
      <button
        type="button"
        class="known-word"
        aria-expanded={open.value}
        title={trustMeaning(of)}
        onClick={() => {
          open.value = !open.value;
        }}
      >
        {trustWords(of)}
      </button>
      {open.value && (
        <span class="known-meaning" role="note">
          {trustMeaning(of)}
        </span>
      )}
    </span>
  );
}
