import type { Approval, ContractChange, Hex, PreviewedRevert, PreviewWarning } from 'plumbline-l2';
import { revertOf } from '../lib/reverts.js';
import { type Names, ZERO } from './names.js';

export interface Warned {
  readonly title: string;
  readonly text: string;
}

/** A warning in two sentences: what it is, and why it matters. */
export function warningWords(warning: PreviewWarning, names: Names): Warned {
  const { account, Account } = names;
  const token = (address: Hex) => names.asset({ kind: 'erc20', address });
  switch (warning.code) {
    case 'balance-differs':
      return {
        title: `The token says ${signed(warning.told, warning.asset, names)} for ${account(warning.account)}; in truth it is ${signed(warning.change, warning.asset, names)}`,
        text: 'The balance was read before and after, and it does not change as the events of the contract say.',
      };
    case 'silent-change':
      return {
        title: `${Account(warning.account)}: ${signed(warning.change, warning.asset, names)}, and no event says so`,
        text: 'The balance was read before and after. A page that only looks at events does not see this.',
      };
    case 'balance-unreadable':
      return {
        title: `${names.asset(warning.asset)} does not say how much ${account(warning.account)} has`,
        text: 'Transfers of this token are only what the contract claims.',
      };
    case 'owner-differs':
      return {
        title: `${names.asset(warning.asset)} is said to go to ${account(warning.told)}, and does not`,
        text: `Afterwards the contract names ${warning.after === null ? 'no owner' : account(warning.after)}.`,
      };
    case 'unknown-transfer':
      return {
        title: `${Account(warning.address)} reports a transfer that cannot be read`,
        text: 'It is not known whether its number is an amount or the id of a token.',
      };
    case 'approval-differs':
      return {
        title: `The approval for ${account(warning.spender)} is not what the event says`,
        text: 'The contract was asked afterwards, and answered something else.',
      };
    case 'silent-approval':
      return {
        title: `${Account(warning.spender)} may take ${token(warning.token)} from ${account(warning.owner)}, and no event says so`,
        text: 'The approval was found by asking the contract before and after.',
      };
    case 'unlimited-approval':
      return {
        title: `${Account(warning.spender)} may take all ${token(warning.token)} from ${account(warning.owner)}, now and later`,
        text: 'The approval has no limit, and it lasts until it is taken back.',
      };
    case 'operator-approval':
      return {
        title: `${Account(warning.spender)} may take every token of ${token(warning.token)} from ${account(warning.owner)}`,
        text: 'The approval is for the whole collection, also for tokens that come later.',
      };
    case 'no-code':
      return {
        title: `There is no contract at ${account(warning.address)} on this network`,
        text: 'The call has data for one, so nothing runs. Ether that it sends stays at that address.',
      };
    case 'silent-upgrade':
      return {
        title: `${Account(warning.address)} gets another ${warning.slot}, and no event says so`,
        text: 'The contract can do other things from then on.',
      };
    case 'environment-dependent':
      return {
        title: `Call ${warning.call + 1} ends in another way at another time`,
        text: 'It ran twice, the second time 12 seconds later. What is shown here may not be what will happen.',
      };
  }
}

function signed(sum: string, asset: Parameters<Names['amount']>[0], names: Names): string {
  return `${sum.startsWith('-') ? '' : '+'}${names.amount(asset, BigInt(sum))}`;
}

/** Why a call fails, and what to do about it. */
export function revertWords(revert: PreviewedRevert | undefined, contract: Hex | undefined): string {
  switch (revert?.kind) {
    case 'Error':
      return `The contract says: ${revert.text}`;
    case 'Panic':
    case 'custom': {
      const { text, advice } = revertOf(revert.data, contract)!;
      return `${text} ${advice}`;
    }
    case 'halt':
      return 'It runs out of gas, or into an instruction that does not exist.';
    default:
      return 'The contract gives no reason.';
  }
}

/** An approval in a sentence. */
export function approvalWords(approval: Approval, names: Names): string {
  const { token, owner, spender } = approval;
  const who = names.Account(spender);
  const from = `from ${names.account(owner)}`;
  const asset = { kind: 'erc20', address: token } as const;
  if (approval.kind === 'erc721') {
    const item = names.asset({ kind: 'erc721', address: token, id: approval.id });
    const taker = approval.after ?? spender;
    return taker === ZERO
      ? `No one account may take ${item} ${from} any more.`
      : `${names.Account(taker)} may take ${item} ${from}.`;
  }
  if (approval.kind === 'operator')
    return (approval.after ?? approval.approved)
      ? `${who} may take every token of ${names.asset(asset)} ${from}.`
      : `${who} may no longer take tokens of ${names.asset(asset)} ${from}.`;
  const { told, before, after, unlimited } = approval;
  const amount = (value: Hex) => `${names.amount(asset, BigInt(value))} ${from}`;
  const by = approval.kind === 'permit2' ? ` by ${approval.genuine ? 'Permit2' : 'a copy of Permit2'}` : '';
  if (unlimited) return `${who} may take ${names.asset(asset)} ${from} without limit${by}.`;
  if (after === null)
    return `${who} may take ${amount(told ?? '0x0')}${by}, as the event says. The contract does not answer.`;
  if (BigInt(after) > 0n) {
    const was =
      before === null || before === after || BigInt(before) === 0n
        ? ''
        : ` Before it was ${names.amount(asset, BigInt(before))}.`;
    return `${who} may take up to ${amount(after)}${by}.${was}`;
  }
  if (told !== null && BigInt(told) > 0n) return `${who} may take ${amount(told)}${by}, and the calls use it up.`;
  return `${who} may no longer take ${names.asset(asset)} ${from}${by}.`;
}

/** What happens to a contract, in a sentence. */
export function contractWords(change: ContractChange, names: Names): string {
  const who = change.address === names.you ? 'Your account' : names.Account(change.address);
  switch (change.event) {
    case 'created':
      return `A contract is created at ${change.address}.`;
    case 'destroyed':
      return `${who} is destroyed${change.removed ? '' : ', but for its code'}; its ether goes to ${names.account(change.beneficiary)}.`;
    case 'delegated':
      return change.after === null
        ? `${who} no longer runs the code of another account.`
        : `${who} runs the code of ${names.account(change.after)} from now on${change.everyChain ? ', on every chain' : ''}.`;
    case 'upgraded':
      return `${who} has another ${change.slot} from now on: ${names.account(change.after)}.`;
  }
}
