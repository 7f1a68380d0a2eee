import type { StorageControl } from '../../rpc/inspection/storage-control.js';
import { loadOnce } from '../../scheduling/load-once.js';

/** A control that is loaded when it is first used: most nodes are never asked for what they store. */
export function lazyStorage(load: () => Promise<StorageControl>): StorageControl {
  const loaded = loadOnce(load);
  return {
    report: async () => (await loaded()).report(),
    clear: async () => (await loaded()).clear(),
    exportChain: async () => (await loaded()).exportChain(),
    importChain: async (file, signal) => (await loaded()).importChain(file, signal),
  };
}
