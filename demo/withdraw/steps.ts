import type { ClaimRefusal, Hex, MessageJson } from 'plumbline-l2';
import { accountName, capital } from '../lib/accounts.js';
import { about, formatAge, groups, shortHex } from '../lib/format.js';
import { revertOf } from '../lib/reverts.js';
import { type Knowledge, toneOf } from '../lib/trust.js';
import type { Shown as PreviewShown } from '../preview/state.js';
import type { At, Followed } from './state.js';

export type StepName = 'sent' | 'final' | 'tree' | 'root' | 'slots' | 'run' | 'paid';
/** `told`: it holds, if a server says the truth. */
export type StepState = 'done' | 'told' | 'false' | 'unknown' | 'waits';

/** A value of a step. */
export interface Value {
  readonly name: string;
  /** In hex, to be shortened and copied; or as a text. */
  readonly hex?: Hex;
  readonly text?: string;
}

/** A step from layer 2 to the balance on layer 1. */
export interface Step {
  readonly name: StepName;
  readonly state: StepState;
  readonly title: string;
  /** What the check is called, and how it goes. */
  readonly by: string;
  readonly check: string;
  readonly values: readonly Value[];
  readonly known: Knowledge | undefined;
  /** The block of layer 1 that it is of. */
  readonly at: At | undefined;
}

export const ether = (wei: bigint | Hex) => `${about(BigInt(wei), 18)} ETH`;
/** What a message moves. Decimals of a token are not known here. */
export function sumOf({ value, tokenTransfer }: Pick<MessageJson, 'value' | 'tokenTransfer'>): string {
  if (tokenTransfer === undefined) return ether(value);
  return `${groups(BigInt(tokenTransfer.amount))} units of token ${shortHex(tokenTransfer.token)}`;
}
/** Who gets it: both ends of a message with tokens are bridges. */
export const recipientOf = ({ to, tokenTransfer }: Pick<MessageJson, 'to' | 'tokenTransfer'>): Hex =>
  tokenTransfer?.recipient ?? to;
const blocks = (from: number, to: number) =>
  from === to ? `block ${groups(from)}` : `blocks ${groups(from)} to ${groups(to)}`;

/** What each step is before it is reached. */
const AHEAD = [
  ['sent', 'Sent on layer 2', 'Log of the message service', 'The logs of the block are checked against its header.'],
  ['final', 'Final on layer 1', 'Slot of the rollup contract', 'The contract on layer 1 names its newest final block.'],
  [
    'tree',
    'In a tree of messages',
    'Merkle branch, keccak256',
    'The hash of the message is hashed up to a root, here.',
  ],
  ['root', 'The root is on layer 1', 'Merkle-Patricia proof', 'The state of layer 1 contains the root.'],
  [
    'slots',
    'The contract would pay',
    'Merkle-Patricia proof',
    'Not claimed, not paused, within the limit, with enough ether.',
  ],
  [
    'run',
    'The claim would pass',
    'Execution',
    'The claim runs on the state of layer 1, so what the recipient does is known before.',
  ],
  ['paid', 'Paid on layer 1', 'Balance of the recipient', 'Read before and after the block of the claim.'],
] as const satisfies readonly (readonly [StepName, string, string, string])[];

function ahead(name: StepName): Step {
  const [, title, by, check] = AHEAD.find(([one]) => one === name)!;
  return { name, title, by, check, state: 'waits', values: [], known: undefined, at: undefined };
}

/** A step that was checked. */
function done(name: StepName, known: Knowledge, part: Partial<Step>): Step {
  return { ...ahead(name), state: toneOf(known) === 'good' ? 'done' : 'told', known, ...part };
}

/** The steps of a withdrawal, in order; without one, what they will be. */
export function stepsOf(of: Followed | undefined, preview?: PreviewShown): readonly Step[] {
  if (of === undefined) return AHEAD.map(([name]) => ahead(name));
  return [sentStep(of), finalStep(of), treeStep(of), rootStep(of), slotsStep(of), runStep(of, preview), paidStep(of)];
}

/** How what is read of layer 1 is known. */
function ofLayerOne({ claim, own }: Followed, kind: 'proved' | 'computed' = 'proved'): Knowledge {
  return { class: own && kind === 'proved' ? 'held' : kind, level: claim.layerOne.level };
}

function sentStep(of: Followed): Step {
  const { message, sent, claim, own, node } = of;
  const { fee, from, hash } = message;
  const [sum, to] = [sumOf(message), recipientOf(message)];
  const told = [
    { name: 'Amount', text: sum },
    { name: 'Fee', text: BigInt(fee) === 0n ? '0 ETH' : `${ether(fee)}, to pay whoever claims it` },
    { name: 'From', hex: from },
    { name: 'Recipient', hex: to },
    { name: 'Message', hex: hash },
  ];
  const title = `${sum} to ${accountName(to)}`;
  const layerTwo = own
    ? 'The block was executed in this page.'
    : 'All logs of the block hash to the root in its header.';
  if (sent !== undefined) {
    const { log, proved } = sent;
    return done(
      'sent',
      { class: own ? 'held' : 'proved', level: proved.level },
      {
        title,
        check: layerTwo,
        values: [
          { name: 'Block', text: `${groups(log.blockNumber)} of ${own ? 'the devnet' : `chain ${node.info.chainId}`}` },
          { name: 'Block hash', hex: log.blockHash },
          ...told,
        ],
      },
    );
  }
  const range = 'finalization' in claim ? claim.finalization : { from: 0, to: claim.layerOne.finalizedBlock };
  return done('sent', ofLayerOne(of), {
    title,
    by: 'By the tree below',
    check: 'Which block has its log was not looked up: name the block to have that checked, too.',
    values: [{ name: 'Sent in', text: blocks(range.from, range.to) }, ...told],
  });
}

function blockOf({ claim, sent }: Followed): number | undefined {
  return 'blockNumber' in claim ? claim.blockNumber : sent?.log.blockNumber;
}

function finalStep(of: Followed): Step {
  const { claim, finalized, own } = of;
  const { block, finalizedBlock } = claim.layerOne;
  const number = blockOf(of);
  const which = number === undefined ? 'The block' : `Block ${groups(number)}`;
  const newest = { name: 'Newest final', text: `block ${groups(finalizedBlock)} of layer 2` };
  const check = own
    ? 'A network’s contract takes blocks only with a zk proof. A devnet has no prover.'
    : 'The contract takes blocks only with a zk proof of all of them.';
  if (claim.status === 'notFinal')
    return {
      ...ahead('final'),
      title: `${which} is not final yet`,
      check: own ? 'On the devnet a block is final two blocks later.' : 'On Linea it takes some hours.',
      values: [newest],
      known: ofLayerOne(of),
      at: block,
    };
  const by = finalized && `block ${groups(finalized.number)} of layer 1, ${formatAge(finalized.timestamp)}`;
  return done('final', ofLayerOne(of), {
    title: `${which} is final`,
    check,
    at: block,
    values: [
      newest,
      ...('finalization' in claim
        ? [{ name: 'Finalized', text: `${blocks(claim.finalization.from, claim.finalization.to)} of layer 2` }]
        : []),
      ...(by === undefined ? [] : [{ name: 'By', text: `a transaction in ${by}${own ? '' : ', as its event says'}` }]),
      ...(finalized === undefined ? [] : [{ name: 'Transaction', hex: finalized.transaction }]),
    ],
  });
}

function treeStep(of: Followed): Step {
  const { claim, branch } = of;
  if (claim.status === 'inbox')
    return done('tree', ofLayerOne(of), {
      title: 'An old message, without a tree',
      by: 'Inbox of the contract',
      check: 'Layer 1 has recorded the message itself, as it did before there were trees.',
      at: claim.layerOne.block,
    });
  if (claim.status === 'notAnchored')
    return {
      ...ahead('tree'),
      state: 'unknown',
      title: 'No tree was found',
      check:
        'No root that layer 1 stores was found to hold it. Endpoints hide logs, or events of layer 1: name others.',
      at: claim.layerOne.block,
    };
  if (!('root' in claim) || branch === undefined) return ahead('tree');
  const { leafIndex, depth, root } = claim;
  return done(
    'tree',
    { class: 'proved', level: claim.layerOne.level },
    {
      state: branch.verified ? done('tree', ofLayerOne(of), {}).state : 'false',
      title: `Leaf ${leafIndex} of a tree with ${groups(2 ** depth)} places`,
      check: `The hash of the message, hashed with its ${depth} siblings, gives the root. This page has done it.`,
      at: claim.layerOne.block,
      values: [
        { name: 'Root', hex: root },
        { name: 'Leaf index', text: String(leafIndex) },
        { name: 'Depth', text: `${depth} levels` },
      ],
    },
  );
}

function rootStep(of: Followed): Step {
  const { claim, slot, slots, rollup } = of;
  if (!('root' in claim)) return ahead('root');
  const level = claim.layerOne.level;
  const stored = slots === undefined ? claim.depth : Number(slots.depth);
  return done(
    'root',
    { class: 'proved', level },
    {
      ...(stored !== claim.depth && { state: 'false' as const }),
      title: 'The contract has this root',
      check: 'Its slot in l2MerkleRootsDepths holds the depth of the tree, proved by the state root of the block.',
      at: claim.layerOne.block,
      values: [
        { name: 'Contract', hex: rollup },
        ...(slot === undefined ? [] : [{ name: 'Slot', hex: slot }]),
        { name: 'Stored', text: `depth ${stored}` },
      ],
    },
  );
}

/** What the contract answers, by the name of its error. */
const REFUSALS: Readonly<Record<ClaimRefusal, string>> = {
  IsPaused: 'The contract is paused',
  L2MerkleRootDoesNotExist: 'The contract does not have the root',
  ProofLengthDifferentThanMerkleDepth: 'The branch has another length than the tree',
  MessageAlreadyClaimed: 'It was claimed',
  Panic: 'Fee and amount together are too large',
  RateLimitExceeded: 'The limit of this period is used up',
  SafeCastOverflowedUintDowncast: 'The branch is too long',
  LeafIndexOutOfBounds: 'The tree has no such leaf',
  InvalidMerkleProof: 'The branch leads to another root',
  MessageSendingFailed: 'The contract does not have enough ether',
};

function slotsStep(of: Followed): Step {
  const { claim, slots } = of;
  if (!('root' in claim)) return ahead('slots');
  const isClaimed = claim.status === 'claimed';
  const title = isClaimed
    ? 'It was claimed, once and for all'
    : claim.slotsAllow
      ? 'Not claimed yet, and the contract would pay'
      : REFUSALS[claim.refusal!];
  const { pauseBits = 0n, rateLimit, balance } = slots ?? {};
  const isPaused = ((pauseBits >> 1n) | (pauseBits >> 3n)) % 2n === 1n;
  const isOver = rateLimit !== undefined && rateLimit.periodEnd < BigInt(claim.layerOne.block.timestamp);
  return done(
    'slots',
    { class: 'proved', level: claim.layerOne.level },
    {
      ...(!isClaimed && !claim.slotsAllow && { state: 'false' as const }),
      title,
      check: isClaimed
        ? 'The bit of the message is set, so the contract does not pay again.'
        : 'Four slots and the balance of the contract decide, proved by the state root of the block.',
      at: claim.layerOne.block,
      values: [
        { name: 'Claimed', text: isClaimed ? 'yes' : 'no' },
        ...(slots === undefined ? [] : [{ name: 'Paused', text: isPaused ? 'yes' : 'no' }]),
        ...(rateLimit === undefined
          ? []
          : [
              {
                name: 'Limit',
                text: `${ether(isOver ? 0n : rateLimit.used)} of ${ether(rateLimit.limit)} used in this period`,
              },
            ]),
        ...(balance === undefined ? [] : [{ name: 'It holds', text: ether(balance) }]),
      ],
    },
  );
}

function runStep(of: Followed, preview: PreviewShown | undefined): Step {
  const { claim } = of;
  if (claim.status === 'claimed')
    return done('run', ofLayerOne(of), {
      title: 'The claim has passed',
      by: 'Executed by layer 1',
      check: 'Only a claim that passes sets the bit above.',
      at: claim.layerOne.block,
    });
  if (!('root' in claim) || !claim.slotsAllow) return ahead('run');
  const { wouldPass, revert, layerOne } = claim;
  // Where the node does not execute it, the preview does, on a newer state.
  const ran = wouldPass === undefined ? preview?.answer.result : undefined;
  if (wouldPass === undefined && ran === undefined)
    return {
      ...ahead('run'),
      state: 'unknown',
      title: 'Not executed yet',
      check: 'The consensus of layer 1 is not followed here. The preview below executes it on the newest state.',
      at: layerOne.block,
    };
  const known = ran === undefined ? ofLayerOne(of, 'computed') : { class: 'computed' as const, level: ran.trust.level };
  const at = ran === undefined ? layerOne.block : undefined;
  if (wouldPass ?? ran?.calls[0]?.status === 'success') return done('run', known, { at });
  return {
    ...ahead('run'),
    state: 'false',
    title: 'The recipient refuses it',
    check: 'The claim was executed, and it fails. What was sent stays in the contract until a claim passes.',
    known,
    at,
    values: ran === undefined ? [{ name: 'It says', text: whyRefused(revert?.reason, revert?.data ?? '0x') }] : [],
  };
}

/** What a claim that fails gives back. */
function whyRefused(reason: string | undefined, data: Hex): string {
  return revertOf(data)?.text ?? reason ?? 'nothing: it gives no reason';
}

function paidStep(of: Followed): Step {
  const { claim, message, claimed, own } = of;
  const { status, layerOne } = claim;
  if (status !== 'claimed') return { ...ahead('paid'), title: 'Not claimed yet' };
  if (claimed === undefined)
    return done('paid', ofLayerOne(of), {
      title: `${sumOf(message)} were paid`,
      check:
        message.tokenTransfer === undefined
          ? 'In which block was not found. The bit above says that it was.'
          : 'Balances of tokens are not read here. The bit above says that it was.',
      at: layerOne.block,
    });
  const { before, after, transaction, number, timestamp } = claimed;
  return done('paid', own ? { class: 'held', level: 'held' } : { class: 'forwarded' }, {
    title: `${capital(accountName(message.to))} has ${ether(after)}`,
    check: 'Its balance is read before and after the block of the claim.',
    at: { number, timestamp },
    values: [
      { name: 'Before', text: ether(before) },
      { name: 'After', text: ether(after) },
      { name: 'Transaction', hex: transaction },
    ],
  });
}
