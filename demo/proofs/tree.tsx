import { shortHex } from '../lib/format.js';
import type { Tone } from '../lib/trust.js';
import type { Anatomy, Branch } from './anatomy.js';
import type { Check, CheckState } from './checks.js';
import { type Lane, layOut, type Mark, type Point, partedSteps, pieces, WIDTH } from './layout.js';
import { Box, boxHeight, LEAF_LINES, Link, leafLines, Path } from './tree-parts.js';

interface TreeProps {
  readonly of: Anatomy;
  /** Checks about this item. */
  readonly checks: readonly Check[];
  /** What the tree is of, and the root it has to lead to. */
  readonly rootName: string;
  readonly root: string;
  /** How far the root itself is to be trusted. */
  readonly tone: Tone;
  /** Levels with siblings that are drawn of each path. */
  readonly detail: number;
}

const MIDDLE = WIDTH / 2;
const TOP = 4;
const LINK = 26;
const LEAF = 160;
const WHOLE: Lane = { lean: 26, walls: [110, 290] };
const LEFT: Lane = { lean: 17, walls: [70, 136] };
const RIGHT: Lane = { lean: 17, walls: [264, 330] };

/** How checks of some names about some part went: failed if one did, passed if all did. */
function stateOf(checks: readonly Check[], part: string | undefined, ...names: Check['name'][]): CheckState {
  const about = checks.filter((check) => (part === undefined || check.part === part) && names.includes(check.name));
  if (about.some(({ state }) => state === 'failed')) return 'failed';
  return about.length > 0 && about.every(({ state }) => state === 'passed') ? 'passed' : 'not-reached';
}

/** The path of one item through its tree; of a key that is absent, the paths to its two neighbours. */
export function Tree({ of, checks, rootName, root, tone, detail }: TreeProps) {
  const [first, second] = of.branches as [Branch, Branch | undefined];
  const rootState = stateOf(checks, undefined, 'root');
  const topY = TOP + boxHeight(2) + LINK;
  const start: Point = { x: MIDDLE, y: topY + boxHeight(2) + LINK };
  const body = second === undefined ? drawOne(of, first, checks, start, detail) : drawTwo(of, checks, start, detail);
  const height = body.bottom + TOP;
  const same = first.topHash === root;
  return (
    <svg class="tree" viewBox={`0 0 ${WIDTH} ${height}`} role="img" aria-label={describe(of, rootState)}>
      <Box
        x={MIDDLE}
        y={TOP}
        width={280}
        lines={[rootName, shortHex(root, 14)]}
        state={rootState}
        tone={tone}
        title={root}
      />
      <Link from={{ x: MIDDLE, y: TOP + boxHeight(2) }} to={{ x: MIDDLE, y: topY }} state={rootState} />
      <text class={`tree-sign ${same ? 'is-good' : 'is-bad'}`} x={MIDDLE + 14} y={topY - LINK / 2 + 5}>
        {same ? '= hash of' : '≠ hash of'}
      </text>
      <Box
        x={MIDDLE}
        y={topY}
        width={280}
        lines={[`Top node, ${first.nextFree} positions used`, shortHex(first.topHash, 14)]}
        state={rootState}
        title={first.topHash}
      />
      <Link from={{ x: MIDDLE, y: start.y - LINK }} to={start} state={stateOf(checks, first.at, 'path')} />
      {body.drawn}
    </svg>
  );
}

function drawOne(of: Anatomy, branch: Branch, checks: readonly Check[], start: Point, detail: number) {
  const path = stateOf(checks, branch.at, 'path');
  const { marks, end } = layOut(pieces(branch.steps, detail), start, WHOLE);
  const y = end.y + 18;
  const lines = leafLines(branch, of.at === 'accountProof' ? 'Leaf of the account' : 'Leaf of the slot');
  const drawn = (
    <>
      <Path marks={marks} state={path} labels />
      <SubRoot at={start} branch={branch} state={path} />
      <Link from={end} to={{ x: end.x, y }} state={path} />
      <Box
        x={end.x}
        y={y}
        width={200}
        lines={lines}
        state={stateOf(checks, branch.at, 'links', 'position', 'owner', 'value')}
        title={branch.leafHash}
      />
    </>
  );
  return { drawn, bottom: y + boxHeight(lines.length) };
}

function SubRoot({ at, branch, state }: { readonly at: Point; readonly branch: Branch; readonly state: CheckState }) {
  return (
    <g class={`tree-node ${state === 'failed' ? 'is-bad' : state === 'passed' ? 'is-good' : 'is-open'}`}>
      <title>{`level 40: the path hashes to ${branch.climbed}, the top node names ${branch.subRoot}`}</title>
      <circle cx={at.x} cy={at.y} r="9" />
    </g>
  );
}

/** Two paths that part somewhere, and the gap between their leaves in which the key would be. */
function drawTwo(of: Anatomy, checks: readonly Check[], start: Point, detail: number) {
  const [lower, upper] = of.branches as [Branch, Branch];
  const { shared, left: lowerSteps, right: upperSteps } = partedSteps(of);
  const trunk = layOut(pieces(shared, detail), start, { lean: 20, walls: [140, 260] });
  // The tree is in the order of positions, the leaves in the order of keys: either neighbour may stand on the left.
  const lowerIsLeft = lower.index < upper.index;
  const forkY = trunk.end.y + 44;
  const lane = (isLeft: boolean) => (isLeft ? LEFT : RIGHT);
  const middle = ({ walls: [a, b] }: Lane) => (a + b) / 2;
  const draw = (steps: Branch['steps'], isLeft: boolean): { marks: readonly Mark[]; fork: Point; end: Point } => {
    const fork = { x: middle(lane(isLeft)), y: forkY };
    return { fork, ...layOut(pieces(steps, Math.ceil(detail / 2)), fork, lane(isLeft)) };
  };
  const low = draw(lowerSteps, lowerIsLeft);
  const high = draw(upperSteps, !lowerIsLeft);
  const lowPath = stateOf(checks, lower.at, 'path');
  const highPath = stateOf(checks, upper.at, 'path');
  const y = Math.max(low.end.y, high.end.y) + 20;
  const order = stateOf(checks, of.at, 'neighbours', 'order');
  const leaf = (branch: Branch, name: string, isLeft: boolean) => (
    <Box
      x={middle(lane(isLeft)) + (isLeft ? -13 : 13)}
      y={y}
      width={LEAF}
      lines={leafLines(branch, name)}
      state={stateOf(checks, branch.at, 'links', 'position')}
      title={branch.leafHash}
    />
  );
  const gapY = y + boxHeight(LEAF_LINES) + 30;
  const foot = (isLeft: boolean) => ({ x: middle(lane(isLeft)), y: y + boxHeight(LEAF_LINES) });
  const drawn = (
    <>
      <Path marks={trunk.marks} state={lowPath} labels />
      <SubRoot at={start} branch={lower} state={lowPath} />
      {[
        { side: low, path: lowPath, branch: lower },
        { side: high, path: highPath, branch: upper },
      ].map(({ side, path, branch }) => (
        <g key={branch.at}>
          <Link from={trunk.end} to={side.fork} state={path} />
          <circle
            class={`tree-node ${path === 'failed' ? 'is-bad' : path === 'passed' ? 'is-good' : 'is-open'}`}
            cx={side.fork.x}
            cy={side.fork.y}
            r="7"
          />
          <Path marks={side.marks} state={path} labels={false} />
          <Link from={side.end} to={{ x: side.end.x, y }} state={path} />
        </g>
      ))}
      {leaf(lower, 'Lower neighbour', lowerIsLeft)}
      {leaf(upper, 'Upper neighbour', !lowerIsLeft)}
      <Link from={foot(true)} to={{ x: MIDDLE - 50, y: gapY }} state={order} />
      <Link from={foot(false)} to={{ x: MIDDLE + 50, y: gapY }} state={order} />
      <Box
        x={MIDDLE}
        y={gapY}
        width={220}
        lines={['Nothing between them', `so ${shortHex(of.key, 6)} is absent`]}
        state={order}
        dashed
      />
    </>
  );
  return { drawn, bottom: gapY + boxHeight(2) };
}

function describe({ branches, key }: Anatomy, root: CheckState): string {
  const leads = root === 'passed' ? 'leads to the trusted root' : 'does not lead to the trusted root';
  const [first, second] = branches as [Branch, Branch | undefined];
  const busy = first.steps.filter(({ empty }) => !empty).length;
  return second === undefined
    ? `Path of 40 levels from leaf ${first.index} to the top, ${busy} of them with a neighbour; the top ${leads}`
    : `Paths from leaves ${first.index} and ${second.index}, between which ${shortHex(key)} would stand, to the top, which ${leads}`;
}
