import { formatMs, groups, pretty } from '../lib/format.js';
import type { LogEntry } from '../state/requests.js';
import { Known } from '../ui/known.js';
import { Long } from '../ui/long.js';
import { Json } from '../ui/panel.js';

const SHOWN = 200;
/** Characters of an error. */
const LONGEST = 300;

/** Blocks an answer rests on: one, or the first and last of several. */
function blocksText(blocks: readonly number[]): string {
  if (blocks.length === 0) return '–';
  if (blocks.length === 1) return groups(blocks[0]!);
  return `${groups(Math.min(...blocks))}–${groups(Math.max(...blocks))}`;
}

/** The log as a table; on narrow screens each row becomes a card, with the names of the columns in it. */
export function LogTable({ of }: { readonly of: readonly LogEntry[] }) {
  return (
    <table class="table table-cards">
      <caption class="hidden">Answers of the node, newest first</caption>
      <thead>
        <tr>
          <th scope="col">Time</th>
          <th scope="col">Method, parameters</th>
          <th scope="col">Known</th>
          <th scope="col" class="end">
            Block
          </th>
          <th scope="col" class="end">
            Took
          </th>
          <th scope="col">Outcome, evidence</th>
        </tr>
      </thead>
      <tbody>
        {of.slice(0, SHOWN).map(({ id, at, method, params, known, blocks, ms, error, evidence, quiet }) => (
          <tr key={id} class={quiet ? 'is-quiet' : undefined}>
            <td data-label="Time" class="figure soft tight">
              <time dateTime={at.toISOString()}>{at.toLocaleTimeString()}</time>
            </td>
            <th data-label="Method" scope="row" class="mono">
              {method}
              {params.length > 0 && (
                <span class="log-params">
                  <Long name="Parameters" text={JSON.stringify(params)} />
                </span>
              )}
            </th>
            <td data-label="Known">{known === undefined ? '–' : <Known of={known} />}</td>
            <td data-label="Block" class="end figure tight">
              {blocksText(blocks)}
            </td>
            <td data-label="Took" class="end figure tight">
              {formatMs(ms)}
            </td>
            <td data-label="Outcome">
              {error !== undefined && (
                <span class="bad">
                  {error.code !== '' && <code>{error.code}</code>} {error.message.slice(0, LONGEST)}
                </span>
              )}
              {evidence !== undefined && (
                <Json summary={error === undefined ? 'answered' : 'report'} text={pretty(evidence)} />
              )}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
