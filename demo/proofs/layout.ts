import type { Anatomy, Branch, Step } from './anatomy.js';

/** Units of the drawing, which is this wide and as high as it has to be. */
export const WIDTH = 400;
const STEP = 40;
const FOLD = 46;

/** A run of levels whose siblings are all empty is drawn as one line. */
export type Piece =
  | { readonly kind: 'step'; readonly step: Step }
  | { readonly kind: 'fold'; readonly levels: number; readonly empty: boolean };

/** Steps with neighbours beside them, and folds between; of a long path the middle is folded as well. */
export function pieces(steps: readonly Step[], shown: number): Piece[] {
  const busy = steps.filter(({ empty }) => !empty);
  const edge = Math.ceil(shown / 2);
  const hidden = new Set(busy.length <= shown ? [] : busy.slice(edge, busy.length - (shown - edge)));
  const list: Piece[] = [];
  for (const step of steps) {
    const kind = step.empty ? 'empty' : hidden.has(step) ? 'hidden' : 'step';
    const last = list.at(-1);
    if (kind === 'step') list.push({ kind, step });
    else if (last?.kind === 'fold' && last.empty === (kind === 'empty')) {
      list[list.length - 1] = { ...last, levels: last.levels + 1 };
    } else list.push({ kind: 'fold', levels: 1, empty: kind === 'empty' });
  }
  return list;
}

export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A line down to a node of the path, the node, and its sibling where one is drawn. */
export type Mark =
  | { readonly kind: 'node'; readonly from: Point; readonly to: Point; readonly sibling: Point; readonly step: Step }
  | {
      readonly kind: 'fold';
      readonly from: Point;
      readonly to: Point;
      readonly levels: number;
      readonly empty: boolean;
    };

/** Where a path may go: how far it leans to a side at each step, and the walls it stays between. */
export interface Lane {
  readonly lean: number;
  readonly walls: readonly [left: number, right: number];
}

/** Lays pieces out from a point down. @returns the marks and where they end */
export function layOut(
  list: readonly Piece[],
  from: Point,
  { lean: width, walls }: Lane,
): { readonly marks: readonly Mark[]; readonly end: Point } {
  const marks: Mark[] = [];
  let at = from;
  for (const piece of list) {
    if (piece.kind === 'fold') {
      const to = { x: at.x, y: at.y + FOLD };
      marks.push({ kind: 'fold', from: at, to, levels: piece.levels, empty: piece.empty });
      at = to;
      continue;
    }
    const lean = piece.step.right ? width : -width;
    const x = Math.min(walls[1], Math.max(walls[0], at.x + lean));
    const to = { x, y: at.y + STEP };
    // Of a path that stands at a wall the sibling keeps its distance all the same.
    const sibling = { x: x - 2 * lean, y: to.y };
    marks.push({ kind: 'node', from: at, to, sibling, step: piece.step });
    at = to;
  }
  return { marks, end: at };
}

/** Level at which the paths to two leaves part: both stand below the same node there. */
function parting(left: Branch, right: Branch): number {
  let level = 0;
  for (let [a, b] = [left.index, right.index]; a !== b; level++) [a, b] = [Math.floor(a / 2), Math.floor(b / 2)];
  return level;
}

/** Steps above and below the level at which two paths part; the one at it is drawn for both. */
export function partedSteps({ branches }: Anatomy): { shared: Step[]; left: Step[]; right: Step[] } {
  const [left, right] = branches as [Branch, Branch];
  const at = parting(left, right);
  const above = (step: Step) => step.level >= at;
  const below = (step: Step) => step.level < at - 1;
  return { shared: left.steps.filter(above), left: left.steps.filter(below), right: right.steps.filter(below) };
}
