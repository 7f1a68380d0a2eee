import { describeIdbConnection } from '../contract/idb-connection.js';
import { describeIdbStore } from '../contract/idb-store.js';

describeIdbStore();
describeIdbConnection();
