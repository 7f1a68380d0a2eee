import { invalidParameter } from '../../errors.js';
import type { Approval, Asset, ContractChange, PreviewedRevert, PreviewWarning } from '../../preview/preview.js';
import type { Hex } from '../../primitives/hex.js';
import type { PreviewCall, PreviewOptions, TransactionPreview } from '../../rpc/schema/transaction-preview.js';
import { type Command, EXIT, readArguments } from './arguments.js';
import { blockParameter, CALL_HELP, CALL_OPTIONS, readCall } from './call-options.js';
import { ENDPOINT_EXIT, ENDPOINT_HELP, ENDPOINT_OPTIONS, withNode } from './endpoints.js';
import { decimalText, etherText, oneLine, printJson, printLines } from './lines.js';

const OPTIONS = {
  watch: { type: 'string', multiple: true },
  error: { type: 'string', multiple: true },
  block: { type: 'string' },
  dictionary: { type: 'string' },
  ...CALL_OPTIONS,
  ...ENDPOINT_OPTIONS,
} as const;

/** `plumbline preview`: what calls would do in the next block. */
export const previewCommand: Command = {
  help: `plumbline preview [options]

${CALL_HELP}.
                        For preview, it may also contain a list of up to 32 calls, which run one after the other
  --watch HEX           account whose balances are also shown; may be given several times
  --error SIGNATURE     error with which a contract may revert, such as 'Denied(address)'; may be given several times
  --block N             state to run on (default: the newest)
  --dictionary FILE     compression dictionary of the network, for fees (default: the one of its profile, which is downloaded)

${ENDPOINT_HELP}

A preview is not a promise: the state may change before the transaction is included. Endpoints see which accounts and slots are
read, but not the calls.

Exit codes: 0 every call succeeds, 1 a call fails or could not be sent, ${ENDPOINT_EXIT}`,

  options: OPTIONS,

  async run(args) {
    const { values } = readArguments(args, OPTIONS, { count: 0, name: '' });
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

type Tokens = TransactionPreview['tokens'];

/** A preview in lines of text. What contracts say of themselves is shown without control characters. */
function previewInWords({ calls, balances, tokens, warnings, trust }: TransactionPreview): string[] {
  return [
    ...calls.flatMap(({ status, gasUsed, fee, feeError, revert, transfers, approvals, contracts }, i) => [
      `call ${i + 1}  ${status}${revert === undefined ? '' : `: ${revertText(revert)}`}, gas used ${BigInt(gasUsed)}${
        fee === undefined ? '' : `, fee ${etherText(fee.total)}`
      }`,
      ...(feeError === undefined ? [] : [`  no estimate: ${oneLine(feeError)}`]),
      ...transfers.map(
        ({ asset, from, to, amount, cause }) =>
          `  transfer  ${assetText(asset, amount, tokens)} from ${from} to ${to}${cause.endsWith('wrap') ? ` (${cause})` : ''}`,
      ),
      ...approvals.map((approval) => `  approval  ${approvalText(approval, tokens)}`),
      ...contracts.map((change) => `  contract  ${contractText(change)}`),
    ]),
    ...balances.map((balance) =>
      'account' in balance
        ? `balance   ${balance.account} ${changeText(balance.change ?? balance.told)}${assetText(
            balance.asset,
            balance.change ?? balance.told,
            tokens,
          )}${balance.change === null ? ', as its events say; the contract does not answer' : ''}`
        : `owner     of ${assetText(balance.asset, '1', tokens)}: ${ownerText(balance.ownerBefore)} before, ${ownerText(balance.ownerAfter)} after`,
    ),
    ...warnings.map((warning) => `${warning.severity.padEnd(8)}  ${warningText(warning)}`),
    `on the state after block ${trust.block.number}, level ${trust.level}${
      trust.overridden.length === 0 ? '' : `; overridden: ${trust.overridden.join(', ')}`
    }`,
  ];
}

const changeText = (change: string) => (BigInt(change) > 0n ? '+' : '');

const ownerText = (address: Hex | null) => (address === null || BigInt(address) === 0n ? 'none' : address);

function assetText(asset: Asset, amount: string, tokens: Tokens): string {
  if (asset.kind === 'native') return etherText(amount);
  const { symbol = null, decimals = null } = tokens[asset.address] ?? {};
  const name = `${symbol === null ? 'token' : oneLine(symbol)} (${asset.address})`;
  if (asset.kind === 'erc721') return `${name} number ${BigInt(asset.id)}`;
  if (asset.kind === 'erc1155' || asset.kind === 'erc6909')
    return `${BigInt(amount)} of ${name} number ${BigInt(asset.id)}`;
  return decimals === null ? `${BigInt(amount)} units of ${name}` : `${decimalText(amount, decimals)} ${name}`;
}

function approvalText(approval: Approval, tokens: Tokens): string {
  const { token, owner, spender } = approval;
  const who = `${spender} for ${owner}`;
  const asset = { kind: 'erc20', address: token } as const;
  switch (approval.kind) {
    case 'operator':
      return `${who}: all tokens of ${token}: ${approval.after ?? approval.approved}`;
    case 'erc721': {
      const item = assetText({ kind: 'erc721', address: token, id: approval.id }, '1', tokens);
      return `${ownerText(approval.after ?? spender)} for ${owner}: ${item}`;
    }
    case 'right': {
      const held = approval.after ?? approval.told;
      return `${who}: right ${approval.right} of ${token}: ${typeof held === 'string' ? BigInt(held) : held}`;
    }
    default: {
      const amount = approval.after ?? approval.told;
      if (approval.unlimited) return `${who}: without limit, ${token}`;
      return `${who}: ${amount === null ? `unknown, ${token}` : assetText(asset, amount, tokens)}`;
    }
  }
}

function contractText(change: ContractChange): string {
  switch (change.event) {
    case 'created':
      return `${change.address} created by ${change.by}`;
    case 'destroyed':
      return `${change.address} destroyed, its ether goes to ${change.beneficiary}`;
    case 'delegated':
      return `${change.address} runs the code of ${change.after ?? 'no contract'} from now on`;
    case 'upgraded':
      return `${change.address} has another ${change.slot}: ${change.after}`;
  }
}

function revertText(revert: PreviewedRevert): string {
  switch (revert.kind) {
    case 'Error':
    case 'Panic':
      return oneLine(revert.text);
    case 'custom':
      return oneLine(`${revert.signature ?? revert.selector} ${(revert.args ?? []).join(', ')}`.trim());
    case 'empty':
      return 'without a reason';
    case 'halt':
      return 'halted';
  }
}

/** The code, and what the warning is about: its members are addresses, amounts and numbers. */
function warningText({ code, ...about }: PreviewWarning): string {
  const values = Object.entries(about).map(([name, value]) => {
    const text = typeof value === 'object' && value !== null ? Object.values(value).join(' ') : String(value);
    return `${name} ${text}`;
  });
  return oneLine(`${code}: ${values.join(', ')}`, 500);
}
