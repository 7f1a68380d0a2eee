import { useSignal } from '@preact/signals';
import { type Knowledge, toneOf, trustMeaning, trustWords } from '../lib/trust.js';

/** How a value is known, by its weakest link. Pressed, it says what that means. */
export function Known({ of }: { readonly of: Knowledge | undefined }) {
  const open = useSignal(false);
  if (of === undefined) return <span class="known">not known yet</span>;
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

/** The place of a mark that is not known yet, as large as that of a devnet. */
export function KnownLater() {
  return (
    <span class="known" aria-hidden="true">
      <span class="known-word skeleton">this page’s own</span>
    </span>
  );
}
