import { useSignal } from '@preact/signals';
import { shortHex } from '../lib/format.js';

interface CopyProps {
  readonly text: string;
  /** What is copied, for those who do not see where the button stands. */
  readonly name: string;
  readonly label?: string;
}

/** A button that copies a text. */
export function Copy({ text, name, label = 'Copy' }: CopyProps) {
  const state = useSignal<'ready' | 'copied' | 'refused'>('ready');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      state.value = 'copied';
      setTimeout(() => {
        state.value = 'ready';
      }, 2_000);
    } catch {
      // The browser does not let the page: the visitor can copy what is selected.
      state.value = 'refused';
    }
  };
  return (
    <>
      <button type="button" class="copy" onClick={() => void copy()}>
        {state.value === 'copied' ? 'Copied' : label}
        <span class="hidden"> {name}</span>
      </button>
      {state.value === 'refused' && (
        <input
          class="mono"
          readOnly
          aria-label={`${name}, to be copied`}
          value={text}
          ref={(input) => input?.select()}
        />
      )}
    </>
  );
}

/** Hex by its two ends, and a button that copies all of it. */
export function Copyable({ hex, name }: { readonly hex: string; readonly name: string }) {
  return (
    <span class="copyable">
      <code title={hex}>{shortHex(hex, 8)}</code>
      <Copy text={hex} name={name} />
    </span>
  );
}
