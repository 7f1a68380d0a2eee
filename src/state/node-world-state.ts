import { decodeAccountValue } from '../accumulator/account-value.js';
import { PlumblineError } from '../errors.js';
import type { Hasher } from '../kernel/contracts.js';
import { equalBytes } from '../primitives/bytes.js';
import { applyChanges } from './block-application.js';
import { heldSlot, sized, type Workshop } from './block-entries.js';
import { KeyHashes } from './hash-cache.js';
import { emptyTree, findInTree, type Leaf, type Tree } from './tree.js';
import { proveKey } from './tree-proof.js';
import type { WorldState } from './world-state.js';

/** The account tree after one block. */
interface Held {
  readonly block: number;
  readonly accounts: Tree;
}

/**
 * An empty zk state in memory, whose blocks share the nodes they have in common: holding another block costs what it
 * changed, going back costs nothing.
 */
export function openWorldState(hasher: Hasher): WorldState {
  const workshop: Workshop = { hasher, keys: new KeyHashes(hasher), empty: emptyTree(hasher) };
  // Oldest first, consecutive numbers.
  const held: Held[] = [];

  function at(block: number): Tree {
    const state = held[block - (held[0]?.block ?? 0)];
    if (state === undefined) {
      throw new PlumblineError('STATE_NOT_HELD', `the state after block ${block} is not held`, { block });
    }
    return state.accounts;
  }

  const newest = (): Tree => held.at(-1)?.accounts ?? workshop.empty;
  const treeOf = (block: number | undefined): Tree => (block === undefined ? newest() : at(block));

  function accountLeaf(block: number, address: Uint8Array): Leaf | undefined {
    const found = findInTree(at(block), addressKey(address));
    return found.present ? found.at.leaf : undefined;
  }

  function addressKey(address: Uint8Array): Uint8Array {
    return workshop.keys.ofAddresses([sized('address', address, 20)])[0]!;
  }

  function slotKeys(keys: readonly Uint8Array[]): Uint8Array[] {
    return workshop.keys.ofSlots(keys.map((key) => sized('slot key', key, 32)));
  }

  return {
    scheme: hasher.scheme,

    get head() {
      return held.at(-1)?.block;
    },

    get oldest() {
      return held[0]?.block;
    },

    root: (block) => treeOf(block).topRoot.slice(),

    nextFreeNode: (block) => treeOf(block).nextFreeNode,

    applyBlock(block, changes) {
      const expected = (held.at(-1)?.block ?? block - 1) + 1;
      if (block !== expected || !Number.isSafeInteger(block) || block < 0) {
        const details = { what: 'block', expected: String(expected), actual: String(block) };
        throw new PlumblineError('STATE_MISMATCH', `the next block is ${expected}, not ${block}`, details);
      }
      const accounts = applyChanges(workshop, newest(), changes);
      held.push({ block, accounts });
      return accounts.topRoot.slice();
    },

    revertTo(block) {
      at(block);
      held.length = block - held[0]!.block + 1;
    },

    releaseBefore(block) {
      const older = held.findIndex((state, i) => state.block >= block || i === held.length - 1);
      if (older > 0) held.splice(0, older);
    },

    account(block, address) {
      const leaf = accountLeaf(block, address);
      return leaf && decodeAccountValue(leaf.value);
    },

    slot(block, address, key) {
      return heldSlot(accountLeaf(block, address), slotKeys([key])[0]!).slice();
    },

    prove(block, address, storageKeys) {
      const accounts = at(block);
      const leaf = accountLeaf(block, address);
      const hkeys = slotKeys(storageKeys);
      const storage = leaf?.storage;
      const storageEmpty = storage === undefined || equalBytes(storage.topRoot, workshop.empty.topRoot);
      return {
        accountProof: proveKey(hasher, accounts, addressKey(address), address),
        storageProofs: storageEmpty ? [] : storageKeys.map((key, i) => proveKey(hasher, storage, hkeys[i]!, key)),
      };
    },
  };
}
