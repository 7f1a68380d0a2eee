import type { InclusionVerdict, TransactionCheck, TransactionDiagnosis } from '../../diagnosis/diagnosis.js';
import { invalidParameter } from '../../errors.js';
import { type Command, EXIT, readArguments } from './arguments.js';
import { CALL_HELP, CALL_OPTIONS, readCall } from './call-options.js';
import { ENDPOINT_EXIT, ENDPOINT_HELP, ENDPOINT_OPTIONS, withNode } from './endpoints.js';
import { exactEtherText, priceText, printJson, printLines } from './lines.js';

const EXITS: Readonly<Record<InclusionVerdict, number>> = {
  included: EXIT.ok,
  'will-be-included': EXIT.ok,
  'will-wait': EXIT.failed,
  'will-be-refused': EXIT.failed,
  'cannot-tell': EXIT.usage,
};

const OPTIONS = {
  dictionary: { type: 'string' },
  verbose: { type: 'boolean', default: false },
  ...CALL_OPTIONS,
  ...ENDPOINT_OPTIONS,
} as const;

/** `plumbline diagnose`: whether a transaction will be included, and why not. */
export const diagnoseCommand: Command = {
  help: `plumbline diagnose [TRANSACTION] [options]

  TRANSACTION           hash, or the signed bytes. Leave it out if the options describe a call
${CALL_HELP}
  --dictionary FILE     compression dictionary of the network (default: the one of its profile, which is downloaded)
  --verbose             a line for each check, not only for those that failed

${ENDPOINT_HELP}

Exit codes: 0 it is or will be included, 1 it will wait or be refused, 2 cannot tell; ${ENDPOINT_EXIT}`,

  options: OPTIONS,

  async run(args) {
    const { values, positionals } = readArguments(args, OPTIONS, { count: 1, optional: true, name: 'TRANSACTION' });
    const [given] = positionals;
    const call = await readCall(values);
    if ((given === undefined) === (call === undefined))
      throw invalidParameter(
        'TRANSACTION',
        'expected a hash, the bytes of a transaction, or else the options of a call',
      );
    return withNode(values, values.dictionary, async (node) => {
      const diagnosis = await node.diagnoseTransaction(call ?? (given as `0x${string}`));
      if (values.json) printJson(diagnosis);
      else printLines(...inWords(diagnosis, values.verbose));
      return EXITS[diagnosis.verdict];
    });
  },
};

function inWords(diagnosis: TransactionDiagnosis, verbose: boolean): string[] {
  const { verdict, nextStep, hash, from, included, checks, block, trust } = diagnosis;
  return [
    `${verdict}: ${nextStep}`,
    ...(hash ? [`hash    ${hash}`] : []),
    ...(from ? [`sender  ${from}`] : []),
    ...(included ? [`block   ${included.blockNumber} ${included.blockHash}`] : []),
    ...(verbose ? checks.map(checkInWords) : folded(checks)),
    ...(block === null ? [] : [`checked after block ${block}, level ${trust}`]),
  ];
}

/**
 * A line for each check that failed. What could not be checked for the same reason is counted below it, or has a line for the
 * reason; all that is ok has one line together.
 */
function folded(checks: readonly TransactionCheck[]): string[] {
  const failed = checks.filter(({ outcome }) => outcome === 'fails');
  const ok = checks.filter(({ outcome }) => outcome === 'ok').length;
  const unknown = new Map<string, string[]>();
  for (const { check, outcome, reason = '' } of checks)
    if (outcome === 'unknown') unknown.set(reason, [...(unknown.get(reason) ?? []), check]);
  const lines = failed.flatMap((one) => {
    const depending = unknown.get(one.reason ?? '')?.length ?? 0;
    unknown.delete(one.reason ?? '');
    return [
      checkInWords(one),
      ...(depending === 0 ? [] : [`            could not be checked because of it: ${depending}`]),
    ];
  });
  for (const [reason, names] of unknown) lines.push(`  unknown ${names.join(', ')}: ${reason}`);
  const all = `${ok} ok of ${checks.length}; --verbose lists all`;
  return checks.length === 0 ? [] : [...lines, `checks  ${all}`];
}

function checkInWords({ check, outcome, found, needed, rule, unit, reason }: TransactionCheck): string {
  const number = (quantity: string) => {
    if (unit === 'wei') return exactEtherText(quantity);
    if (unit === 'wei per gas') return `${priceText(quantity)} per gas`;
    return `${BigInt(quantity)}${unit === undefined ? '' : ` ${unit}`}`;
  };
  const compared = [
    found === undefined ? undefined : number(found),
    needed === undefined ? undefined : `${rule ?? 'limit'} ${number(needed)}`,
    reason,
  ].filter((part) => part !== undefined);
  return `  ${outcome.padEnd(8)}${check.padEnd(18)}${compared.join(', ')}`.trimEnd();
}
