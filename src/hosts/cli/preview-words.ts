import type { Approval, Asset, ContractChange, PreviewedRevert, PreviewWarning } from '../../preview/preview.js';
import type { Hex } from '../../primitives/hex.js';
import type { TransactionPreview } from '../../rpc/inspection/transaction-preview.js';
import { decimalText, etherText } from './amounts.js';
import { oneLine } from './lines.js';

type Tokens = TransactionPreview['tokens'];

/** A preview in lines of text. What contracts say of themselves is shown without control characters. */
export function previewInWords({ calls, balances, tokens, warnings, trust }: TransactionPreview): string[] {
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
    ...warnings.map((warning) => `warning   ${warningText(warning)}`),
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
  if (asset.kind === 'erc1155') return `${BigInt(amount)} of ${name} number ${BigInt(asset.id)}`;
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
