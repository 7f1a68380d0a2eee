import { explain } from '../lib/explain.js';

/** An error: what it is, what was said, and what to do about it. */
export function Failure({ error }: { readonly error: unknown }) {
  if (error === undefined) return null;
  const { title, message, code, advice, refused } = explain(error);
  return (
    <div class={refused ? 'notice notice-refused' : 'notice notice-bad'} role="alert">
      <p class="notice-title">
        {title}
        {code !== '' && <code class="notice-code">{code}</code>}
      </p>
      <p class="notice-text">{message}</p>
      <p class="notice-advice">{advice}</p>
    </div>
  );
}
