import { TOKEN_SYMBOL } from '../lib/accounts.js';
import { formatUnits, groups } from '../lib/format.js';
import type { Branch, Step as Level } from '../proofs/anatomy.js';
import type { Check, CheckState } from '../proofs/checks.js';
import type { Checked } from './proof.js';

export type StepState = CheckState | 'trusted';

/** One step from the root on layer 1 down to the balance. */
export interface Step {
  readonly name: 'layer-1' | 'state' | 'to-token' | 'token' | 'to-account' | 'balance';
  readonly title: string;
  readonly state: StepState;
  /** What was hashed here. */
  readonly hash: string;
  /** What it has to be: the step above contains it. */
  readonly wanted: string;
  /** Levels of a path, from the top. */
  readonly levels?: readonly Level[];
}

/** The test token's amount with its unit. */
export function inTokens(amount: bigint): string {
  return `${formatUnits(amount, 18)} ${TOKEN_SYMBOL}`;
}

/** The steps of a checked answer, in the order in which they are checked. */
export function stepsOf({ checks, items, root, block, balance, balanceHash, storageRoot }: Checked): readonly Step[] {
  const [token, account] = items.map(({ branches }) => branches[0]!) as [Branch, Branch];
  const ofToken = (check: Check) => check.item === 'accountProof';
  const isRoot = ({ name, item }: Check) => name === 'root' || item === 'storageProofs';
  const isValue = ({ name }: Check) => name === 'value';
  const state = (about: (check: Check) => boolean) => stateOf(checks.filter(about));
  return [
    { name: 'layer-1', title: `Layer 1: root of block ${groups(block)}`, state: 'trusted', hash: root, wanted: root },
    {
      ...{ name: 'state', title: 'The state of layer 2', hash: token.topHash, wanted: root },
      state: state((check) => ofToken(check) && isRoot(check)),
    },
    {
      ...{ name: 'to-token', title: '40 hashes down to the token contract', levels: token.steps },
      ...{ hash: token.climbed, wanted: token.subRoot },
      state: state((check) => ofToken(check) && !isRoot(check)),
    },
    {
      ...{ name: 'token', title: 'The balances of the token', hash: account.topHash, wanted: storageRoot },
      state: state((check) => !ofToken(check) && isRoot(check)),
    },
    {
      ...{ name: 'to-account', title: '40 hashes down to account 1', levels: account.steps },
      ...{ hash: account.climbed, wanted: account.subRoot },
      state: state((check) => !ofToken(check) && !isRoot(check) && !isValue(check)),
    },
    {
      ...{ name: 'balance', title: inTokens(balance), hash: balanceHash, wanted: account.leaf.hval },
      state: state((check) => !ofToken(check) && isValue(check)),
    },
  ];
}

function stateOf(checks: readonly Check[]): CheckState {
  if (checks.some(({ state }) => state === 'failed')) return 'failed';
  return checks.every(({ state }) => state === 'passed') ? 'passed' : 'not-reached';
}
