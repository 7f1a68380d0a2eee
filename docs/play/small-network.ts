import { createInlineNode, type PlumblineNode } from 'plumbline-l2/inline';
import { MemoryStore } from '../../src/store/memory-store.js';
import { devnetLogs } from '../../test/support/mock-shomei-devnet.js';

/** A devnet, with its trie logs as a Besu node with the Shomei plugin gives them. */
export interface SmallNetwork {
  readonly node: PlumblineNode;
  answerTrieLogs(request: Request): Promise<Response>;
}

interface Call {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

export async function openSmallNetwork(): Promise<SmallNetwork> {
  const store = new MemoryStore();
  const node = await createInlineNode({ store });
  const logs = devnetLogs(store, node.info.chainId);
  const answer = async ({ id, method, params }: Call) => ({ jsonrpc: '2.0', id, result: await logs(method, params) });
  return {
    node,
    async answerTrieLogs(request) {
      const asked = (await request.json()) as Call | Call[];
      return Response.json(Array.isArray(asked) ? await Promise.all(asked.map(answer)) : await answer(asked));
    },
  };
}
