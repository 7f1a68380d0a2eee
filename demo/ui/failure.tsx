import { explain } from '../lib/explain.js';
import { Long } from './long.js';

/** Characters of a message that stand open. */
const LONGEST = 500;

/** An error: what it is, what was said, and what to do about it. It is dimmed while the form asks something else. */
export function Failure({ error, stale = false }: { readonly error: unknown; readonly stale?: boolean }) {
  if (error === undefined) return null;
  const { title, message, code, advice, data, refused } = explain(error);
  return (
    <div class={`notice notice-${refused ? 'refused' : 'bad'}${stale ? ' is-stale' : ''}`} role="alert">
      <p class="notice-title">
        {title}
        {code !== '' && <code class="notice-code">{code}</code>}
      </p>
      <p class="notice-text">{message.length > LONGEST ? <Long name="Message" text={message} /> : message}</p>
      <p class="notice-advice">{advice}</p>
      {data !== undefined && <Long name="Return data" text={data} />}
    </div>
  );
}
