import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { shortHex } from '../lib/format.js';

/** Hex by its two ends, and a button that copies all of it. */
export function Copyable({ hex, name }: { readonly hex: string; readonly name: string }) {
  const copied = useSignal(false);
  const shown = useRef<HTMLElement>(null);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(hex);
      copied.value = true;
      setTimeout(() => {
        copied.value = false;
      }, 2_000);
    } catch {
      // The browser does not let the page: the visitor can copy what is selected.
      shown.current!.textContent = hex;
      getSelection()?.selectAllChildren(shown.current!);
    }
  };
  return (
    <span class="copyable">
      <code ref={shown} title={hex}>
        {shortHex(hex, 8)}
      </code>
      <button type="button" class="copy" onClick={() => void copy()}>
        {copied.value ? 'Copied' : 'Copy'}
        <span class="hidden"> {name}</span>
      </button>
    </span>
  );
}
