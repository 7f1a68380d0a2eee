import { accountName } from '../lib/accounts.js';
import { groups, pretty } from '../lib/format.js';
import { toneOf, weakest } from '../lib/trust.js';
import { PreviewReport } from '../preview/report.js';
import type { Question } from '../state/link.js';
import { useAction } from '../ui/action.js';
import { Form, Outcome } from '../ui/form.js';
import { Known } from '../ui/known.js';
import { Json, Panel } from '../ui/panel.js';
import { AnswerTo, CopyLink } from '../ui/question.js';
import { Verdict } from '../ui/verdict.js';
import { Text } from './form.js';
import { claim, finalize, LABELS, previewClaim } from './read.js';
import { claimer, type Followed, fields, type Missing, previewed } from './state.js';
import { ether, recipientOf, type Step, stepsOf, sumOf } from './steps.js';
import { Way } from './way.js';

interface ReportProps {
  readonly of: Followed;
  readonly question: Question;
}

/** The outcome, what can be done next, the way, and what the claim would do. */
export function WithdrawReport({ of, question }: ReportProps) {
  const preview = previewed.value;
  const steps = stepsOf(of, preview);
  return (
    <AnswerTo to={question} now={fields.value}>
      <Panel title="From layer 2 to layer 1" class="result" aside={<CopyLink to={question} name="this withdrawal" />}>
        <Verdict tone={toneOfSteps(of, steps)} of={of}>
          {verdictText(of, steps)}
        </Verdict>
        <Fee of={of} />
        <Actions of={of} steps={steps} />
        <Way steps={steps} of={of} />
        {'transaction' in of.claim && !of.own && (
          <Json summary="The claim, to be sent by a wallet on layer 1" text={pretty(of.claim.transaction)} />
        )}
      </Panel>
      {preview !== undefined && (
        <PreviewReport
          of={preview}
          title="What the claim does"
          now={{ message: of.message.hash }}
          named={new Map([[of.rollup, 'the rollup contract']])}
        />
      )}
    </AnswerTo>
  );
}

/** The message was not found where it was looked for. */
export function NotFound({ missing, question }: { readonly missing: Missing; readonly question: Question }) {
  return (
    <AnswerTo to={question} now={fields.value}>
      <Panel title="From layer 2 to layer 1" class="result">
        <Verdict tone="none" of={missing}>
          {missingText(missing)}
        </Verdict>
        <p class="way-basis">
          <Known of={{ class: missing.layerOne.level === 'held' ? 'held' : 'proved', level: missing.proved.level }} />
          <span>The logs of these blocks were checked to be complete.</span>
        </p>
        <p class="hint">
          If you know the block in which it was sent, name it. The hash may also be of another network.
        </p>
      </Panel>
    </AnswerTo>
  );
}

export function missingText({ proved: { from, to } }: Missing): string {
  return `There is no such message in blocks ${groups(from)} to ${groups(to)}. Nothing is known of other blocks.`;
}

function toneOfSteps({ claim: { status } }: Followed, steps: readonly Step[]) {
  if (steps.some(({ state }) => state === 'false')) return 'bad';
  if (status === 'notFinal') return 'none';
  const reached = steps.filter(({ state }) => state !== 'waits');
  return weakest(...reached.map(({ known, state }) => (state === 'unknown' ? 'warn' : toneOf(known))));
}

/** The outcome in a sentence. */
export function verdictText(of: Followed, steps: readonly Step[]): string {
  const { message, claim, claimed } = of;
  const [sum, who] = [sumOf(message), accountName(recipientOf(message))];
  // Each step is checked against one that a server names.
  const told = steps.some(({ state }) => state === 'told') ? ', if layer 1 is as one server says' : '';
  const wrong = steps.find(({ state }) => state === 'false');
  if (wrong?.name === 'run') return `Do not claim it now: ${lower(wrong.title)}, so the claim would fail.`;
  if (wrong !== undefined) return `It cannot be claimed now. ${wrong.title}.`;
  switch (claim.status) {
    case 'notFinal':
      return `${sum} are on their way to ${who}. The block is not final yet.`;
    case 'claimed':
      return claimed === undefined
        ? `Claimed: ${sum} were paid to ${who}${told}.`
        : `Claimed: ${who} had ${ether(claimed.before)} and has ${ether(claimed.after)}${told}.`;
    case 'anchored':
      return steps.some(({ state }) => state === 'unknown')
        ? `${sum} can be claimed for ${who}, if the recipient takes it. Preview the claim.`
        : told === ''
          ? `${sum} can be claimed for ${who}. Every step is checked.`
          : `${sum} can be claimed for ${who}${told}.`;
    case 'inbox':
      return `${sum} can be claimed for ${who} without a proof: it is an old message.`;
    default:
      return 'It is final, and no root on layer 1 was found that holds it.';
  }
}

const lower = (text: string) => `${text.slice(0, 1).toLowerCase()}${text.slice(1)}`;

function Fee({ of: { message, claim } }: { readonly of: Followed }) {
  if (BigInt(message.fee) === 0n || claim.status === 'claimed') return null;
  return (
    <p class="notice notice-refused way-fee">
      Anybody may claim it first: whoever does is paid from the fee of {ether(message.fee)}. For a plain payment to an
      account that is at most what the claim costs, so it changes with the gas price; the rest goes to the recipient.
    </p>
  );
}

/** The three things to do, in their order; the next one stands out. */
function Actions({ of, steps }: { readonly of: Followed; readonly steps: readonly Step[] }) {
  const action = useAction(() => claimer.value);
  const { claim: found, own } = of;
  const isFinal = found.status !== 'notFinal';
  const isOpen = 'transaction' in found && found.status !== 'claimed';
  const stands = steps.some(({ state }) => state === 'false');
  const isPreviewed = previewed.value !== undefined;
  const button = (label: string, work: () => Promise<void>, isNext: boolean, isOff: boolean) => (
    <button
      type="button"
      class={isNext ? 'primary' : ''}
      aria-disabled={isOff || action.busy.value}
      onClick={() => !isOff && void action.run(work)}
    >
      {label}
    </button>
  );
  return (
    <div class="way-actions">
      <Form action={action} submit={() => previewClaim(of)}>
        {!own && isOpen && (
          <div class="fields">
            <Text label={LABELS.claimer} value={claimer} hint="Left empty: the recipient. It pays for the gas." wide />
          </div>
        )}
        <div class="actions">
          {own
            ? button('Finalize', () => finalize(of), !isFinal, isFinal)
            : button('Look again', () => finalize(of), !isFinal, false)}
          {button('Preview the claim', () => previewClaim(of), isOpen && !isPreviewed, !isOpen)}
          {own && button('Claim on layer 1', () => claim(of), isOpen && isPreviewed && !stands, !isOpen || stands)}
        </div>
        <p class="hint" role="status">
          {action.busy.value ? 'Working…' : hint(of, stands)}
        </p>
        <Outcome action={action} />
      </Form>
    </div>
  );
}

/** What is to be done next, and what it means. */
function hint({ claim: { status }, own }: Followed, stands: boolean): string {
  if (status === 'claimed') return 'Nothing is left to do. A message is claimed once.';
  if (stands) return 'The preview shows how the claim fails.';
  if (status === 'notFinal')
    return own
      ? 'To finalize it, two blocks are mined: the devnet then finalizes the block on its layer 1.'
      : 'Come back later: the link of this page asks the same again.';
  return own
    ? 'The preview executes the claim and sends nothing. Dev account 1 then claims, and pays for the gas.'
    : 'The preview executes the claim and sends nothing. A wallet on layer 1 sends it.';
}
