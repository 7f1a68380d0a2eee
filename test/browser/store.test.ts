import { describeIdbStore } from '../contract/idb-store.js';

describeIdbStore();
