import type { BatchDBOp, DB } from '@ethereumjs/util';

type Node = string | Uint8Array;

/** Trie nodes on top of another database, which is not changed. Nodes are found by hash in both. */
export class ScratchDB implements DB<string, Node> {
  /** @param base - read for nodes that are not held here */
  constructor(
    private readonly base: Pick<DB<string, Node>, 'get'>,
    private readonly nodes = new Map<string, Node>(),
  ) {}

  async get(key: string, options?: Parameters<DB<string, Node>['get']>[1]): Promise<Node | undefined> {
    return this.nodes.get(key) ?? this.base.get(key, options);
  }

  async put(key: string, node: Node): Promise<void> {
    this.nodes.set(key, node);
  }

  async del(key: string): Promise<void> {
    this.nodes.delete(key);
  }

  async batch(operations: BatchDBOp<string, Node>[]): Promise<void> {
    for (const operation of operations) {
      if (operation.type === 'put') await this.put(operation.key, operation.value);
      else await this.del(operation.key);
    }
  }

  shallowCopy(): ScratchDB {
    return new ScratchDB(this.base, this.nodes);
  }

  async open(): Promise<void> {}
}
