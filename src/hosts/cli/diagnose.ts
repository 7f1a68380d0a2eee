import type { InclusionVerdict, TransactionCheck, TransactionDiagnosis } from '../../diagnosis/diagnosis.js';
import { invalidParameter } from '../../errors.js';
import { type Command, EXIT, readArguments } from './arguments.js';
import { CALL_HELP, CALL_OPTIONS, readCall } from './call-options.js';
import { ENDPOINT_EXIT, ENDPOINT_HELP, ENDPOINT_OPTIONS, withNode } from './endpoints.js';
import { printJson, printLines } from './lines.js';

const EXITS: Readonly<Record<InclusionVerdict, number>> = {
  included: EXIT.ok,
  'will-be-included': EXIT.ok,
  'will-wait': EXIT.failed,
  'will-be-refused': EXIT.failed,
  'cannot-tell': EXIT.usage,
};

/** `plumbline diagnose`: whether a transaction will be included, and why not. */
export const diagnoseCommand: Command = {
  help: `plumbline diagnose [TRANSACTION] [options]

  TRANSACTION           hash, or the signed bytes; left out where the options describe a call
${CALL_HELP}
  --dictionary FILE     compression dictionary of the network (default: the one of its profile, downloaded)

${ENDPOINT_HELP}

Exit codes: 0 it is or will be included, 1 it will wait or be refused, 2 cannot tell; ${ENDPOINT_EXIT}`,

  async run(args) {
    const own = { dictionary: { type: 'string' } } as const;
    const options = { ...own, ...CALL_OPTIONS, ...ENDPOINT_OPTIONS };
    const { values, positionals } = readArguments(args, options, { count: 1, optional: true, name: 'TRANSACTION' });
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
      else printLines(...inWords(diagnosis));
      return EXITS[diagnosis.verdict];
    });
  },
};

function inWords({ verdict, nextStep, hash, from, included, checks, block, trust }: TransactionDiagnosis): string[] {
  return [
    `${verdict}: ${nextStep}`,
    ...(hash ? [`hash    ${hash}`] : []),
    ...(from ? [`sender  ${from}`] : []),
    ...(included ? [`block   ${included.blockNumber} ${included.blockHash}`] : []),
    ...checks.map(checkInWords),
    ...(block === null ? [] : [`checked after block ${block}, level ${trust}`]),
  ];
}

function checkInWords({ check, outcome, found, needed, rule, unit, reason }: TransactionCheck): string {
  const number = (quantity: string) => `${BigInt(quantity)}${unit === undefined ? '' : ` ${unit}`}`;
  const compared = [
    found === undefined ? undefined : number(found),
    needed === undefined ? undefined : `${rule ?? 'limit'} ${number(needed)}`,
    reason,
  ].filter((part) => part !== undefined);
  return `  ${outcome.padEnd(8)}${check.padEnd(18)}${compared.join(', ')}`.trimEnd();
}
