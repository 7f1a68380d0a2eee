import { openIdbStore } from '../../src/store/idb-store.js';
import { describeFence } from '../contract/fence.js';

describeFence('IndexedDB', () => openIdbStore(`fence-${crypto.randomUUID()}`));
