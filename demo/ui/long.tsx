import { groups } from '../lib/format.js';
import { Copy } from './copyable.js';

/** Characters that stand open. */
const SHORT = 2 + 2 * 68;

interface LongProps {
  readonly name: string;
  readonly text: string;
  /** Behind the fold whatever its length, such as the raw form of a value that is shown in units. */
  readonly folded?: boolean;
  /** A short one has its name before it, too. */
  readonly named?: boolean;
}

/** A value in the letters of machines: a short one as it is, a long one behind a fold. */
export function Long({ name, text, folded = false, named = false }: LongProps) {
  if (!folded && text.length <= SHORT) {
    return (
      <>
        {named && `${name} `}
        <code class="whole">{text}</code>
      </>
    );
  }
  const length = /^0x[0-9a-f]*$/i.test(text)
    ? `${groups((text.length - 2) / 2)} bytes`
    : `${groups(text.length)} characters`;
  return (
    <details class="long">
      <summary>
        {name}, {length}: <code>{text.slice(0, 24)}…</code>
      </summary>
      <Copy text={text} name={name} />
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, and the keyboard has to be able to scroll it. */}
      <pre tabIndex={0}>{text}</pre>
    </details>
  );
}
