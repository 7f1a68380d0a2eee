import { useSignal, useSignalEffect } from '@preact/signals';
import { formatBytes } from '../lib/format.js';
import { offline } from '../state/offline.js';
import { asked } from '../state/requests.js';
import { running } from '../state/session.js';
import { type Figures, storageFigures } from '../state/storage.js';
import { Facts } from '../ui/facts.js';
import { Empty, Panel } from '../ui/panel.js';

const OFFLINE = {
  unknown: 'not looked at yet',
  unsupported: 'this page cannot be kept: service workers need https or localhost, and the built page',
  keeping: 'being kept…',
  kept: 'kept: it opens without a network',
  failed: 'could not be kept',
} as const;

export function StoragePanel() {
  const figures = useSignal<Figures | undefined>(undefined);
  useSignalEffect(() => {
    const now = running.value;
    // Each answer may have stored something.
    void asked.value;
    void storageFigures(now?.node).then((read) => {
      figures.value = read;
    });
  });
  const shown = figures.value;
  const settings = running.value?.settings;
  return (
    <Panel title="Storage">
      <Facts
        of={[
          { name: 'This page', value: OFFLINE[offline.value], prose: true },
          {
            name: 'The node',
            value:
              settings === undefined ? 'is not running' : settings.keep ? 'keeps what it has' : 'is in memory only',
            prose: true,
          },
          shown?.usage !== undefined && {
            name: 'Used here',
            value: `${formatBytes(shown.usage)}${shown.quota === undefined ? '' : ` of ${formatBytes(shown.quota)}`}`,
          },
        ]}
      />
      {shown !== undefined && shown.tables.length > 0 ? (
        <div class="table-frame">
          <table class="table">
            <caption class="hidden">What the node keeps, by table</caption>
            <thead>
              <tr>
                <th scope="col">Table</th>
                <th scope="col" class="end">
                  Records
                </th>
                <th scope="col" class="end">
                  Bytes
                </th>
                <th scope="col" class="end">
                  Budget
                </th>
              </tr>
            </thead>
            <tbody>
              {shown.tables.map(({ name, records, bytes, budget }) => (
                <tr key={name}>
                  <th scope="row">{name}</th>
                  <td class="end figure">{records}</td>
                  <td class="end figure">{formatBytes(bytes)}</td>
                  <td class="end figure">{budget === undefined ? '–' : formatBytes(budget)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      ) : (
        shown === undefined && <Empty>The browser does not say.</Empty>
      )}
    </Panel>
  );
}
