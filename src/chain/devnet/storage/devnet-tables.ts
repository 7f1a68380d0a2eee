import type { Table } from '../../../store/page-store.js';

/**
 * Tables that only a devnet uses. Its budget limits them, and an exported chain contains them. An exported file names a table by its
 * place in this list, so a new one goes to the end.
 */
export const DEVNET_TABLES: readonly Table[] = ['blocks', 'state', 'trie'];
