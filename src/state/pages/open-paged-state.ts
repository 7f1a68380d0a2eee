import { type AccountValue, decodeAccountValue } from '../../accumulator/account-value.js';
import type { LineaProofJson } from '../../accumulator/proof-shape.js';
import { ZERO_HASH } from '../../accumulator/scheme.js';
import type { Hasher, HashScheme } from '../../kernel/contracts.js';
import { copyBytes } from '../../primitives/bytes.js';
import { KeyHashes } from '../hash-cache.js';
import type { PageSource } from '../page-source.js';
import type { StateView } from '../tries/past-view.js';
import type { AccountRecord } from '../tries/state-tries.js';
import { proveAccount } from '../tries/view-proof.js';
import { ACCOUNT_TRIE, pageKey, ROOT, STATE_KEY } from './geometry.js';
import { PageCache } from './page-cache.js';
import { pageCorrupt } from './page-codec.js';
import { decodeHeader, isEmptyRoot, type StateHeader } from './page-content.js';
import { PagedTrie } from './paged-trie.js';

/**
 * A stored state whose pages are read on demand. Every answer is proved by hashing up to `root`, or refused with
 * PlumblineError `STORE_CORRUPT`. Errors of the source are passed on.
 */
export interface PagedState {
  readonly scheme: HashScheme;
  /** Block of the stored state. */
  readonly block: number;
  /** State root, 32 bytes. */
  readonly root: Uint8Array;
  /** Number of pages read so far, header page included. */
  readonly pagesRead: number;
  /** As `WorldState.account`. */
  account(address: Uint8Array): Promise<AccountValue | undefined>;
  /** As `WorldState.slot`. */
  slot(address: Uint8Array, key: Uint8Array): Promise<Uint8Array>;
  /** As `WorldState.prove`. */
  prove(address: Uint8Array, storageKeys: readonly Uint8Array[]): Promise<LineaProofJson>;
}

/** Header of the stored state; undefined if there is none. @throws PlumblineError `STORE_CORRUPT`; `STORE_TOO_NEW` */
export async function storedState(source: PageSource): Promise<StateHeader | undefined> {
  const [page] = await source.getMany([STATE_KEY]);
  return page === undefined ? undefined : decodeHeader(page);
}

/** @throws PlumblineError `STORE_CORRUPT` also if there is no state, or one of the other scheme; `STORE_TOO_NEW` */
export async function requireStoredState(scheme: HashScheme, source: PageSource): Promise<StateHeader> {
  const header = await storedState(source);
  if (header === undefined) throw pageCorrupt(STATE_KEY, 'missing');
  if (header.scheme !== scheme)
    throw pageCorrupt(STATE_KEY, `the stored state has hash scheme ${header.scheme}, expected ${scheme}`);
  return header;
}

/**
 * Opens a stored state for reading. Almost nothing is read before the first query.
 *
 * @param hasher - of the scheme of the stored state
 * @throws PlumblineError `STORE_CORRUPT` also if there is no state, or one of the other scheme; `STORE_TOO_NEW`
 */
export async function openPagedState(hasher: Hasher, source: PageSource): Promise<PagedState> {
  const { scheme, block, root } = await requireStoredState(hasher.scheme, source);
  const keys = new KeyHashes(hasher);
  const storageTries = new Map<number, PagedTrie>();
  const cache = new PageCache(source, () => {
    accounts = new PagedTrie(hasher, cache, ACCOUNT_TRIE, root);
    storageTries.clear();
  });
  let accounts = new PagedTrie(hasher, cache, ACCOUNT_TRIE, root);

  function record(position: number): AccountRecord | undefined {
    const stored = accounts.value(position);
    if (stored === undefined) return undefined;
    const { value, hasStorage, storageRestarts } = stored;
    const { storageRoot } = decodeAccountValue(value);
    if (!hasStorage && !isEmptyRoot(scheme, storageRoot)) {
      throw pageCorrupt(pageKey(position, ROOT), 'the account has a storage root, but no storage is stored');
    }
    if (hasStorage && !storageTries.has(position)) {
      storageTries.set(position, new PagedTrie(hasher, cache, position, storageRoot));
    }
    // Slot values are read from the pages, by the name of the trie.
    return { value, storage: hasStorage ? { handle: position, values: new Map() } : undefined, storageRestarts };
  }

  function trie(name: number): PagedTrie {
    return name === ACCOUNT_TRIE ? accounts : storageTries.get(name)!;
  }

  const view: StateView = {
    tries: {
      topRoot: (name) => trie(name).root,
      find: (name, hkey) => trie(name).find(hkey),
      branch: (name, position) => trie(name).branch(position),
    },
    record,
    slotValue: (storage, position) => trie(storage.handle).value(position)?.value,
  };

  function find(hkey: Uint8Array): AccountRecord | undefined {
    const found = accounts.find(hkey);
    return found.present ? record(found.position) : undefined;
  }

  return {
    scheme,
    block,
    root,

    get pagesRead() {
      return 1 + cache.pagesRead;
    },

    async account(address) {
      const { hkey } = keys.hashedAddress(address);
      const found = await cache.run(() => find(hkey));
      return found && decodeAccountValue(found.value);
    },

    async slot(address, key) {
      const account = keys.hashedAddress(address);
      const { hkey } = keys.hashedSlots([key])[0]!;
      return cache.run(() => {
        const storage = find(account.hkey)?.storage;
        if (storage === undefined) return ZERO_HASH.slice();
        const found = trie(storage.handle).find(hkey);
        return copyBytes(found.present ? view.slotValue(storage, found.position)! : ZERO_HASH);
      });
    },

    async prove(address, storageKeys) {
      const account = keys.hashedAddress(address);
      const slots = keys.hashedSlots(storageKeys);
      return cache.run(() => {
        const storage = find(account.hkey)?.storage;
        if (storage !== undefined && !isEmptyRoot(scheme, trie(storage.handle).root)) {
          // Finding a key reads most of what its proof needs.
          cache.together(
            slots.map(
              ({ hkey }) =>
                () =>
                  trie(storage.handle).find(hkey),
            ),
          );
        }
        return proveAccount(scheme, view, ACCOUNT_TRIE, account, slots);
      });
    },
  };
}
