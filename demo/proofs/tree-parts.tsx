import { shortHex } from '../lib/format.js';
import type { Tone } from '../lib/trust.js';
import type { Branch } from './anatomy.js';
import type { CheckState } from './checks.js';
import type { Mark, Point } from './layout.js';

/** Class of a part of the drawing, by the checks about it. */
function stateClass(state: CheckState): string {
  return state === 'failed' ? 'is-bad' : state === 'passed' ? 'is-good' : 'is-open';
}

interface BoxProps {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly lines: readonly string[];
  readonly state: CheckState;
  readonly title?: string;
  readonly dashed?: boolean;
  /** In place of green, where the check passed. */
  readonly tone?: Tone;
}

const LINE = 15;

export function boxHeight(lines: number): number {
  return lines * LINE + 11;
}

/** A box of text lines; the first is its name. `x` is the middle. */
export function Box({ x, y, width, lines, state, title, dashed, tone = 'good' }: BoxProps) {
  return (
    <g
      class={`tree-box ${state === 'passed' ? `is-${tone}` : stateClass(state)}${dashed === true ? ' is-dashed' : ''}`}
    >
      {title !== undefined && <title>{title}</title>}
      <rect x={x - width / 2} y={y} width={width} height={boxHeight(lines.length)} rx="6" />
      {lines.map((line, i) => (
        <text key={line} class={i === 0 ? 'tree-name' : 'tree-hash'} x={x} y={y + 17 + i * LINE}>
          {line}
        </text>
      ))}
    </g>
  );
}

/** A line between two points. */
export function Link({ from, to, state }: { readonly from: Point; readonly to: Point; readonly state: CheckState }) {
  return <line class={`tree-link ${stateClass(state)}`} x1={from.x} y1={from.y} x2={to.x} y2={to.y} />;
}

interface PathProps {
  readonly marks: readonly Mark[];
  readonly state: CheckState;
  /** Hashes beside the siblings, where there is room. */
  readonly labels: boolean;
}

/** Marks of a path: its nodes, siblings and folds. */
export function Path({ marks, state, labels }: PathProps) {
  return (
    <>
      {marks.map((mark) => {
        const { from, to } = mark;
        if (mark.kind === 'fold') {
          const { levels, empty } = mark;
          const text = `${levels} ${levels === 1 ? 'level' : 'levels'}${empty ? ', empty beside' : ' more'}`;
          return (
            <g key={`${to.x},${to.y}`}>
              <line class={`tree-link tree-fold ${stateClass(state)}`} x1={from.x} y1={from.y} x2={to.x} y2={to.y} />
              <text class="tree-note" x={from.x + 12} y={(from.y + to.y) / 2 + 4}>
                {labels ? text : `${levels} ${empty ? 'empty' : 'more'}`}
              </text>
            </g>
          );
        }
        const { sibling, step } = mark;
        const left = sibling.x < to.x;
        return (
          <g key={step.level}>
            <line class="tree-side" x1={from.x} y1={from.y} x2={sibling.x} y2={sibling.y} />
            <Link from={from} to={to} state={state} />
            <rect class="tree-sibling" x={sibling.x - 5} y={sibling.y - 5} width="10" height="10" rx="2">
              <title>{`level ${step.level}, beside the path: ${step.sibling}`}</title>
            </rect>
            <circle class={`tree-node ${stateClass(state)}`} cx={to.x} cy={to.y} r="7">
              <title>{`level ${step.level}: ${step.hash}`}</title>
            </circle>
            {labels && (
              <>
                <text
                  class="tree-hash tree-beside"
                  x={sibling.x + (left ? -10 : 10)}
                  y={sibling.y + 4}
                  text-anchor={left ? 'end' : 'start'}
                >
                  {shortHex(step.sibling, 5)}
                </text>
                <text class="tree-note" x={to.x + (left ? 13 : -13)} y={to.y + 4} text-anchor={left ? 'start' : 'end'}>
                  {step.level}
                </text>
              </>
            )}
          </g>
        );
      })}
    </>
  );
}

/** Lines of the box of a leaf. */
export const LEAF_LINES = 6;

/** Text lines of a leaf: its place, the hash of its key, its neighbours in the order of these, and its own hash. */
export function leafLines({ index, leaf, leafHash }: Branch, name: string): string[] {
  const edge = index === 0 ? ' (head)' : index === 1 ? ' (tail)' : '';
  return [
    `${name}${edge}`,
    `position ${index}`,
    `hkey ${shortHex(leaf.hkey, 6)}`,
    `prev ${leaf.prev}`,
    `next ${leaf.next}`,
    shortHex(leafHash, 6),
  ];
}
