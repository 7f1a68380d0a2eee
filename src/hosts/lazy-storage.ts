import type { StorageControl } from '../rpc/storage-control.js';

/** A control that is loaded when it is first used: most nodes are never asked what they keep. */
export function lazyStorage(load: () => Promise<StorageControl>): StorageControl {
  let loading: Promise<StorageControl> | undefined;
  const loaded = () => {
    loading ??= load();
    return loading;
  };
  return {
    report: async () => (await loaded()).report(),
    clear: async () => (await loaded()).clear(),
    exportChain: async () => (await loaded()).exportChain(),
    importChain: async (file, signal) => (await loaded()).importChain(file, signal),
  };
}
