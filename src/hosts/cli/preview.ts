import { invalidParameter } from '../../errors.js';
import type { PreviewCall, PreviewOptions } from '../../rpc/inspection/transaction-preview.js';
import { type Command, EXIT, readArguments } from './arguments.js';
import { blockParameter, CALL_HELP, CALL_OPTIONS, readCall } from './call-options.js';
import { ENDPOINT_EXIT, ENDPOINT_HELP, ENDPOINT_OPTIONS, withNode } from './endpoints.js';
import { printJson, printLines } from './lines.js';
import { previewInWords } from './preview-words.js';

/** `plumbline preview`: what calls would do in the next block. */
export const previewCommand: Command = {
  help: `plumbline preview [options]

${CALL_HELP}.
                        For preview it may also hold a list of up to 32 calls, which run one after the other
  --watch HEX           account whose balances are shown too; may be given several times
  --error SIGNATURE     error that a contract may revert with, such as 'Denied(address)'; may be given several times
  --block N             state to run on (default: the newest)
  --dictionary FILE     compression dictionary of the network, for fees (default: the one of its profile, downloaded)

${ENDPOINT_HELP}

A preview is no promise: the state may change before the transaction is included. Endpoints see which accounts and slots are
read, not the calls.

Exit codes: 0 every call succeeds, 1 a call fails or could not be sent, ${ENDPOINT_EXIT}`,

  async run(args) {
    const many = { type: 'string', multiple: true } as const;
    const own = { watch: many, error: many, block: { type: 'string' }, dictionary: { type: 'string' } } as const;
    const { values } = readArguments(args, { ...own, ...CALL_OPTIONS, ...ENDPOINT_OPTIONS }, { count: 0, name: '' });
    const calls = await readCall(values);
    if (calls === undefined)
      throw invalidParameter('--to', 'is missing; describe the call, or name a file with --call');
    const { watch, error: errors, block } = values;
    const options = {
      ...(watch !== undefined && { watch }),
      ...(errors !== undefined && { errors }),
      ...(block !== undefined && { block: blockParameter(block) }),
    };
    return withNode(values, values.dictionary, async (node) => {
      // The node checks what the files and the options hold.
      const preview = await node.previewTransaction(calls as PreviewCall, options as PreviewOptions);
      if (values.json) printJson(preview);
      else printLines(...previewInWords(preview));
      return preview.calls.every(({ status }) => status === 'success') ? EXIT.ok : EXIT.failed;
    });
  },
};
