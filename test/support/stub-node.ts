import { keccak_256 } from '@noble/hashes/sha3.js';
import { PlumblineError } from '../../src/errors.js';
import { InlineTransport } from '../../src/hosts/opening/inline-transport.js';
import type { InlineExtras, NodeInfo, NodeOptions } from '../../src/hosts/options/options.js';
import type { NodeSession, NodeTransport } from '../../src/hosts/provider/transport.js';
import { bytesToHex, hexToBytes } from '../../src/primitives/hex.js';
import { toQuantity } from '../../src/primitives/quantity.js';
import { createDispatcher } from '../../src/rpc/handle.js';
import { createMethodTable, type Method } from '../../src/rpc/method.js';
import type { SharingReport } from '../../src/rpc/schema/answers.js';
import { signalOf } from '../../src/scheduling/deadline.js';
import { someMethod } from './some-method.js';

const INFO: NodeInfo = {
  chainId: 1,
  networkName: 'stub',
  hashScheme: 'poseidon2',
  rollupAddress: '0x00',
  kernelBuild: 'scalar',
  dictionary: { name: 'general', sha256: '0x', networkOwn: false },
};

/** Places at which a request waits, if set. */
export interface Gates {
  beforeCommit?: Promise<void> | undefined;
  afterCommit?: Promise<void> | undefined;
  read?: Promise<void> | undefined;
  /** Transactions are refused for another reason. */
  refuses?: boolean;
}

/** A gate that is open after `open`. */
export function gate(): { closed: Promise<void>; open: () => void; reached: Promise<void>; arrive: () => void } {
  let open = () => {};
  let arrive = () => {};
  const closed = new Promise<void>((resolve) => {
    open = resolve;
  });
  const reached = new Promise<void>((resolve) => {
    arrive = resolve;
  });
  return { closed, open, reached, arrive };
}

/** Records the extras each writer was opened with, and its calls. */
export interface StubLog {
  readonly opened: InlineExtras[];
  readonly closed: number[];
  readonly calls: string[];
  readonly aborted: string[];
  /** Codes of commits that the store refused. */
  readonly refused: unknown[];
  /** Open subscriptions. */
  readonly heads: Set<(result: unknown) => void>;
}

export function stubLog(): StubLog {
  return { opened: [], closed: [], calls: [], aborted: [], refused: [], heads: new Set() };
}

/** A chain that stores only transaction hashes: one commit each, refused the second time. It opens quickly. */
export function stubNode(log: StubLog, gates: Gates = {}) {
  return async (_options: NodeOptions, extras: InlineExtras): Promise<NodeTransport> => {
    const number = log.opened.push(extras);
    const store = extras.store!;
    const { heads } = log;
    let last: Promise<unknown> = Promise.resolve();
    const serially = <T>(work: () => Promise<T>): Promise<T> => {
      const result = last.then(work, work);
      last = result.catch(() => {});
      return result;
    };
    const send = async (raw: string) => {
      const hash = bytesToHex(keccak_256(hexToBytes(raw)));
      if ((await store.get('blocks', hash)) !== undefined) {
        throw new PlumblineError('TRANSACTION_REJECTED', 'known', { rule: 'known', reason: 'known' });
      }
      if (gates.refuses) {
        throw new PlumblineError('TRANSACTION_REJECTED', 'poor', { rule: 'funds', reason: '' });
      }
      await gates.beforeCommit;
      const height = (await store.keys('blocks')).length + 1;
      const puts = [{ table: 'blocks', key: hash, value: Uint8Array.of(height) }] as const;
      await store.commit({ puts }).catch((error: { code: unknown }) => {
        log.refused.push(error.code);
        throw error;
      });
      for (const tell of heads) tell({ number: toQuantity(height) });
      await gates.afterCommit;
      return hash;
    };
    const method = (name: string, handle: Method<undefined>['handle']) =>
      someMethod<undefined>(name, (context, params, call) => {
        log.calls.push(name);
        call.signal?.addEventListener('abort', () => log.aborted.push(name));
        return handle(context, params, call);
      });
    const table = createMethodTable<undefined>([
      method('eth_chainId', async () => {
        await gates.read;
        return '0x1';
      }),
      method('eth_blockNumber', async () => toQuantity((await store.keys('blocks')).length)),
      method('eth_sendRawTransaction', (_, [raw]) => serially(() => send(raw as string))),
      method('eth_sendTransaction', (_, [raw]) => serially(() => send(raw as string))),
      method('eth_getTransactionByHash', async (_, [hash]) =>
        (await store.get('blocks', hash as string)) === undefined ? null : { hash },
      ),
      method('eth_subscribe', (_, __, { subscriber }) =>
        subscriber!.subscribe((emit) => {
          heads.add(emit);
          return () => heads.delete(emit);
        }),
      ),
      method('eth_unsubscribe', (_, [id], { subscriber }) => {
        subscriber!.unsubscribe(id as string);
        return true;
      }),
    ]);
    const dispatch = createDispatcher(table, undefined);
    const chain = {
      close: async () => {
        await last;
        log.closed.push(number);
        await store.close();
      },
    };
    return new InlineTransport(chain, { l2: dispatch, l1: dispatch, inspect: dispatch }, INFO, undefined);
  };
}

/** The answer to one request. */
export async function ask<Answer = unknown>(
  node: Pick<NodeTransport, 'dispatch'>,
  method: string,
  params: unknown[] = [],
  signal?: AbortSignal,
): Promise<Answer> {
  const { body } = await node.dispatch('l2', { jsonrpc: '2.0', id: 7, method, params }, signal);
  const answer = body as { result?: Answer; error?: { code: number; message: string } };
  if (answer.error !== undefined) throw Object.assign(new Error(answer.error.message), { code: answer.error.code });
  return answer.result as Answer;
}

/** As `ask`, in a session. */
export function askIn<Answer = unknown>(session: NodeSession, method: string, params: unknown[] = []): Promise<Answer> {
  return ask({ dispatch: (_, payload, signal) => session.dispatch(payload, signalOf(signal)) }, method, params);
}

export async function sharingOf(node: NodeTransport): Promise<SharingReport> {
  const { body } = await node.dispatch('inspect', { jsonrpc: '2.0', id: 1, method: 'sharing' });
  return (body as { result: SharingReport }).result;
}
