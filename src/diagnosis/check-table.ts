/** What the outcome of a check is based on. */
export type CheckBasis =
  /** The transaction and the network profile alone. */
  | 'profile'
  /** The header of the newest block: base fee, prices, limits. */
  | 'header'
  /** An account after that block. */
  | 'state'
  /** The transaction was executed by this node on that state. */
  | 'execution'
  /** Transactions that this node knows and that are in no block. A light node does not see the network's pool. */
  | 'pool'
  /** An endpoint says so. Nothing verifies it. */
  | 'endpoint';

/** What `found` and `needed` count. */
export type CheckUnit = 'wei' | 'wei per gas' | 'gas' | 'bytes' | 'nonce' | 'chain id' | 'lines' | 'type' | 'blobs';

/** The name of a check; docs/spec/fees.md 11 has the limit of each. */
export type CheckName =
  | 'encoding'
  | 'signature'
  | 'chain-id'
  | 'type'
  | 'size'
  | 'blobs'
  | 'sidecar'
  | 'denied'
  | 'recipient'
  | 'gas-limit'
  | 'calldata'
  | 'pool-price'
  | 'nonce-used'
  | 'nonce-distance'
  | 'gas-cap'
  | 'init-code'
  | 'gas-minimum'
  | 'intrinsic-cap'
  | 'priority-fee'
  | 'least-price'
  | 'base-fee'
  | 'sender'
  | 'delegated-sender'
  | 'funds'
  | 'block-gas-limit'
  | 'blob-nonce'
  | 'other-pool'
  | 'replacement'
  | 'line-counts'
  | 'uncounted-lines'
  | 'exclusion'
  | 'nonce-gap'
  | 'fee-cap'
  | 'builder-tip'
  | 'blob-fee-cap'
  | 'block-price'
  | 'used-price'
  | 'state-gas'
  | 'execution';

/** One row of `CHECKS`. */
interface CheckRow {
  readonly basis: CheckBasis;
  readonly unit?: CheckUnit;
  /** How `found` must compare with `needed`. Left out for a check that compares no two numbers. */
  readonly rule?: 'at least' | 'at most' | 'equal';
  /** What follows if the check fails: the network refuses the transaction, it waits, or it is included nevertheless. */
  readonly failure: 'refused' | 'waits' | 'none';
  /** Whether there is no verdict without this check. */
  readonly decides: boolean;
  /** What to do if it fails. `{found}`, `{needed}`, `{reason}` and `{remedy}` are filled in. */
  readonly nextStep: string;
}

const RAISE = 'Raise {remedy}, sign again with the same nonce, and send it.';

/**
 * The checks, in the order in which the network makes them. The limits are in the network profile; the pool's rules come
 * first, those of block building last. On a layer 1 the rules are those of geth's pool: see `layer-one-checks.ts`.
 *
 * @source docs/spec/fees.md 2.1 and 7; docs/spec/fees.md 11 for what is plumbline's own
 */
export const CHECKS: Readonly<Record<CheckName, CheckRow>> = {
  encoding: {
    basis: 'profile',
    failure: 'refused',
    decides: true,
    nextStep: 'Build and sign the transaction again: {reason}.',
  },
  signature: {
    basis: 'profile',
    failure: 'refused',
    decides: true,
    nextStep: 'Sign the transaction again: {reason}.',
  },
  'chain-id': {
    basis: 'profile',
    unit: 'chain id',
    rule: 'equal',
    failure: 'refused',
    decides: true,
    nextStep: 'Sign the transaction for chain {needed}; it is signed for chain {found}.',
  },
  type: {
    basis: 'header',
    unit: 'type',
    failure: 'refused',
    decides: true,
    nextStep: 'Send a transaction of another type, such as type 2: {reason}.',
  },
  size: {
    basis: 'profile',
    unit: 'bytes',
    rule: 'at most',
    failure: 'refused',
    decides: true,
    nextStep: 'Split it: its {found} bytes are above the {needed} that nodes take.',
  },
  blobs: {
    basis: 'header',
    unit: 'blobs',
    rule: 'at most',
    failure: 'refused',
    decides: true,
    nextStep: 'Send {needed} blobs or fewer in one transaction; it has {found}.',
  },
  sidecar: {
    basis: 'profile',
    failure: 'refused',
    decides: false,
    nextStep: 'Send it with its blobs, commitments and proofs (EIP-7594): {reason}.',
  },
  denied: {
    basis: 'profile',
    failure: 'refused',
    decides: false,
    nextStep: 'The network refuses this address, so no change of price or gas helps: {reason}.',
  },
  recipient: {
    basis: 'profile',
    failure: 'refused',
    decides: true,
    nextStep: 'Choose another recipient; call a precompile from a contract: {reason}.',
  },
  'gas-limit': {
    basis: 'profile',
    unit: 'gas',
    rule: 'at most',
    failure: 'refused',
    decides: true,
    nextStep: 'Lower the gas limit to {needed} or less; it is {found}.',
  },
  calldata: {
    basis: 'profile',
    unit: 'bytes',
    rule: 'at most',
    failure: 'refused',
    decides: true,
    nextStep: 'Split the call: its calldata of {found} bytes is above the limit of {needed}.',
  },
  'pool-price': {
    basis: 'header',
    unit: 'wei per gas',
    rule: 'at least',
    failure: 'refused',
    decides: true,
    nextStep: RAISE,
  },
  'nonce-used': {
    basis: 'state',
    unit: 'nonce',
    rule: 'at least',
    failure: 'refused',
    decides: true,
    nextStep: 'Use nonce {needed} or a later one: a block has a transaction of this account with nonce {found}.',
  },
  'nonce-distance': {
    basis: 'state',
    unit: 'nonce',
    rule: 'at most',
    failure: 'refused',
    decides: true,
    nextStep:
      'Send the transactions before it first: nonce {found} is too far above the account’s, {needed} is the most.',
  },
  'gas-cap': {
    basis: 'header',
    unit: 'gas',
    rule: 'at most',
    failure: 'refused',
    decides: true,
    nextStep: 'Lower the gas limit to {needed} or less ({reason}); it is {found}.',
  },
  'init-code': {
    basis: 'header',
    unit: 'bytes',
    rule: 'at most',
    failure: 'refused',
    decides: true,
    nextStep: 'Make the init code shorter: {found} bytes, {needed} are allowed.',
  },
  'gas-minimum': {
    basis: 'header',
    unit: 'gas',
    rule: 'at least',
    failure: 'refused',
    decides: true,
    nextStep: 'Raise the gas limit to {needed} or more: its data and its type alone cost that; it is {found}.',
  },
  'intrinsic-cap': {
    basis: 'header',
    unit: 'gas',
    rule: 'at most',
    failure: 'refused',
    decides: true,
    nextStep:
      'Split it: its data, lists and type alone cost {found} gas, and {needed} is the most of execution gas (EIP-8037).',
  },
  'priority-fee': {
    basis: 'profile',
    unit: 'wei per gas',
    rule: 'at most',
    failure: 'refused',
    decides: true,
    nextStep: 'Raise maxFeePerGas to at least maxPriorityFeePerGas, which is {found}; it is {needed}.',
  },
  'least-price': {
    basis: 'profile',
    unit: 'wei per gas',
    rule: 'at least',
    failure: 'refused',
    decides: true,
    nextStep: RAISE,
  },
  'base-fee': {
    basis: 'header',
    unit: 'wei per gas',
    rule: 'at least',
    failure: 'refused',
    decides: true,
    nextStep: RAISE,
  },
  sender: {
    basis: 'state',
    failure: 'refused',
    decides: true,
    nextStep: 'Send it from another account: {reason}.',
  },
  'delegated-sender': {
    basis: 'state',
    unit: 'nonce',
    rule: 'at most',
    failure: 'refused',
    decides: true,
    nextStep:
      'Send it once nonce {needed} is in a block: of a delegated account (EIP-7702) nodes keep one transaction at a time, and this one has nonce {found}.',
  },
  funds: {
    basis: 'state',
    unit: 'wei',
    rule: 'at least',
    failure: 'refused',
    decides: true,
    nextStep:
      'Give the sender {remedy} wei more, or lower the value, the gas limit or the price: it has {found} wei and needs {needed}.',
  },
  'block-gas-limit': {
    basis: 'header',
    unit: 'gas',
    rule: 'at most',
    failure: 'refused',
    decides: true,
    nextStep: 'Lower the gas limit to {needed} or less, which is the limit of a block; it is {found}.',
  },
  'blob-nonce': {
    basis: 'state',
    unit: 'nonce',
    rule: 'at most',
    failure: 'refused',
    decides: false,
    nextStep:
      'Send the transaction with nonce {needed} first: nodes do not keep this one, which has blobs and nonce {found}, until it is there.',
  },
  'other-pool': {
    basis: 'pool',
    failure: 'refused',
    decides: false,
    nextStep:
      'Wait until the pending transactions of the account are in blocks: nodes take none with blobs beside one without: {reason}.',
  },
  replacement: {
    basis: 'pool',
    unit: 'wei per gas',
    rule: 'at least',
    failure: 'refused',
    decides: false,
    nextStep: 'Another transaction with this nonce is pending. To replace it, raise {remedy}.',
  },
  'line-counts': {
    basis: 'execution',
    unit: 'lines',
    rule: 'at most',
    failure: 'refused',
    decides: true,
    nextStep: 'Split it into smaller transactions: {reason} counts {found}, a block may have {needed}.',
  },
  'uncounted-lines': {
    basis: 'execution',
    failure: 'refused',
    decides: false,
    nextStep: '',
  },
  exclusion: {
    basis: 'endpoint',
    failure: 'refused',
    decides: false,
    nextStep: 'It was excluded: {reason}. Correct that, sign again with the same nonce, and send it.',
  },
  'nonce-gap': {
    basis: 'state',
    unit: 'nonce',
    rule: 'at most',
    failure: 'waits',
    decides: true,
    nextStep: 'Send the transaction with nonce {needed} first: nonce {found} waits until it is in a block.',
  },
  'fee-cap': {
    basis: 'header',
    unit: 'wei per gas',
    rule: 'at least',
    failure: 'waits',
    decides: true,
    nextStep:
      'It waits in the pool until the base fee, which is {needed} wei, falls to {found}. To go sooner, raise {remedy}.',
  },
  'builder-tip': {
    basis: 'header',
    unit: 'wei per gas',
    rule: 'at least',
    failure: 'waits',
    decides: true,
    nextStep:
      'It may wait in the pool: builders of geth take a priority fee of {needed} wei or more unless they are told otherwise, and beside the base fee it pays {found}. To go sooner, raise {remedy}.',
  },
  'blob-fee-cap': {
    basis: 'header',
    unit: 'wei per gas',
    rule: 'at least',
    failure: 'waits',
    decides: true,
    nextStep:
      'It waits in the pool until the blob base fee, which is {needed} wei, falls to {found}. To go sooner, raise {remedy}.',
  },
  'block-price': {
    basis: 'header',
    unit: 'wei per gas',
    rule: 'at least',
    failure: 'waits',
    decides: true,
    nextStep: `It waits in the pool until prices fall. ${RAISE}`,
  },
  'used-price': {
    basis: 'execution',
    unit: 'wei per gas',
    rule: 'at least',
    failure: 'waits',
    decides: true,
    nextStep: `It waits in the pool: for the gas that it uses, the price is too low. ${RAISE}`,
  },
  'state-gas': {
    basis: 'execution',
    unit: 'gas',
    rule: 'at least',
    failure: 'none',
    decides: false,
    nextStep:
      'Do not send it as it is: it runs out of state gas, which new accounts, slots and code cost (EIP-8037), and the fee is paid nevertheless. {remedy}.',
  },
  execution: {
    basis: 'execution',
    failure: 'none',
    decides: true,
    nextStep: 'Do not send it as it is: its execution fails, and the fee is paid nevertheless: {reason}.',
  },
};
