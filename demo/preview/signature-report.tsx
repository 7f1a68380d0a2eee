import type { Hex, SignaturePreview } from 'plumbline-l2';
import { groups, pretty } from '../lib/format.js';
import { type Tone, toneOf, weakest } from '../lib/trust.js';
import { Copyable } from '../ui/copyable.js';
import { Facts } from '../ui/facts.js';
import { Known } from '../ui/known.js';
import { Json, Panel } from '../ui/panel.js';
import { AnswerTo, CopyLink } from '../ui/question.js';
import { Verdict } from '../ui/verdict.js';
import { ensNames } from './ens.js';
import { namesOf } from './names.js';
import { TONES } from './report.js';
import { fields, type ShownSignature } from './state.js';
import { approvalWords, findingWords, outcomeWords } from './words.js';

/** What a signature allows: the worst first, then what happens when it is used. */
export function SignatureReport({ of }: { readonly of: ShownSignature }) {
  const { result, known } = of.answer;
  const names = namesOfSignature(result, ensNames.value);
  const severities = result.findings.map(({ severity }) => severity);
  const tone: Tone = severities.includes('warning') || result.family === 'unknown' ? 'warn' : 'good';
  const approvals = result.effects?.calls.flatMap((call) => call.approvals) ?? [];
  const { digest, family, evidence, trust } = result;
  const aside = (
    <>
      <Known of={known} />
      <CopyLink to={of.question} name="this preview" />
    </>
  );
  return (
    <AnswerTo to={of.question} now={fields.value}>
      <Panel title="What it allows" aside={aside} class="result">
        <Verdict tone={severities.includes('danger') ? 'bad' : weakest(tone, toneOf(known))} of={of}>
          {signatureVerdict(result)}
        </Verdict>
        <ul class="warnings" aria-label="Warnings">
          {result.findings.map((finding, i) => {
            const { title, text } = findingWords(finding, names);
            return (
              <li key={i} class={`notice notice-${TONES[finding.severity]}`} data-warning={finding.code}>
                <p class="notice-title">{title}</p>
                <p class="notice-advice">{text}</p>
              </li>
            );
          })}
        </ul>
        {approvals.length > 0 && (
          <>
            <h3>When it is used</h3>
            <ul class="sentences">
              {approvals.map((one, i) => (
                <li key={i}>{approvalWords(one, names)}</li>
              ))}
            </ul>
          </>
        )}
        <h3>What this rests on</h3>
        <Facts
          of={[
            { name: 'Kind', value: family, prose: true },
            digest !== null && { name: 'Digest', value: <Copyable hex={digest} name="digest" /> },
            { name: 'State after', value: `block ${groups(trust.block.number)}`, prose: true },
            evidence.supposed !== null && {
              name: 'Supposed',
              value: 'that the signature is there: it was checked as valid for this digest alone',
              prose: true,
            },
            evidence.notExecuted !== undefined && { name: 'Not run', value: evidence.notExecuted, prose: true },
          ]}
        />
        <Json summary="The preview as data" text={pretty(result)} />
      </Panel>
    </AnswerTo>
  );
}

const namesOfSignature = ({ account, effects }: SignaturePreview, ens?: ReadonlyMap<Hex, string>) =>
  namesOf({ tokens: effects?.tokens ?? {}, users: [account], calls: [] }, ens);

/** What it allows, in a sentence. */
export function signatureVerdict(result: SignaturePreview): string {
  const { effects, findings, family } = result;
  const names = namesOfSignature(result);
  const outcome =
    effects === null ? undefined : outcomeWords({ ...effects, warnings: findings as never, fees: {} }, names);
  const dangers = findings.filter(({ severity }) => severity === 'danger').length;
  const first = outcome === undefined ? '' : `${outcome} `;
  if (dangers > 0)
    return `${first}Do not sign this, unless you know why ${dangers === 1 ? 'this is' : 'these are'} right.`;
  if (family === 'unknown') return 'What this allows is not known.';
  return `${first}Nothing dangerous was found.`;
}
