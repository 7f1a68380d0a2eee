import type { Hex } from 'plumbline-l2';
import { pretty } from '../lib/format.js';
import { type Tone, toneOf, weakest } from '../lib/trust.js';
import type { Fields } from '../state/link.js';
import { Known } from '../ui/known.js';
import { Json, Panel } from '../ui/panel.js';
import { AnswerTo, CopyLink } from '../ui/question.js';
import { Verdict } from '../ui/verdict.js';
import { Balances } from './balances.js';
import { Cost } from './cost.js';
import { ensNames } from './ens.js';
import { Moves } from './moves.js';
import { type Names, namesOf } from './names.js';
import { Parties } from './parties.js';
import { SendIt } from './send-it.js';
import { fields, type Shown } from './state.js';
import { CallTree } from './tree.js';
import { Trust } from './trust.js';
import { approvalWords, contractWords, outcomeWords, revertWords, warningWords } from './words.js';

interface PreviewReportProps {
  readonly of: Shown;
  readonly title?: string;
  /** What the form says now. */
  readonly now?: Fields;
  /** Names of accounts. */
  readonly named?: ReadonlyMap<Hex, string>;
}

/** What the calls do: the outcome, what to know before signing, who gains and loses, and on what that rests. */
export function PreviewReport({
  of,
  title = 'What it does',
  now = fields.value,
  named = ensNames.value,
}: PreviewReportProps) {
  const { result, known } = of.answer;
  const names = namesOf(result, named);
  const approvals = result.calls.flatMap((call) => call.approvals);
  const contracts = result.calls.flatMap((call) => call.contracts);
  const severities = result.warnings.map(({ severity }) => severity);
  const isBad = failedCall(of) !== undefined || severities.includes('danger');
  const tone: Tone = severities.includes('warning') ? 'warn' : 'good';
  const aside = (
    <>
      <Known of={known} />
      <CopyLink to={of.question} name="this preview" />
    </>
  );
  return (
    <AnswerTo to={of.question} now={now}>
      <Panel title={title} aside={aside} class="result">
        <Verdict tone={isBad ? 'bad' : weakest(tone, toneOf(known))} of={of}>
          {verdictText(of)}
        </Verdict>
        <Warnings of={of} names={names} />
        <h3>Who gains and who loses</h3>
        <Parties of={of} names={names} />
        <h3>What goes where</h3>
        <Moves of={of} names={names} />
        {approvals.length > 0 && (
          <>
            <h3>Approvals</h3>
            <Sentences of={approvals.map((one) => approvalWords(one, names))} />
          </>
        )}
        {contracts.length > 0 && (
          <>
            <h3>Contracts</h3>
            <Sentences of={contracts.map((one) => contractWords(one, names))} />
          </>
        )}
        <h3>What it costs</h3>
        <Cost of={of} />
        <h3>What this rests on</h3>
        <Trust of={of} names={names} />
        <details class="fold">
          <summary>Balances before and after</summary>
          <Balances of={of} names={names} />
        </details>
        <details class="fold">
          <summary>Every call inside</summary>
          <CallTree of={result.calls.map(({ tree }) => tree)} names={names} />
        </details>
        <Json summary="The preview as data" text={pretty(result)} />
        <SendIt of={of} names={names} />
      </Panel>
    </AnswerTo>
  );
}

/** Index of the first call that fails. */
function failedCall({ answer }: Shown): number | undefined {
  const at = answer.result.calls.findIndex(({ status }) => status !== 'success');
  return at < 0 ? undefined : at;
}

/** The outcome in a sentence. */
export function verdictText(of: Shown): string {
  const { calls, warnings: all } = of.answer.result;
  const warnings = all.filter(({ severity }) => severity !== 'note');
  const failed = failedCall(of);
  if (failed !== undefined) {
    const which = calls.length === 1 ? 'It' : `Call ${failed + 1} of ${calls.length}`;
    return `${which} would fail. ${revertWords(calls[failed]!.revert, calls[failed]!.tree.to)}`;
  }
  const what = ['It', 'Both calls'][calls.length - 1] ?? `All ${calls.length} calls`;
  const outcome = outcomeWords(of.answer.result, namesOf(of.answer.result));
  const first = outcome === undefined ? '' : `${outcome} `;
  if (warnings.length === 0) return `${first}${what} would succeed.`;
  return `${first}${what} would succeed, but read ${warnings.length === 1 ? 'this' : `these ${warnings.length} warnings`} before you sign.`;
}

/** By severity: the colour of a notice. */
export const TONES = { danger: 'bad', warning: 'refused', note: 'stale' } as const;

function Warnings({ of, names }: { readonly of: Shown; readonly names: Names }) {
  const { warnings } = of.answer.result;
  if (warnings.length === 0) return null;
  return (
    <ul class="warnings" aria-label="Warnings">
      {warnings.map((warning, i) => {
        const { title, text } = warningWords(warning, names);
        return (
          <li key={i} class={`notice notice-${TONES[warning.severity]}`} data-warning={warning.code}>
            <p class="notice-title">{title}</p>
            <p class="notice-advice">{text}</p>
          </li>
        );
      })}
    </ul>
  );
}

function Sentences({ of }: { readonly of: readonly string[] }) {
  return (
    <ul class="sentences">
      {of.map((text, i) => (
        <li key={i}>{text}</li>
      ))}
    </ul>
  );
}
