import type {
  Approval,
  Asset,
  ContractChange,
  Hex,
  PreviewedRevert,
  PreviewWarning,
  SignatureFinding,
  TransactionPreview,
} from 'plumbline-l2';
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
    case 'loses-all':
      return {
        title: `${Account(warning.account)} ${verb(warning.account, names, 'lose')} ${names.amount(warning.asset, BigInt(warning.amount))}, ${warning.assets === 'all' ? 'which is all there is' : 'all or nearly all there is'}`,
        text: 'At least nine tenths of the balance go.',
      };
    case 'nothing-back':
      return {
        title: `${Account(warning.account)} ${verb(warning.account, names, 'get')} nothing for ${names.amount(warning.asset, BigInt(warning.amount))}`,
        text: 'Nothing that comes back was there before, or it is debt. What is paid for has to arrive in the same calls to be seen here.',
      };
    case 'covers-balance':
      return {
        title: `${Account(warning.spender)} may take ${names.amount({ kind: 'erc20', address: warning.token }, BigInt(warning.amount))} from ${account(warning.owner)}: as much as there is`,
        text: 'The approval has a limit, and nothing would be left.',
      };
    case 'right-granted':
      if (warning.right === 'safe-threshold')
        return {
          title: `Fewer owners have to sign for ${account(warning.owner)}`,
          text: `From then on, ${BigInt(warning.amount ?? '0x0')} of them can do everything with it.`,
        };
      return {
        title: `${Account(warning.spender)} gets a right of ${account(warning.owner)}: ${RIGHTS[warning.right]} ${token(warning.token)}`,
        text: 'It lasts until it is taken back, and needs no further signature.',
      };
    case 'delegated':
      return {
        title:
          warning.target === null
            ? `${Account(warning.address)} no longer ${verb(warning.address, names, 'run')} code of others`
            : `${Account(warning.address)} ${verb(warning.address, names, 'hand')} over to the code at ${account(warning.target)}, ${VALIDITIES[warning.validity]}${warning.everyChain ? ', on every chain' : ''}`,
        text: 'That code may do with the account whatever its makers wrote, at any time. Whoever has seen the authorization can send it.',
      };
    case 'delegate-write':
      return {
        title: `Foreign code changes the account ${account(warning.account)} from inside, at slot ${warning.slot}`,
        text: 'It ran as if it were the account. It may have given the account to somebody else.',
      };
    case 'upgrade-differs':
      return {
        title: `${Account(warning.address)} gets another ${warning.slot} than it says`,
        text: `It names ${account(warning.told)}, and stores ${account(warning.after)}.`,
      };
    case 'look-alike':
      return {
        title: `${warning.asset === undefined ? Account(warning.address!) : names.asset(warning.asset)} looks like ${account(warning.with)}, and is not it`,
        text: 'Compare all digits of the address.',
      };
    case 'transfer-to-contract-without-receiver':
      return {
        title: `${names.asset(warning.asset)} goes to a contract, ${account(warning.address)}`,
        text: 'Nobody asked whether it can send the tokens on. They may stay there for ever.',
      };
    case 'new-recipient':
      return {
        title: `${Account(warning.address)} has never been used`,
        text: 'It has sent nothing and has no ether. Compare the address.',
      };
    case 'unverified-token':
      return {
        title: `${names.asset(warning.asset)} is not on the list of tokens`,
        text: 'Its name is what it says of itself.',
      };
    case 'not-all-asked':
      return {
        title: `${Account(warning.address)} was not asked everything`,
        text: 'There was too much that might have changed.',
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
      return dependentWords(warning, names);
  }
}

const RIGHTS = {
  'operator-777': 'to move all of',
  'operator-6909': 'to move everything in',
  'allowance-6909': 'to move tokens of',
  debt: 'to make debt at',
  manager: 'to everything at',
  owner: 'to own',
  'pending-owner': 'to become the owner of',
  'safe-module': 'to act for',
  'safe-owner': 'to sign for',
  'safe-fallback-handler': 'to answer for',
  'safe-guard': 'to stop transactions of',
  'safe-singleton': 'to be the code of',
  'safe-threshold': 'how many owners sign for',
  permit: 'by a signature that failed here and can still be used, to take',
} as const;

const VALIDITIES = {
  now: 'now',
  later: 'as soon as its nonce comes up',
  otherChain: 'on another chain',
  past: 'but the nonce is used',
  blocked: 'if its own code goes',
} as const;

/** “You lose”, “0xab lose” with an s. */
const verb = (address: Hex, names: Names, word: string) => (address === names.you ? word : `${word}s`);

type Dependent = Extract<PreviewWarning, { readonly code: 'environment-dependent' }>;

function dependentWords({ asset, account, first, other, what, call, cut, severity }: Dependent, names: Names): Warned {
  const reads = what.length === 0 ? 'the block' : what.join(', ');
  const text = `Call ${call + 1} reads ${reads}. What is shown here may not be what will happen.`;
  if (cut !== undefined) return { title: `Call ${call + 1} could not be tried under other conditions`, text };
  if (asset !== undefined && account !== undefined) {
    const both = [other, first].map((sum) => signed(sum, asset, names));
    const title = `${names.Account(account)}: ${both[0]} in another block, ${both[1]} in this one`;
    return { title, text: severity === 'note' ? `${text} The difference is small, or to your advantage.` : text };
  }
  return { title: `Call ${call + 1} ends in another way in another block`, text };
}

/**
 * What the calls take from you and give you, in a sentence, losses first; undefined where they do neither. Fees do not count.
 */
export function outcomeWords(
  { balances, warnings, fees }: Pick<TransactionPreview, 'balances' | 'warnings' | 'fees'>,
  names: Names,
): string | undefined {
  const { you } = names;
  const lost: string[] = [];
  const gained: string[] = [];
  const all = warnings.filter((one) => one.code === 'loses-all' && one.account === you);
  const isAll = (asset: Asset) =>
    all.some((one) => 'asset' in one && JSON.stringify(one.asset) === JSON.stringify(asset));
  for (const one of balances) {
    if ('account' in one) {
      if (one.account !== you || one.change === null) continue;
      const change = BigInt(one.change) + (one.asset.kind === 'native' ? BigInt(fees[you] ?? 0n) : 0n);
      if (change > 0n) gained.push(names.amount(one.asset, change));
      const isMost = change < 0n && isAll(one.asset);
      if (isMost)
        lost.unshift(
          `${names.amount(one.asset, -change)}, ${change === -BigInt(one.before!) ? 'all you have' : 'nearly all you have'},`,
        );
      else if (change < 0n) lost.push(names.amount(one.asset, -change));
    } else if (one.ownerBefore === you && one.ownerAfter !== you) lost.push(names.asset(one.asset));
    else if (one.ownerAfter === you && one.ownerBefore !== you) gained.push(names.asset(one.asset));
  }
  const list = (items: readonly string[]) => items.join(' and ').replace(/,$/, '');
  const losesForNothing = warnings.some((one) => one.code === 'nothing-back' && one.account === you);
  if (lost.length === 0) return gained.length === 0 ? undefined : `You get ${list(gained)}.`;
  if (gained.length > 0)
    return `You lose ${list(lost)}${list(lost).includes(', ') ? ',' : ''} and get ${list(gained)}.`;
  return losesForNothing ? `You lose ${list(lost)}, and get nothing.` : `You send ${list(lost)}.`;
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
  if (approval.kind === 'right' && approval.right === 'safe-threshold') {
    const count = approval.after ?? approval.told;
    return `${names.Account(owner)} needs ${BigInt(count ?? 0n)} of its owners to sign.`;
  }
  if (approval.kind === 'right' && approval.validity === 'past')
    return `${who} has a signature ${from} for ${names.asset(asset)}, and can no longer use it.`;
  if (approval.kind === 'right')
    return approval.after === false || approval.after === '0x0'
      ? `${who} no longer has a right: ${RIGHTS[approval.right]} ${names.asset(asset)}.`
      : `${who} has a right ${from}: ${RIGHTS[approval.right]} ${names.asset(asset)}.`;
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
      if (change.target === null) return `${who} no longer runs the code of another account.`;
      return change.validity === 'now'
        ? `${who} runs the code of ${names.account(change.target)} from now on${change.everyChain ? ', on every chain' : ''}.`
        : `${who} may come to run the code of ${names.account(change.target)}: ${VALIDITIES[change.validity]}.`;
    case 'upgraded':
      return `${who} has another ${change.slot} from now on: ${names.account(change.after)}.`;
  }
}

/** A finding of a signature in two sentences. */
export function findingWords(finding: SignatureFinding, names: Names): Warned {
  const { account, Account } = names;
  switch (finding.code) {
    case 'malformed':
      return {
        title: `${finding.at} cannot be read: it ${finding.reason}`,
        text: 'Some wallets sign it all the same.',
      };
    case 'opaque-hash':
      return {
        title: 'What is signed is a hash',
        text: 'It may stand for anything, such as an order or a transaction.',
      };
    case 'other-chain':
      return {
        title: `It is for another network, chain ${finding.chainId}`,
        text: 'What it allows there is not seen here.',
      };
    case 'no-chain':
      return { title: 'It counts on every network', text: 'It names none.' };
    case 'no-contract':
      return { title: 'It names no contract', text: 'Any contract may take it for its own.' };
    case 'domain-differs':
      return {
        title: `${Account(finding.address)} has another domain`,
        text: 'The contract does not take this signature.',
      };
    case 'contract-without-code':
      return {
        title: `There is no contract at ${account(finding.address)} on this network`,
        text: 'Code may be put there later.',
      };
    case 'used-nonce':
      return { title: 'Its nonce is used', text: 'It is of no use on this network any more.' };
    case 'future-nonce':
      return {
        title: `Its nonce is ${BigInt(finding.nonce)}, and the next one is ${BigInt(finding.expected)}`,
        text: 'It can be used later, when nobody expects it.',
      };
    case 'expired':
    case 'not-yet':
      return {
        title: finding.code === 'expired' ? 'It has expired' : 'It is not yet valid',
        text: `The time is ${new Date(1000 * finding.at).toISOString()}.`,
      };
    case 'spender-without-code':
      return {
        title: `${Account(finding.address)}, who may use it, is no contract`,
        text: 'Sites that need a permit have one.',
      };
    case 'undeclared-member':
      return { title: `${finding.at} is shown, and not signed`, text: 'No type declares it.' };
    case 'unknown-type':
      return { title: 'This kind of data is not known', text: finding.type };
    case 'other-signer':
      return { title: `It is for ${account(finding.address)} to sign`, text: 'The message names another account.' };
    case 'other-receiver':
      return { title: `What is bought goes to ${account(finding.address)}`, text: 'It is not the account that pays.' };
    case 'transfer-allowed':
      return {
        title: `${Account(finding.spender)} may take ${names.amount(finding.asset, BigInt(finding.amount))}`,
        text: 'Once, and without another signature.',
      };
    case 'delegatecall':
      return {
        title: `${Account(finding.account)} would run the code of ${account(finding.address)} as its own`,
        text: 'That code may take everything.',
      };
    case 'pays-refund':
      return { title: `${Account(finding.address)} gets a refund for gas`, text: 'It can be any amount.' };
    case 'price-unknown':
      return { title: 'A contract sets the amounts of this order', text: 'They are not known before it is filled.' };
    case 'replayable':
      return { title: 'It can be used many times', text: 'Its nonce is one that is never used up.' };
    case 'used-by-anyone':
      return { title: 'Anyone may use it', text: 'It names no sender.' };
    case 'not-atomic':
      return { title: 'Some of the calls may happen alone', text: 'They are not sent as one.' };
    case 'not-parsed':
      return { title: 'It looks like a sign-in, and is none', text: 'It is not of the form of EIP-4361.' };
    case 'origin-differs':
      return { title: `It signs you in at ${finding.told}`, text: `The page that asks is ${finding.origin}.` };
    case 'origin-unknown':
      return { title: `It signs you in at ${finding.told}`, text: 'Which page asks is not known.' };
    default:
      return warningWords(finding, names);
  }
}
