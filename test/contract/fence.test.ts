import 'fake-indexeddb/auto';
import { openIdbStore } from '../../src/store/idb-store.js';
import { MemoryStore } from '../../src/store/memory-store.js';
import { describeFence } from './fence.js';

describeFence('memory', async () => new MemoryStore());
describeFence('IndexedDB', () => openIdbStore(`fence-${crypto.randomUUID()}`));
