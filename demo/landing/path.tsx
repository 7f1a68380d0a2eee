import { shortHex } from '../lib/format.js';
import type { Step as Level } from '../proofs/anatomy.js';
import type { Checked } from './proof.js';
import { type Step, type StepState, stepsOf } from './steps.js';

const SIGNS: Readonly<Record<StepState, string>> = { trusted: '●', passed: '✓', failed: '✗', 'not-reached': '·' };
const WORDS: Readonly<Record<StepState, string>> = {
  trusted: 'trusted',
  passed: 'checked',
  failed: 'refused here',
  'not-reached': 'not reached',
};

/** From the root on layer 1 down to the balance: each hash that was made here, and what it has to be. */
export function Path({ of }: { readonly of: Checked }) {
  return (
    <ol class="path" aria-label="From layer 1 to the balance">
      {stepsOf(of).map((step) => (
        <PathStep key={step.name} step={step} />
      ))}
    </ol>
  );
}

function PathStep({ step: { name, title, state, hash, wanted, levels } }: { readonly step: Step }) {
  return (
    <li class={`path-step is-${state}`} data-step={name}>
      <span class="path-sign" aria-hidden="true">
        {SIGNS[state]}
      </span>
      <div class="path-body">
        <p class="path-title">
          {title} <span class="path-word">{WORDS[state]}</span>
        </p>
        {levels !== undefined && <Levels of={levels} />}
        {state !== 'not-reached' && (
          <p class="path-hash">
            <code title={hash}>{shortHex(hash, 8)}</code>
            {state === 'passed' && ', as the step above says'}
            {state === 'failed' && (
              <>
                {' ≠ '}
                <code title={wanted}>{shortHex(wanted, 8)}</code>, which the step above says
              </>
            )}
          </p>
        )}
      </div>
    </li>
  );
}

const [GAP, NEAR, FAR, SIZE] = [10, 4, 13, 5];

/** The levels of a path from left to right: a dot for each hash, and beside it what else is in the tree. */
export function Levels({ of }: { readonly of: readonly Pick<Level, 'right' | 'empty'>[] }) {
  const at = (i: number) => GAP * i + GAP / 2;
  const nodes = of.map(({ right }, i) => `${at(i)},${right ? FAR : NEAR}`);
  const squares = (empty: boolean) =>
    of
      .map((level, i) => ({ ...level, x: at(i) - SIZE / 2, y: (level.right ? NEAR : FAR) - SIZE / 2 }))
      .filter((level) => level.empty === empty)
      .map(({ x, y }) => `M${x},${y}h${SIZE}v${SIZE}h-${SIZE}z`)
      .join('');
  return (
    <svg class="path-levels" viewBox={`0 0 ${GAP * of.length} 17`} aria-hidden="true">
      <polyline points={nodes.join(' ')} />
      {/* A line of no length is drawn as a dot. */}
      <path class="path-nodes" d={nodes.map((node) => `M${node}h0`).join('')} />
      <path class="path-beside" d={squares(false)} />
      <path class="path-empty" d={squares(true)} />
    </svg>
  );
}
