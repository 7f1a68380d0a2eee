import { Levels } from '../landing/path.js';
import { formatAge, groups, shortHex } from '../lib/format.js';
import { Copyable } from '../ui/copyable.js';
import { Known } from '../ui/known.js';
import type { Followed } from './state.js';
import type { Step, StepState } from './steps.js';

const SIGNS: Readonly<Record<StepState, string>> = { done: '✓', told: '✓', false: '✗', unknown: '?', waits: '·' };
const WORDS: Readonly<Record<StepState, string>> = {
  done: 'done and checked',
  told: 'done, as one server says',
  false: 'checked and false',
  unknown: 'could not check',
  waits: 'not yet',
};
/** The classes of the drawing (styles/chain.css). */
const CLASSES: Readonly<Record<StepState, string>> = {
  done: 'is-holds',
  told: 'is-told',
  false: 'is-refused',
  unknown: 'is-unknown',
  waits: 'is-not-reached',
};

interface WayProps {
  readonly steps: readonly Step[];
  readonly of?: Followed;
}

/** The way of a withdrawal, each step with its check and its values. */
export function Way({ steps, of }: WayProps) {
  return (
    <ol class="chain way" aria-label="From layer 2 to layer 1">
      {steps.map((step, i) => (
        <li key={step.name} class={`chain-link ${CLASSES[step.state]}`} data-step={step.name}>
          <div class="chain-check">
            <p class="chain-by">
              {step.by} <span class="chain-word">{WORDS[step.state]}</span>
            </p>
            <p class="chain-how">{step.check}</p>
          </div>
          <span class="chain-sign" aria-hidden="true">
            {step.state === 'waits' ? i + 1 : SIGNS[step.state]}
          </span>
          <div class="chain-box">
            <h3>{step.title}</h3>
            <Values of={step} />
            {step.name === 'tree' && of !== undefined && <Branch of={of} />}
            <Basis of={step} />
          </div>
        </li>
      ))}
    </ol>
  );
}

function Values({ of: { values, title } }: { readonly of: Step }) {
  if (values.length === 0) return null;
  return (
    <dl class="chain-values">
      {values.map(({ name, hex, text }) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{hex === undefined ? text : <Copyable hex={hex} name={`${name}: ${title}`} />}</dd>
        </div>
      ))}
    </dl>
  );
}

/** What a step rests on: how it is known, and the block of layer 1 that it is of. */
function Basis({ of: { known, at } }: { readonly of: Step }) {
  if (known === undefined && at === undefined) return null;
  return (
    <p class="way-basis">
      {known !== undefined && <Known of={known} />}
      {at !== undefined && (
        <span>
          at block {groups(at.number)} of layer 1, {at.number === 0 ? 'its first' : formatAge(at.timestamp)}
        </span>
      )}
    </p>
  );
}

/** The branch from the message to the root, level by level. */
function Branch({ of: { claim, branch } }: { readonly of: Followed }) {
  if (!('siblings' in claim) || branch === undefined) return null;
  const { siblings, leafIndex } = claim;
  const levels = siblings.map((sibling, height) => ({
    sibling,
    right: Math.floor(leafIndex / 2 ** height) % 2 === 1,
    empty: branch.empty[height]!,
  }));
  return (
    <details class="fold">
      <summary>The branch: {siblings.length} siblings</summary>
      <Levels of={levels.toReversed()} />
      <p class="hint">
        From the root, on the left, to the message. Squares are siblings; beside the hollow ones there is nothing in the
        tree.
      </p>
      <ol class="way-branch" aria-label="Siblings, from the message up">
        {levels.map(({ sibling, right, empty }, i) => (
          <li key={i}>
            <span>
              {i + 1}, {right ? 'left' : 'right'}
              {empty && ', empty'}
            </span>
            <code title={sibling}>{shortHex(sibling, 8)}</code>
          </li>
        ))}
      </ol>
    </details>
  );
}
