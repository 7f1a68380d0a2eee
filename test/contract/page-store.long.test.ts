import 'fake-indexeddb/auto';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { openIdbStore } from '../../src/store/idb-store.js';
import { MemoryStore } from '../../src/store/memory-store.js';
import { describeIdbConnection } from './idb-connection.js';
import { describeIdbStore } from './idb-store.js';
import { describePageStore } from './page-store.js';

describePageStore('memory', async () => new MemoryStore());
describeIdbStore();
describeIdbConnection();

describe('without IndexedDB', () => {
  afterEach(() => vi.unstubAllGlobals());

  it('is unavailable', async () => {
    vi.stubGlobal('indexedDB', undefined);
    await expect(openIdbStore('none')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });

  it.each([null, 'SecurityError'])('is unavailable where the global is %s', async (name) => {
    const global = Object.getOwnPropertyDescriptor(globalThis, 'indexedDB')!;
    const get = () => {
      if (name === null) return null;
      throw new DOMException('the operation is insecure', name);
    };
    Object.defineProperty(globalThis, 'indexedDB', { configurable: true, get });
    try {
      await expect(openIdbStore('none')).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
        details: { reason: 'this environment has no IndexedDB, or the browser refuses it to this page' },
      });
    } finally {
      Object.defineProperty(globalThis, 'indexedDB', global);
    }
  });

  it('is unavailable where the browser forbids it', async () => {
    const forbid = () => {
      throw new DOMException('denied', 'SecurityError');
    };
    vi.stubGlobal('indexedDB', { open: forbid });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      await expect(openIdbStore('none')).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
        details: { reason: 'the browser refuses storage to this page, as it does where cookies are blocked: denied' },
      });
      // No timer is left that would reject later, when no caller waits.
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });
});
