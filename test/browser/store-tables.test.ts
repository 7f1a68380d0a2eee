import { openIdbStore } from '../../src/store/idb-store.js';
import { describeKeptTables } from '../contract/kept-tables.js';

let count = 0;

describeKeptTables('IndexedDB', async () => {
  const name = `plumbline-kept-${Date.now()}-${count++}`;
  return () => openIdbStore(name);
});
