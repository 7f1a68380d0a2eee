import { invalidParameter } from '../../errors.js';
import type { ExplainedEstimate } from '../../rpc/schema/answers.js';
import { type Command, EXIT, readArguments } from './arguments.js';
import { blockParameter, CALL_HELP, CALL_OPTIONS, readCall } from './call-options.js';
import { ENDPOINT_EXIT, ENDPOINT_HELP, ENDPOINT_OPTIONS, withNode } from './endpoints.js';
import { exactEtherText, priceText, printJson, printLines } from './lines.js';

const OPTIONS = {
  block: { type: 'string' },
  dictionary: { type: 'string' },
  ...CALL_OPTIONS,
  ...ENDPOINT_OPTIONS,
} as const;

/** `plumbline estimate`: what a call costs, executed here on proved state. */
export const estimateCommand: Command = {
  help: `plumbline estimate [options]

${CALL_HELP}
  --block N             estimate on the state after this block (default: the newest)
  --dictionary FILE     compression dictionary of the network (default: the one of its profile, which is downloaded)

${ENDPOINT_HELP}

Exit codes: 0 done, 1 refused: the call reverts or could not be sent, ${ENDPOINT_EXIT}`,

  options: OPTIONS,

  async run(args) {
    const { values } = readArguments(args, OPTIONS, { count: 0, name: '' });
    const call = await readCall(values);
    if (call === undefined) throw invalidParameter('--to', 'is missing; describe the call, or name a file with --call');
    return withNode(values, values.dictionary, async (node) => {
      const params = [call, ...(values.block === undefined ? [] : [blockParameter(values.block)])];
      const estimate = await node.explainEstimate(params);
      if (values.json) printJson(estimate);
      else printLines(...inWords(estimate));
      return EXIT.ok;
    });
  },
};

function inWords({ gasLimit, baseFeePerGas, priorityFeePerGas, evidence }: ExplainedEstimate): string[] {
  const { gas, block, trust, transactionBytes, compressedTxSize, dictionary, maxFeePerGas, totalFee, limits } =
    evidence;
  const approximate = dictionary.networkOwn
    ? ''
    : `: an approximation, ${dictionary.reason ?? "it is not the network's own"}`;
  return [
    `gas limit     ${BigInt(gasLimit)} (${BigInt(gas.gasUsed)} used)`,
    `base fee      ${priceText(baseFeePerGas)} per gas`,
    `priority fee  ${priceText(priorityFeePerGas)} per gas`,
    `max fee       ${priceText(maxFeePerGas)} per gas`,
    `total fee     ${exactEtherText(totalFee)} at most, without the value`,
    `data          ${transactionBytes} bytes, ${compressedTxSize} bytes compressed, dictionary ${dictionary.name}${approximate}`,
    `computed      after block ${block}, level ${trust}`,
    ...(limits.unchecked.length > 0
      ? [`not counted   lines of ${limits.unchecked.length} modules of the zk circuit, which only the network counts`]
      : []),
  ];
}
