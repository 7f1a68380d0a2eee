import { type FollowerSettings, REPLICA_OPTIONS } from '../../src/chain/replica/settings.js';
import { besuTrieLogs } from '../../src/chain/replica/sources.js';
import { ZkFollower } from '../../src/chain/replica/zk-follower.js';
import type { Hasher, HashScheme } from '../../src/kernel/contracts.js';
import { loadHasher } from '../../src/kernel/hasher.js';
import { loadTrieKernel } from '../../src/kernel/trie.js';
import { devnet } from '../../src/networks/devnet.js';
import { MemoryStore } from '../../src/store/memory-store.js';
import type { Commit, Key, PageStore, Table } from '../../src/store/page-store.js';
import { EndpointGroup } from '../../src/upstream/group.js';
import type { EndpointSource } from '../../src/upstream/options.js';
import { contentOf, type GeneratedChain, HeldRoots, type ShomeiContent, shomeiHandler } from './mock-shomei.js';
import { type MockUpstream, openMockUpstream } from './mock-upstream.js';

/** A node on loopback that has a chain, and what follows it. */
export interface ShomeiScene {
  readonly chain: GeneratedChain;
  readonly content: ShomeiContent;
  readonly mock: MockUpstream;
  readonly group: EndpointGroup;
  readonly layerOne: HeldRoots;
  readonly store: PageStore;
  /** A new follower; on the scene's store unless told otherwise. */
  open(settings?: Partial<FollowerSettings>): Promise<ZkFollower>;
  close(): Promise<void>;
}

export interface ShomeiSceneOptions {
  readonly ends?: Iterable<number>;
  readonly store?: PageStore;
  /** Other endpoints in place of the node. */
  readonly endpoints?: (url: string) => readonly EndpointSource[];
}

export async function openShomeiScene(chain: GeneratedChain, options: ShomeiSceneOptions = {}): Promise<ShomeiScene> {
  const content = contentOf(chain);
  const mock = await openMockUpstream({ handler: shomeiHandler(content) });
  const endpoints = options.endpoints?.(mock.url) ?? [mock.url];
  const group = new EndpointGroup({ role: 'l2', endpoints, retries: 0, totalTimeoutMs: 120_000 });
  const layerOne = new HeldRoots(chain, options.ends);
  const store = options.store ?? new MemoryStore();
  return {
    chain,
    content,
    mock,
    group,
    layerOne,
    store,
    async open(settings = {}) {
      return ZkFollower.open({
        rangeBlocks: REPLICA_OPTIONS.rangeBlocks.or,
        commitBlocks: REPLICA_OPTIONS.commitBlocks.or,
        heldBlocks: REPLICA_OPTIONS.heldBlocks.or,
        intermediateRoots: REPLICA_OPTIONS.intermediateRoots.or,
        network: devnet({ scheme: chain.scheme }),
        store,
        hasher: await hasherOf(chain.scheme),
        tries: () => loadTrieKernel(chain.scheme, { undo: true, nodes: true }),
        logs: besuTrieLogs(group),
        layerOne,
        ...settings,
      });
    },
    async close() {
      group.close();
      await mock.close();
    },
  };
}

const hashers = new Map<HashScheme, Promise<Hasher>>();

export function hasherOf(scheme: HashScheme): Promise<Hasher> {
  const loaded = hashers.get(scheme) ?? loadHasher(scheme);
  hashers.set(scheme, loaded);
  return loaded;
}

/** A store whose machine dies at one of its commits: before it is done or right after. Nothing works from then on. */
export class MortalStore implements PageStore {
  private commits = 0;
  dead = false;

  constructor(
    private readonly store: PageStore,
    private readonly death: { readonly commit: number; readonly done: boolean },
  ) {}

  get(table: Table, key: Key): Promise<Uint8Array | undefined> {
    return this.living(() => this.store.get(table, key));
  }

  keys(table: Table): Promise<Key[]> {
    return this.living(() => this.store.keys(table));
  }

  getMany(table: Table, keys: readonly Key[]): Promise<(Uint8Array | undefined)[]> {
    return this.living(() => this.store.getMany(table, keys));
  }

  commit(commit: Commit): Promise<void> {
    return this.living(async () => {
      if (this.commits++ !== this.death.commit) return this.store.commit(commit);
      if (this.death.done) await this.store.commit(commit);
      this.dead = true;
      throw new Error('the machine died');
    });
  }

  clear(): Promise<void> {
    return this.living(() => this.store.clear());
  }

  close(): Promise<void> {
    return this.living(() => this.store.close());
  }

  private async living<T>(act: () => Promise<T>): Promise<T> {
    if (this.dead) throw new Error('the machine is dead');
    return act();
  }
}

/** Everything in a store, in the order of its keys. */
export async function dump(store: PageStore): Promise<[Table, Key, Uint8Array | undefined][]> {
  const found: [Table, Key, Uint8Array | undefined][] = [];
  for (const table of ['meta', 'blocks', 'dictionaries'] as const) {
    const keys = await store.keys(table);
    const values = await store.getMany(table, keys);
    for (const [i, key] of keys.entries()) found.push([table, key, values[i]]);
  }
  return found;
}
