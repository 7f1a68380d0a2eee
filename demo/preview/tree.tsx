import type { CallFrame, Hex } from 'plumbline-l2';
import type { Decoded } from '../lib/abi.js';
import { about, groups, shortHex } from '../lib/format.js';
import { Copyable } from '../ui/copyable.js';
import { Long } from '../ui/long.js';
import { decodeCall } from './abi.js';
import { type Names, short } from './names.js';

/** Frames that stand open to begin with. */
const OPEN_DEPTH = 3;
/** An allowance that is as good as without limit. */
const LIMITLESS = 1n << 255n;

/** The calls inside a call, each with what it was called with; all can be folded. */
export function CallTree({ of, names }: { readonly of: readonly CallFrame[]; readonly names: Names }) {
  return (
    <ul class="frames">
      {of.map((frame, i) => (
        <Frame key={i} of={frame} names={names} depth={0} />
      ))}
    </ul>
  );
}

interface FrameProps {
  readonly of: CallFrame;
  readonly names: Names;
  readonly depth: number;
}

function Frame({ of: frame, names, depth }: FrameProps) {
  const { type, to, calls = [], logs = [], error, value, gasUsed, input, output } = frame;
  const decoded = decodeCall(input);
  return (
    <li>
      <details open={depth < OPEN_DEPTH}>
        <summary class={error === undefined ? 'frame' : 'frame frame-failed'}>
          <span class="frame-type">{type}</span> <b>{to === undefined ? 'a new contract' : names.account(to)}</b>{' '}
          <span class="frame-what">{title(decoded, frame, names)}</span>
          {value !== undefined && BigInt(value) > 0n && (
            <span class="frame-value"> with {about(BigInt(value), 18)} ETH</span>
          )}
          {error !== undefined && <span class="frame-error"> failed: {error}</span>}
        </summary>
        <p class="frame-facts">
          {to !== undefined && <Copyable hex={to} name="the address" />} {groups(BigInt(gasUsed))} gas
          {logs.length > 0 && `, ${logs.length} ${logs.length === 1 ? 'event' : 'events'}`}
          {input !== '0x' && <Bytes name="input" hex={input} />}
          {output !== undefined && output !== '0x' && <Bytes name="output" hex={output} />}
        </p>
        {calls.length > 0 && (
          <ul class="frames">
            {calls.map((inner, i) => (
              <Frame key={i} of={inner} names={names} depth={depth + 1} />
            ))}
          </ul>
        )}
      </details>
    </li>
  );
}

function title(decoded: Decoded | undefined, { to, input }: CallFrame, names: Names): string {
  if (decoded === undefined) return input === '0x' ? '' : shortHex(input.slice(0, 10));
  const args = decoded.args.map(({ name, type, word }) => {
    const isTokens = name === 'amount' && to !== undefined && names.isToken(to) && BigInt(word) < LIMITLESS;
    const text = isTokens ? names.amount({ kind: 'erc20', address: to }, BigInt(word)) : textOf(type, word, names);
    return `${name} ${text}`;
  });
  return `${decoded.name}(${args.join(', ')})`;
}

function textOf(type: string, word: Hex, names: Names): string {
  if (type === 'address') return names.account(`0x${word.slice(26)}`);
  if (type === 'bool') return BigInt(word) === 0n ? 'no' : 'yes';
  const value = BigInt(word);
  return value >= LIMITLESS ? 'without limit' : short(value);
}

function Bytes({ name, hex }: { readonly name: string; readonly hex: Hex }) {
  return (
    <span class="frame-bytes">
      <Long name={name} text={hex} named />
    </span>
  );
}
