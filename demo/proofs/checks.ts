import type { LineaProofVerdict, ProofItemJson } from 'plumbline-l2/verify';

export type CheckState = 'passed' | 'failed' | 'not-reached';

/** A check of the verifier, in the order in which it makes them. */
export interface Check {
  /** Item of the answer it is about: `accountProof`, `storageProofs[0]`. */
  readonly item: string;
  /** Part of the drawing: the branch's place for what is about a branch. */
  readonly part: string;
  readonly name: 'key' | 'root' | 'links' | 'path' | 'position' | 'owner' | 'neighbours' | 'order' | 'value' | 'count';
  readonly text: string;
  readonly state: CheckState;
  /** What the verifier said, of the one that failed. */
  readonly message?: string;
}

type Planned = Omit<Check, 'state' | 'message'> & { readonly fails: (reason: string, at: string) => boolean };

/** Positions are below this. */
const POSITIONS = 2 ** 40;

function branchChecks(item: string, part: string, indexAt: string, who: string): Planned[] {
  const nodes = `${part}.proofRelatedNodes`;
  const about = (name: Check['name'], text: string, fails: Planned['fails']) => ({ item, part, name, text, fails });
  return [
    about('root', `${who}: the top node hashes to the trusted root`, (reason, at) => {
      return at === `${nodes}[0]` && ['ROOT_MISMATCH', 'NOT_CANONICAL', 'INDEX_OUT_OF_RANGE'].includes(reason);
    }),
    about('links', `${who}: its links are positions of the tree`, (reason, at) => {
      return reason === 'INDEX_OUT_OF_RANGE' && (at === `${nodes}[41]` || at === `${nodes}[40]`);
    }),
    about('path', `${who}: leaf and 40 siblings hash to the top`, (reason, at) => {
      return (reason === 'PATH_MISMATCH' && at === nodes) || (reason === 'NOT_CANONICAL' && at.startsWith(`${nodes}[`));
    }),
    about('position', `${who}: its position is one that is used`, (reason, at) => {
      return reason === 'INDEX_OUT_OF_RANGE' && at === indexAt;
    }),
  ];
}

function itemChecks(item: string, json: ProofItemJson | null, what: string): Planned[] {
  // A state manager may put null in place of a slot of an account without storage.
  if (json === null) return [];
  const about = (part: string, name: Check['name'], text: string, fails: Planned['fails']): Planned => {
    return { item, part, name, text, fails };
  };
  const key = about(item, 'key', `The answer is about the ${what} that was asked for`, (reason, at) => {
    return reason === 'KEY_MISMATCH' && at === `${item}.key`;
  });
  if ('proof' in json) {
    const part = `${item}.proof`;
    return [
      key,
      ...branchChecks(item, part, `${item}.leafIndex`, 'The leaf'),
      about(part, 'owner', `The leaf is that of the ${what}`, (reason, at) => {
        return reason === 'KEY_MISMATCH' && at.startsWith(part);
      }),
      about(part, 'value', 'The value is the one that the leaf commits to', (reason, at) => {
        return at === `${part}.value` && ['VALUE_MISMATCH', 'ZERO_SLOT_STORED', 'NOT_CANONICAL'].includes(reason);
      }),
    ];
  }
  return [
    key,
    ...branchChecks(item, `${item}.leftProof`, `${item}.leftLeafIndex`, 'Lower neighbour'),
    ...branchChecks(item, `${item}.rightProof`, `${item}.rightLeafIndex`, 'Upper neighbour'),
    about(item, 'neighbours', 'The two neighbours point at each other', (reason) => reason === 'LINK_BROKEN'),
    about(item, 'order', `The ${what} lies between them, so it is absent`, (reason) => reason === 'LEAF_ORDER_BROKEN'),
    about(item, 'value', 'Each neighbour is the leaf it says it is', (reason) => {
      return ['VALUE_MISMATCH', 'EDGE_LEAF_BROKEN', 'NOT_CANONICAL'].includes(reason);
    }),
  ];
}

/** Items of an answer with their places. */
export function itemsOf(answer: {
  readonly accountProof: ProofItemJson;
  readonly storageProofs: readonly ProofItemJson[];
}): { readonly at: string; readonly json: ProofItemJson }[] {
  return [
    { at: 'accountProof', json: answer.accountProof },
    ...answer.storageProofs.map((json, i) => ({ at: `storageProofs[${i}]`, json })),
  ];
}

/**
 * The checks behind a verdict, in the verifier's order. It stops at the first that fails, so those before it passed and
 * those after it were not reached.
 */
export function checksOf(
  verdict: LineaProofVerdict,
  answer: { readonly accountProof: ProofItemJson; readonly storageProofs: readonly ProofItemJson[] },
): readonly Check[] {
  const planned = itemsOf(answer).flatMap(({ at, json }) =>
    itemChecks(at, json, at === 'accountProof' ? 'account' : 'slot'),
  );
  const count: Planned = {
    item: 'storageProofs',
    part: 'storageProofs',
    name: 'count',
    text: 'There is one storage proof for each slot that was asked for',
    fails: (reason) => reason === 'SLOT_COUNT_MISMATCH',
  };
  const firstSlot = planned.findIndex(({ item }) => item !== 'accountProof');
  planned.splice(firstSlot === -1 ? planned.length : firstSlot, 0, count);
  const shown = ({ fails: _, ...check }: Planned, state: CheckState): Check => ({ ...check, state });
  if (verdict.verified) return planned.map((check) => shown(check, 'passed'));

  const { reason, at, message } = verdict;
  const inItem = ({ item }: Planned) => at.startsWith(item);
  const failing = planned.findIndex((check) => inItem(check) && check.fails(reason, at));
  // A position that no tree has is refused before anything is hashed, so nothing of its branch was looked at.
  const early = reason === 'INDEX_OUT_OF_RANGE' && isNoPosition(answer, at);
  return planned.map((check, i) => {
    if (i === failing) return { ...shown(check, 'failed'), message };
    const sameBranch = early && failing !== -1 && check.part === planned[failing]!.part;
    return shown(check, i < failing && !sameBranch ? 'passed' : 'not-reached');
  });
}

function isNoPosition(answer: Parameters<typeof itemsOf>[0], at: string): boolean {
  const found = itemsOf(answer).find(({ at: item }) => at.startsWith(`${item}.`));
  const name = at.slice(at.lastIndexOf('.') + 1);
  const index = (found?.json as unknown as Record<string, unknown> | undefined)?.[name];
  return typeof index === 'number' && (index < 0 || index >= POSITIONS);
}
