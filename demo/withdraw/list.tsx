import type { SentMessage } from 'plumbline-l2';
import { accountName } from '../lib/accounts.js';
import { formatAge, groups } from '../lib/format.js';
import type { Question } from '../state/link.js';
import { useAction } from '../ui/action.js';
import { Failure } from '../ui/failure.js';
import { Known } from '../ui/known.js';
import { Panel } from '../ui/panel.js';
import { AnswerTo, CopyLink } from '../ui/question.js';
import { Table } from '../ui/table.js';
import { follow } from './read.js';
import { fields, type listed } from './state.js';
import { ether, recipientOf, sumOf } from './steps.js';

const STATES: Readonly<Record<SentMessage['state'], string>> = {
  notFinal: 'not final yet',
  anchored: 'final, not claimed',
  claimed: 'claimed',
};

/** The withdrawals of an address in the blocks that were read. */
export function Messages({ of: { address, list, question } }: { readonly of: NonNullable<typeof listed.value> }) {
  const action = useAction();
  const { messages, proved, layerOne } = list;
  const { level, block } = layerOne;
  const kind = level === 'held' ? 'held' : 'proved';
  const aside = (
    <>
      <Known of={{ class: kind, level: proved.level }} />
      <CopyLink to={question as Question} name="this list" />
    </>
  );
  return (
    <AnswerTo to={question} now={fields.value}>
      <Panel title={`Withdrawals of ${accountName(address)}`} aside={aside} class="result">
        <p class="panel-intro">{rangeText(list)}</p>
        {messages.length > 0 && (
          <Table
            label="Withdrawals"
            columns={['Amount', 'Fee', 'To', 'Block', 'State', 'Steps']}
            cards
            rows={messages.map(({ hash, fee, blockNumber, state, ...message }) => [
              sumOf(message),
              ether(fee),
              accountName(recipientOf(message)),
              groups(blockNumber),
              STATES[state],
              <button
                key={hash}
                type="button"
                class="button-small"
                aria-disabled={action.busy.value}
                onClick={() => void action.run(() => follow(hash, blockNumber))}
              >
                Follow
                <span class="hidden">
                  {' '}
                  {sumOf(message)} of block {blockNumber}
                </span>
              </button>,
            ])}
          />
        )}
        <p class="way-basis">
          <Known of={{ class: kind, level }} />
          <span>
            States at block {groups(block.number)} of layer 1, {formatAge(block.timestamp)}
          </span>
        </p>
        <Failure error={action.error.value} />
      </Panel>
    </AnswerTo>
  );
}

/** What the list is complete in. */
export function rangeText({ messages, proved: { from, to } }: NonNullable<typeof listed.value>['list']): string {
  const range = `in blocks ${groups(from)} to ${groups(to)}`;
  const count = messages.length === 0 ? 'None' : `All ${messages.length}`;
  return `${messages.length === 1 ? 'One, and no other,' : count} ${range}: their logs were checked to be complete. Nothing is known of other blocks.`;
}
