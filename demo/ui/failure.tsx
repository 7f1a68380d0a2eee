import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { explain, fieldsOf } from '../lib/explain.js';
import type { Reverted } from '../lib/reverts.js';
import { Long } from './long.js';

/** Characters of a message that stand open. */
const LONGEST = 500;

/** An error: what it is, what was said, and what to do about it. It is dimmed while the form asks something else. */
export function Failure({ error, stale = false }: { readonly error: unknown; readonly stale?: boolean }) {
  const decoded = useSignal<Partial<Reverted> | undefined>(undefined);
  useEffect(() => {
    let isCurrent = true;
    decoded.value = undefined;
    if (error !== undefined) {
      // A page that does not start needs no decoder.
      void import('../lib/reverts.js').then(({ decodedError }) => {
        if (isCurrent) decoded.value = decodedError(error);
      });
    }
    return () => {
      isCurrent = false;
    };
  }, [error]);
  if (error === undefined) return null;
  const { title, code, refused, ...said } = explain(error);
  const { text: message = said.message, advice = said.advice } = decoded.value ?? {};
  const { data } = fieldsOf(error);
  return (
    <div class={`notice notice-${refused ? 'refused' : 'bad'}${stale ? ' is-stale' : ''}`} role="alert">
      <p class="notice-title">
        {title}
        {code !== '' && <code class="notice-code">{code}</code>}
      </p>
      <p class="notice-text">{message.length > LONGEST ? <Long name="Message" text={message} /> : message}</p>
      <p class="notice-advice">{advice}</p>
      {typeof data === 'string' && /^0x[0-9a-f]/i.test(data) && <Long name="Return data" text={data} />}
    </div>
  );
}
