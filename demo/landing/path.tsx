import { shortHex } from '../lib/format.js';
import type { Step as Level } from '../proofs/anatomy.js';
import type { Checked } from './proof.js';
import { type Step, type StepState, stepsOf } from './steps.js';

const SIGNS: Readonly<Record<StepState, string>> = { trusted: '●', passed: '✓', failed: '✗', 'not-reached': '·' };
const WORDS: Readonly<Record<StepState, string>> = {
  trusted: 'trusted',
  passed: 'holds',
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

function PathStep({ step: { name, title, state, hash, wanted, wantedName, levels } }: { readonly step: Step }) {
  const same = hash === wanted;
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
            {wantedName !== '' && same && <span> = {wantedName}</span>}
            {!same && (
              <span>
                {' ≠ '}
                <code title={wanted}>{shortHex(wanted, 8)}</code> {wantedName}
              </span>
            )}
          </p>
        )}
      </div>
    </li>
  );
}

const [GAP, NEAR, FAR] = [10, 4, 13];

/** The levels of a path from left to right: a dot for each hash, and what stands beside it in the tree. */
function Levels({ of }: { readonly of: readonly Level[] }) {
  const at = (i: number) => GAP * i + GAP / 2;
  return (
    <svg class="path-levels" viewBox={`0 0 ${GAP * of.length} 17`} aria-hidden="true">
      <polyline points={of.map(({ right }, i) => `${at(i)},${right ? FAR : NEAR}`).join(' ')} />
      {of.map(({ level, right, empty, hash }, i) => (
        <g key={level} class={empty ? 'is-empty' : ''}>
          <circle cx={at(i)} cy={right ? FAR : NEAR} r="3">
            <title>{hash}</title>
          </circle>
          <rect x={at(i) - 2.5} y={(right ? NEAR : FAR) - 2.5} width="5" height="5" rx="1" />
        </g>
      ))}
    </svg>
  );
}
