import { Copyable } from '../ui/copyable.js';
import { Failure } from '../ui/failure.js';
import { type Link, type LinkState, linksOf, statesOf } from './links.js';
import type { Reading, Refusal } from './state.js';

const SIGNS: Readonly<Record<LinkState, string>> = { trusted: '●', holds: '✓', refused: '✗', 'not-reached': '·' };
const WORDS: Readonly<Record<LinkState, string>> = {
  trusted: 'trusted',
  holds: 'holds',
  refused: 'refused',
  'not-reached': 'not reached',
};

interface ChainProps {
  readonly reading: Reading;
  readonly refusal: Refusal | undefined;
}

/** The links from the checkpoint down to the balance, each with its check and its values. */
export function Chain({ reading, refusal }: ChainProps) {
  const links = linksOf(reading);
  const states = statesOf(links, refusal?.link);
  return (
    <ol class="chain" aria-label="From layer 1 to the balance">
      {links.map((link, i) => (
        <Step key={link.name} link={link} state={states[i]!} refusal={refusal} />
      ))}
    </ol>
  );
}

interface StepProps {
  readonly link: Link;
  readonly state: LinkState;
  readonly refusal: Refusal | undefined;
}

function Step({ link: { name, title, by, check, from, values }, state, refusal }: StepProps) {
  const known = state !== 'not-reached' && state !== 'refused';
  return (
    <li class={`chain-link is-${state}`} data-link={name}>
      <div class="chain-check">
        <p class="chain-by">
          {by} <span class="chain-word">{WORDS[state]}</span>
        </p>
        <p class="chain-how">{check}</p>
      </div>
      <span class="chain-sign" aria-hidden="true">
        {SIGNS[state]}
      </span>
      <div class="chain-box">
        <h3>{name === 'account' && !known ? 'No balance is shown' : title}</h3>
        {from !== undefined && <p class="chain-from">from the {from} server</p>}
        {known && (
          <dl class="chain-values">
            {values.map(({ name: label, hex, text }) => (
              <div key={label}>
                <dt>{label}</dt>
                <dd>{hex === undefined ? text : <Copyable hex={hex} name={`${label}: ${title}`} />}</dd>
              </div>
            ))}
          </dl>
        )}
        {state === 'refused' && refusal !== undefined && <Refused of={refusal} />}
      </div>
    </li>
  );
}

/** What the server said, and the error of the node. */
function Refused({ of: { said, error } }: { readonly of: Refusal }) {
  const show = (value: string) => (value.startsWith('0x') ? <Copyable hex={value} name="value" /> : value);
  return (
    <>
      <dl class="chain-values">
        <div>
          <dt>The server says</dt>
          <dd class="chain-lie">{show(said.said)}</dd>
        </div>
        <div>
          <dt>Without the lie</dt>
          <dd>{show(said.truth)}</dd>
        </div>
      </dl>
      <Failure error={error} />
    </>
  );
}
