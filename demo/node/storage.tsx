import { useSignal, useSignalEffect } from '@preact/signals';
import type { TableReport } from 'plumbline-l2';
import { formatBytes, groups } from '../lib/format.js';
import { type Offline, offline } from '../state/offline.js';
import { asked } from '../state/requests.js';
import { running, storeStatus } from '../state/session.js';
import { type Kept, readKept } from '../state/storage.js';
import { Facts } from '../ui/facts.js';
import { Empty, Panel } from '../ui/panel.js';
import { Table } from '../ui/table.js';

const OFFLINE: Readonly<Record<Offline, string>> = {
  unknown: 'not looked at yet',
  unsupported: 'this page cannot be kept: service workers need https or localhost, and the built page',
  keeping: 'being kept…',
  kept: 'kept: it opens without a network',
  failed: 'could not be kept',
};

function nodeText({ storage, sharing }: Kept): string {
  const { status } = storage;
  if (status.mode === 'memory') return status.message ?? 'in memory only: it ends with the page';
  if (sharing.role === 'follower') return 'kept in this browser by another tab, which answers for this one';
  return sharing.role === 'writer' ? 'kept in this browser; other tabs ask this one' : 'kept in this browser';
}

function originText({ storage: { origin, persisted } }: Kept): string | undefined {
  if (origin?.usage === undefined) return undefined;
  const quota = origin.quota === undefined ? '' : ` of ${formatBytes(origin.quota)}`;
  return `${formatBytes(origin.usage)}${quota}${persisted === true ? ', kept for good' : ''}`;
}

/** What is kept: the page, and what the node has, table by table. */
export function StoragePanel() {
  const kept = useSignal<Kept | undefined>(undefined);
  useSignalEffect(() => {
    const node = running.value?.node;
    // Each answer may have stored something.
    void asked.value;
    void storeStatus.value;
    if (node === undefined) {
      kept.value = undefined;
      return;
    }
    void readKept(node).then((read) => {
      if (running.value?.node === node && read !== undefined) kept.value = read;
    });
  });
  const shown = kept.value;
  const origin = shown && originText(shown);
  return (
    <Panel title="Storage">
      <Facts
        of={[
          { name: 'This page', value: OFFLINE[offline.value], prose: true },
          { name: 'The node', value: shown === undefined ? 'is not running' : nodeText(shown), prose: true },
          shown !== undefined && { name: 'Of the node', value: formatBytes(shown.storage.bytes) },
          origin !== undefined && { name: 'Of this origin', value: origin },
        ]}
      />
      {shown === undefined ? (
        <Empty>What a node keeps is shown when one runs.</Empty>
      ) : (
        <Tables of={shown.storage.tables} />
      )}
    </Panel>
  );
}

function Tables({ of }: { readonly of: Readonly<Record<string, TableReport>> }) {
  const used = Object.entries(of).filter(([, { records }]) => records > 0);
  if (used.length === 0) return null;
  return (
    <Table
      label="What the node keeps, by table"
      columns={['Table', 'Records', 'Size', 'At most']}
      rows={used.map(([name, { records, bytes, budget }]) => [
        name,
        groups(records),
        formatBytes(bytes),
        budget === undefined ? '–' : formatBytes(budget),
      ])}
    />
  );
}
