import { type AccountValue, encodeAccountValue } from '../src/accumulator/account-value.js';
import { hashAccountValue, hashAddress, hashWord } from '../src/accumulator/keys.js';
import type { LineaProofJson, ProofItemJson } from '../src/accumulator/proof-shape.js';
import type { Hasher, HashScheme, KernelBuild } from '../src/kernel/contracts.js';
import { loadHasher } from '../src/kernel/hasher.js';
import { loadTrieKernel } from '../src/kernel/trie.js';
import { bytesToHex, hexToBytes } from '../src/primitives/hex.js';
import { openWorldState } from '../src/state/open-world-state.js';
import { decodeTrieLog } from '../src/state/trie-log.js';
import type { WorldState } from '../src/state/world-state.js';
import { proveKey } from '../test/support/plain-tree/tree-proof.js';
import { type Area, differs, type Report } from './area.js';
import { differsDeep } from './differs-deep.js';
import { SteppedTree } from './stepped-tree.js';

const SCHEMES: readonly HashScheme[] = ['mimc', 'poseidon2'];

interface VectorStep {
  op: 'putAccount' | 'removeAccount' | 'putSlot' | 'removeSlot' | 'refreshStorageRoot';
  address: string;
  key: string;
  value: string;
  account: {
    nonce: number | string;
    balance: number | string;
    storageRoot: string;
    zkCodeHash: string;
    keccakCodeHash: string;
    codeSize: number | string;
  };
  expectTopRoot?: string;
}

interface VectorFile {
  vectors: { scheme: HashScheme; name: string; steps: VectorStep[]; expectTopRoot?: string }[];
}

function runVector(hasher: Hasher, vector: VectorFile['vectors'][number]): string | undefined {
  const accounts = new SteppedTree(hasher);
  const storage = new Map<string, SteppedTree>();
  const values = new Map<string, AccountValue>();
  const storageOf = (address: string) => {
    const tree = storage.get(address) ?? new SteppedTree(hasher);
    storage.set(address, tree);
    return tree;
  };
  const put = (address: string, account: AccountValue) => {
    values.set(address, account);
    const value = encodeAccountValue(account);
    const hkey = hashAddress(hasher, hexToBytes(address, 20));
    accounts.step((draft) => draft.put({ hkey, hval: hashAccountValue(hasher, value), value }));
  };
  const operations: Record<VectorStep['op'], (step: VectorStep) => void> = {
    putAccount: ({ address, account }) =>
      put(address, {
        nonce: BigInt(account.nonce),
        balance: BigInt(account.balance),
        storageRoot: hexToBytes(account.storageRoot, 32),
        zkCodeHash: hexToBytes(account.zkCodeHash, 32),
        keccakCodeHash: hexToBytes(account.keccakCodeHash, 32),
        codeSize: BigInt(account.codeSize),
      }),
    removeAccount: ({ address }) =>
      accounts.step((draft) => draft.remove(hashAddress(hasher, hexToBytes(address, 20)))),
    putSlot: ({ address, key, value }) => storageOf(address).putWord(key, value),
    removeSlot: ({ address, key }) => storageOf(address).removeWord(key),
    refreshStorageRoot: ({ address }) =>
      put(address, { ...values.get(address)!, storageRoot: storageOf(address).tree.topRoot }),
  };
  const root = () => bytesToHex(accounts.tree.topRoot);
  if (vector.expectTopRoot !== undefined && vector.steps.length === 0) return differs(vector.expectTopRoot, root());
  for (const [i, step] of vector.steps.entries()) {
    operations[step.op](step);
    const difference = step.expectTopRoot && differs(step.expectTopRoot, root());
    if (difference) return `step ${i}: ${difference}`;
  }
  return vector.expectTopRoot && differs(vector.expectTopRoot, root());
}

const roots: Area = {
  name: 'state/state-root-vectors',
  usesKernel: true,
  files: (material) => material.both('state/state-root-vectors.json'),
  async run(material, report) {
    const files = this.files(material).map((path) => material.json<VectorFile>(path));
    for (const vector of files.flatMap(({ vectors }) => vectors)) {
      const hasher = await loadHasher(vector.scheme, { build: material.build });
      await report.check(`${vector.scheme} ${vector.name}`, () => runVector(hasher, vector));
    }
  },
};

/** One step of generated-ops-*.json. */
export interface OperationStep {
  op: 'put' | 'remove' | 'mark' | 'rollback';
  key: string;
  value: string;
  effect?: string;
  leafIndex?: number | null;
  nextFreeNode: number;
  subRoot: string;
  topRoot: string;
}

/** One sequence of generated-ops-*.json. */
export interface Sequence {
  seed: number;
  steps: OperationStep[];
  proofs: ProofItemJson[];
}

async function runSequence(hasher: Hasher, { seed, steps, proofs }: Sequence, report: Report): Promise<void> {
  const stepped = new SteppedTree(hasher);
  let marked = stepped.tree;
  for (const [i, step] of steps.entries()) {
    await report.check(`${hasher.scheme} sequence ${seed} step ${i} ${step.op}`, () => {
      let done: { effect?: string; leafIndex?: number } = {};
      if (step.op === 'put') done = stepped.putWord(step.key, step.value);
      else if (step.op === 'remove') done = stepped.removeWord(step.key);
      else if (step.op === 'mark') marked = stepped.tree;
      else stepped.tree = marked;
      const { nextFreeNode, subRoot, topRoot } = stepped.tree;
      return differs(
        [step.effect ?? null, step.leafIndex ?? null, step.nextFreeNode, step.subRoot, step.topRoot],
        [done.effect ?? null, done.leafIndex ?? null, nextFreeNode, bytesToHex(subRoot), bytesToHex(topRoot)],
      );
    });
  }
  for (const [i, item] of proofs.entries()) {
    await report.check(`${hasher.scheme} sequence ${seed} proof ${i}`, () => {
      const key = hexToBytes(item.key, 32);
      return differsDeep(item, proveKey(hasher, stepped.tree, hashWord(hasher, key), key));
    });
  }
}

const operations: Area = {
  name: 'state/generated-ops',
  usesKernel: true,
  files: (material) => material.list('state', /^generated-ops-.*\.json$/),
  async run(material, report) {
    for (const file of this.files(material)) {
      const { scheme, sequences } = material.json<{ scheme: HashScheme; sequences: Sequence[] }>(file);
      const hasher = await loadHasher(scheme, { build: material.build });
      for (const sequence of sequences) await runSequence(hasher, sequence, report);
    }
  },
};

interface Query {
  address: string;
  storageKeys: string[];
  stateRoot: string;
  expect: { exists: boolean; nonce?: string; balance?: string; codeHash?: string; storage?: string[] };
  result: LineaProofJson;
}

interface Chain {
  seed: number;
  emptyRoot: string;
  blocks: { blockNumber: number; trieLog: string; parentRoot: string; root: string; nextFreeNode: number }[];
  queries: Query[];
}

/** An empty world state on kernels of its own. */
async function openState(scheme: HashScheme, build: KernelBuild): Promise<WorldState> {
  const hasher = await loadHasher(scheme, { build });
  return openWorldState(hasher, await loadTrieKernel(scheme, { build, undo: true, nodes: true }));
}

async function runChain(state: WorldState, chain: Chain, report: Report): Promise<void> {
  const name = `${state.scheme} chain ${chain.seed}`;
  await report.check(`${name} empty root`, () => differs(chain.emptyRoot, bytesToHex(state.root())));
  for (const block of chain.blocks) {
    await report.check(`${name} block ${block.blockNumber}`, () => {
      const log = decodeTrieLog(hexToBytes(block.trieLog));
      const parentRoot = bytesToHex(state.root());
      const root = bytesToHex(state.applyBlock(log.blockNumber, log.changes));
      return differs(
        [block.blockNumber, block.parentRoot, block.root, block.nextFreeNode],
        [log.blockNumber, parentRoot, root, state.nextFreeNode()],
      );
    });
  }
  const head = state.head!;
  for (const [i, query] of chain.queries.entries()) {
    const address = hexToBytes(query.address, 20);
    const keys = query.storageKeys.map((key) => hexToBytes(key, 32));
    await report.check(`${name} query ${i} proof`, () => {
      const root = differs(query.stateRoot, bytesToHex(state.root()));
      return root ?? differsDeep(query.result, state.prove(head, address, keys));
    });
    await report.check(`${name} query ${i} values`, () => {
      const held = state.account(head, address);
      if (held === undefined) return differs(query.expect.exists, false);
      const { exists, nonce, balance, codeHash, storage } = query.expect;
      const slots = keys.map((key) => bytesToHex(state.slot(head, address, key)));
      return differs(
        [exists, BigInt(nonce!), BigInt(balance!), codeHash, storage ?? slots],
        [true, held.nonce, held.balance, bytesToHex(held.keccakCodeHash), slots],
      );
    });
  }
  // Every older block again, newest first, by going back.
  for (const block of [...chain.blocks].reverse()) {
    await report.check(`${name} back to block ${block.blockNumber}`, () => {
      state.revertTo(block.blockNumber);
      return differs([block.root, block.nextFreeNode], [bytesToHex(state.root()), state.nextFreeNode()]);
    });
  }
}

const blocks: Area = {
  name: 'state/generated-blocks',
  usesKernel: true,
  files: (material) => material.list('state', /^generated-blocks-.*\.json$/),
  async run(material, report) {
    for (const file of this.files(material)) {
      const { scheme, chains } = material.json<{ scheme: HashScheme; chains: Chain[] }>(file);
      for (const chain of chains) await runChain(await openState(scheme, material.build), chain, report);
    }
  },
};

interface RecordedLog {
  trieLog: string;
  expect: { blockNumber: number; account: string; nonce: string; balance: string; codeHash: string };
  derivedRootFromEmptyState: Record<HashScheme, string>;
}

const trieLogs: Area = {
  name: 'state/trielog',
  usesKernel: true,
  files: (material) => material.list('state', /^trielog-.*\.json$/),
  async run(material, report) {
    for (const file of this.files(material)) {
      const { trieLog, expect, derivedRootFromEmptyState } = material.json<RecordedLog>(file);
      for (const scheme of SCHEMES) {
        const state = await openState(scheme, material.build);
        await report.check(`${file} ${scheme}`, () => {
          const log = decodeTrieLog(hexToBytes(trieLog));
          const root = bytesToHex(state.applyBlock(log.blockNumber, log.changes));
          const account = state.account(log.blockNumber, hexToBytes(expect.account, 20));
          return differs(
            [
              expect.blockNumber,
              BigInt(expect.nonce),
              BigInt(expect.balance),
              expect.codeHash,
              derivedRootFromEmptyState[scheme],
            ],
            [log.blockNumber, account?.nonce, account?.balance, account && bytesToHex(account.keccakCodeHash), root],
          );
        });
      }
    }
  },
};

interface RecordedItem {
  scheme: HashScheme;
  topRoot: string;
  item: ProofItemJson;
}

const proofItems: Area = {
  name: 'state/getproof items',
  usesKernel: true,
  files: (material) => material.list('state/getproof', /^(shomei|item)-.*\.json$/),
  async run(material, report) {
    for (const file of this.files(material)) {
      const { scheme, topRoot, item } = material.json<RecordedItem>(file);
      const hasher = await loadHasher(scheme, { build: material.build });
      await report.check(file, () => {
        const key = hexToBytes(item.key, 32);
        const stepped = new SteppedTree(hasher);
        if ('leafIndex' in item) {
          const value = hexToBytes(item.proof.value, 32);
          stepped.step((draft) => draft.put({ hkey: hasher.hash(key), hval: hasher.hash(value), value }));
        }
        const root = differs(topRoot, bytesToHex(stepped.tree.topRoot));
        return root ?? differsDeep(item, proveKey(hasher, stepped.tree, hasher.hash(key), key));
      });
    }
  },
};

/** The zk state: roots, operations, blocks and the proofs built from them. */
export const STATE_AREAS: readonly Area[] = [roots, operations, blocks, trieLogs, proofItems];
