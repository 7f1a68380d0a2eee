import 'fake-indexeddb/auto';
import { openIdbStore } from '../../src/store/idb-store.js';
import { MemoryStore } from '../../src/store/memory-store.js';
import { KeptStore } from '../support/dev-node.js';
import { describeKeptTables } from './kept-tables.js';

let count = 0;

describeKeptTables('IndexedDB', async () => {
  const name = `plumbline-kept-${count++}`;
  return () => openIdbStore(name);
});
describeKeptTables(
  'memory',
  async () => {
    const store = new KeptStore();
    return async () => store;
  },
  async () => new MemoryStore(),
);
