import { useSignalEffect } from '@preact/signals';
import { formatMs, groups, shortHex } from '../lib/format.js';
import { phase, running } from '../state/session.js';
import { Failure } from '../ui/failure.js';
import { LIES, type LieName } from './lies.js';
import { Path } from './path.js';
import type { Checked } from './proof.js';
import { act, lie, perform } from './state.js';
import { inTokens, type Step, stepsOf } from './steps.js';

/** Whether nothing is on the way that could answer. */
function isStopped(): boolean {
  return phase.value.name === 'idle' || phase.value.name === 'failed';
}

/** The headline, which says no more than what has been checked. */
function claim(): string {
  const now = act.value;
  if (now.name === 'failed') return 'This balance could not be checked.';
  if (now.name === 'waiting')
    return `This balance is not believed. It is ${isStopped() ? 'not checked yet' : 'being checked here'}.`;
  if (now.checked.verified) return 'This balance was not believed. It was checked here.';
  return 'This balance was not believed. It was refused here.';
}

/** A proof that is checked by itself, and the same from a server that lies. */
export function ActPanel() {
  useSignalEffect(() => {
    void running.value;
    void lie.value;
    void perform();
  });
  const now = act.value;
  return (
    <section class="panel act" aria-label="A balance and its proof">
      <h2>{claim()}</h2>
      <div>
        <div aria-live="polite">{now.name === 'checked' ? <Verdict of={now.checked} /> : <Pending />}</div>
        <LieButton />
      </div>
      {now.name === 'checked' ? <Path key={now.checked.lie} of={now.checked} /> : <PathToCome />}
      <div class="act-more">
        <OtherLies />
        <p class="hint">
          The server, its chain and layer 1 are simulated in this page, so nothing is sent and no key is needed. On
          Linea the same check runs on the answers of real servers.
        </p>
      </div>
    </section>
  );
}

function Pending() {
  const now = act.value;
  if (now.name === 'failed') return <Failure error={now.error} />;
  return (
    <div class="act-verdict">
      <p class="act-amount">Account 1 holds …</p>
      <p>
        {isStopped() ? (
          <>
            The chain of this page does not run. <a href="#node">Start it</a>.
          </>
        ) : (
          'The chain of this page is starting. Then its answer is checked.'
        )}
      </p>
    </div>
  );
}

/** The outcome in sentences. */
function Verdict({ of }: { readonly of: Checked }) {
  const { balance, block, hashes, ms, verified, lie: lied } = of;
  if (verified) {
    return (
      <div class="act-verdict is-good">
        <p class="act-amount">{inTokens(balance)}</p>
        <p>
          Account 1 holds {inTokens(balance)} at block {groups(block)}.
        </p>
        <p>
          Checked: {groups(hashes)} hashes in {formatMs(ms)}, from the root on layer 1 down to the balance.
        </p>
      </div>
    );
  }
  const failed = stepsOf(of).find(({ state }) => state === 'failed');
  return (
    <div class="act-verdict is-bad">
      <p class="act-amount">Refused. No balance shown.</p>
      <p>{lied === 'balance' ? `The server said ${inTokens(balance)}.` : `The server changed ${LIES[lied!]}.`}</p>
      {failed !== undefined && <Reason of={failed} />}
    </div>
  );
}

function Reason({ of: { hash, wanted } }: { readonly of: Step }) {
  return (
    <p>
      That hashes to <code>{shortHex(hash)}</code>, but the proof needs <code>{shortHex(wanted)}</code>.
    </p>
  );
}

/** One click has the server lie, another has it stop. */
function LieButton() {
  const honest = lie.value === undefined;
  return (
    <div class="actions">
      <button
        type="button"
        class={honest ? 'primary' : ''}
        onClick={() => {
          lie.value = honest ? 'balance' : undefined;
        }}
      >
        {honest ? 'Let the server lie' : 'Let it tell the truth'}
      </button>
    </div>
  );
}

/** Once it has lied, it can lie about something else. */
function OtherLies() {
  if (lie.value === undefined) return null;
  return (
    <fieldset class="choice">
      <legend>The server lies about</legend>
      <div class="choice-options">
        {(Object.keys(LIES) as LieName[]).map((name) => (
          <label key={name}>
            <input
              type="radio"
              name="lie"
              value={name}
              checked={name === lie.value}
              onChange={() => {
                lie.value = name;
              }}
            />
            <span class="choice-label">{LIES[name]}</span>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

const TO_COME = 6;

/** Room for the path, so that nothing moves when it is there. */
function PathToCome() {
  return (
    <ol class="path" aria-hidden="true">
      {Array.from({ length: TO_COME }, (_, i) => (
        <li key={i} class="path-step is-not-reached">
          <span class="path-sign">·</span>
          <div class="path-body" />
        </li>
      ))}
    </ol>
  );
}
