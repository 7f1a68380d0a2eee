import { CHECKS, type CheckName } from './check-table.js';
import type { InclusionVerdict, TransactionDiagnosis } from './diagnosis.js';
import type { Finding } from './finding.js';

type Origin = TransactionDiagnosis['origin'];

/** The next step where no check fails. */
const GO_ON: Readonly<Record<Origin, string>> = {
  call: 'Sign it with the values of `filled`, and send it.',
  raw: 'Send it.',
  block: 'Nothing: a block has it. Its receipt says whether its execution succeeded.',
  pool: 'Wait for one of the next blocks.',
  endpoint: 'Wait for one of the next blocks.',
  none: 'No block has it, and no endpoint that was asked knows it. Pass the signed bytes, and send them if they are fine.',
};

/** The verdict of all checks together, and what to do next. */
export function verdictOf(
  findings: readonly Finding[],
  origin: Origin,
): { readonly verdict: InclusionVerdict; readonly nextStep: string } {
  const failing = findings.filter(({ outcome }) => outcome === 'fails');
  const withFailure = (failure: string) => failing.find(({ check }) => CHECKS[check].failure === failure);
  const open = findings.find(({ check, outcome }) => outcome === 'unknown' && CHECKS[check].decides);
  const [refused, waits, other] = [withFailure('refused'), withFailure('waits'), withFailure('none')];
  if (refused !== undefined) return { verdict: 'will-be-refused', nextStep: stepFor(refused) };
  if (open !== undefined) {
    const known = other ?? waits;
    const nextStep =
      known === undefined ? `Ask again: ${open.check} could not be checked: ${open.reason}.` : stepFor(known);
    return { verdict: 'cannot-tell', nextStep };
  }
  if (waits !== undefined) return { verdict: 'will-wait', nextStep: stepFor(waits) };
  const nextStep = other === undefined ? GO_ON[origin] : stepFor(other);
  if (origin === 'none') return { verdict: 'cannot-tell', nextStep };
  return { verdict: origin === 'block' ? 'included' : 'will-be-included', nextStep };
}

const ORDER = Object.keys(CHECKS) as CheckName[];

/** In the order of the table. */
export function inOrder(findings: readonly Finding[]): readonly Finding[] {
  return [...findings].sort((a, b) => ORDER.indexOf(a.check) - ORDER.indexOf(b.check));
}

function stepFor(finding: Finding): string {
  return CHECKS[finding.check].nextStep.replace(/\{(found|needed|reason|remedy)\}/g, (_, name: keyof Finding) =>
    String(finding[name] ?? 'unknown'),
  );
}
