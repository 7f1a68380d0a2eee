import { keccak256 } from '../../kernel/keccak.js';
import { bytesToKey, equalBytes } from '../../primitives/bytes.js';
import { bytesToHex } from '../../primitives/hex.js';
import type { BudgetedTable } from '../../store/budgeted-table.js';

/** Most bytes of nodes that are kept in memory; the least recently used node is dropped first. A node has 532 bytes at most. */
const MAX_BYTES = 32 * 2 ** 20;

/** Nodes of Merkle-Patricia tries by their hash. A node under its hash cannot be a wrong one. */
export class KeptNodes {
  private readonly nodes = new Map<string, Uint8Array>();
  private bytes = 0;

  /** @param table - stores nodes for later sessions */
  constructor(
    private readonly table: BudgetedTable | undefined,
    private readonly maxBytes = MAX_BYTES,
  ) {}

  /** @param key - `bytesToKey` of the hash. @returns undefined for a node that is not in memory */
  get(key: string): Uint8Array | undefined {
    const node = this.nodes.get(key);
    if (node === undefined) return undefined;
    this.nodes.delete(key);
    this.nodes.set(key, node);
    return node;
  }

  /** Reads a stored node into memory. @param hash - 32 bytes. @returns whether the store has it */
  async load(hash: Uint8Array): Promise<boolean> {
    const node = await this.table?.get(nameOf(hash));
    if (node === undefined || !equalBytes(keccak256(node), hash)) return false;
    this.keep(bytesToKey(hash), node);
    return true;
  }

  /** Keeps a node, in the store too. */
  add(node: Uint8Array): void {
    const hash = keccak256(node);
    const key = bytesToKey(hash);
    if (this.nodes.has(key)) return;
    this.keep(key, node);
    void this.table?.put(nameOf(hash), node);
  }

  private keep(key: string, node: Uint8Array): void {
    if (this.nodes.has(key)) return;
    this.nodes.set(key, node);
    this.bytes += node.length;
    for (const [oldest, dropped] of this.nodes) {
      if (this.bytes <= this.maxBytes) break;
      this.nodes.delete(oldest);
      this.bytes -= dropped.length;
    }
  }
}

function nameOf(hash: Uint8Array): string {
  return `node ${bytesToHex(hash)}`;
}
