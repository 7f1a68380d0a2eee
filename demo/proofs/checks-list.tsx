import type { Check } from './checks.js';

const WORDS = { passed: 'holds', failed: 'refused', 'not-reached': 'not reached' } as const;
const SIGNS = { passed: '✓', failed: '✗', 'not-reached': '·' } as const;

/** Checks in the order in which they were made, each with its verdict. */
export function ChecksList({ of, label }: { readonly of: readonly Check[]; readonly label: string }) {
  return (
    <ol class="checks" aria-label={label}>
      {of.map((check) => (
        <li key={`${check.part} ${check.name}`} class={`check check-${check.state}`}>
          <span class="check-sign" aria-hidden="true">
            {SIGNS[check.state]}
          </span>
          <span class="check-text">
            {check.text}
            {check.message !== undefined && <span class="check-message">{check.message}</span>}
          </span>
          <span class="check-word">{WORDS[check.state]}</span>
        </li>
      ))}
    </ol>
  );
}
