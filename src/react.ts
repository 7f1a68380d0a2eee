/**
 * Entry point `plumbline-l2/react`: hooks for React 18 and newer.
 *
 * @module plumbline-l2/react
 *
 * @example
 * const open = () => createNode({ chain: { kind: 'light', network: linea, endpoints } });
 * createRoot(element).render(<NodeProvider open={open}><Balance address={address} /></NodeProvider>);
 */
import {
  createContext,
  createElement,
  type ReactNode,
  useContext,
  useEffect,
  useReducer,
  useRef,
  useState,
} from 'react';
import type { TrustLevel } from './chain/block.js';
import type { PlumblineNode } from './hosts/provider/node-handle.js';
import type { Hex } from './primitives/hex.js';
import type { AnswerClass } from './rpc/answer-report.js';
import type { PreviewOptions, TransactionPreview } from './rpc/schema/transaction-preview.js';
import {
  estimateLineaFees,
  type LineaFees,
  type LineaFeesParameters,
  type PreviewTransactionParameters,
  previewActions,
} from './viem.js';

/** The state of a value that is being loaded. On the server, everything is `loading`. */
export type Loadable<Data> =
  | { readonly status: 'loading'; readonly data: undefined; readonly error: undefined }
  | { readonly status: 'error'; readonly data: undefined; readonly error: Error }
  | { readonly status: 'success'; readonly data: Data; readonly error: undefined };

/** An answer of the node. `idle`: an argument is still missing, so the hook has not asked. */
export type Asked<Data> = (
  | Loadable<Data>
  | { readonly status: 'idle'; readonly data: undefined; readonly error: undefined }
) & {
  /** Asks again. The old answer stays until the new one is there. */
  readonly refresh: () => void;
};

/** Where an answer comes from, as in the event `answer`. */
export interface Trust {
  readonly class: AnswerClass;
  /** The lowest trust level of the blocks behind the answer. Undefined if no blocks are behind it. */
  readonly level: TrustLevel | undefined;
}

/** A balance in wei, with its class and trust level. */
export interface TrustedBalance extends Trust {
  readonly wei: bigint;
}

const LOADING = { status: 'loading', data: undefined, error: undefined } as const;
const IDLE = { status: 'idle', data: undefined, error: undefined } as const;

const failed = (thrown: unknown) =>
  ({
    status: 'error',
    data: undefined,
    error: thrown instanceof Error ? thrown : new Error(String(thrown)),
  }) as const;
const succeeded = <Data>(data: Data) => ({ status: 'success', data, error: undefined }) as const;

const NodeContext = createContext<Loadable<PlumblineNode> | undefined>(undefined);

/** Properties of `NodeProvider`. */
export interface NodeProviderProps {
  /** Opens the node, once. A new function in a later render changes nothing. To open another node, give the provider another `key`. */
  readonly open: () => Promise<PlumblineNode>;
  readonly children?: ReactNode;
}

/**
 * Opens a node when it is mounted, and closes it when it is unmounted. Components below it get the node with `useNode`. It opens no
 * node on the server, and none for a tree that React only prepares (StrictMode, Suspense).
 *
 * @example
 * ```ts
 * import { createElement } from 'react';
 * import { renderToString } from 'react-dom/server';
 * import { createInlineNode } from 'plumbline-l2/inline';
 * import { NodeProvider, useNode } from 'plumbline-l2/react';
 *
 * const Status = () => useNode().status;
 * const page = createElement(NodeProvider, { open: () => createInlineNode() }, createElement(Status));
 * renderToString(page); // => 'loading'
 * ```
 */
export function NodeProvider({ open, children }: NodeProviderProps): ReactNode {
  const [state, setState] = useState<Loadable<PlumblineNode>>(LOADING);
  const opened = useRef<{ readonly node: Promise<PlumblineNode>; isUsed: boolean }>(undefined);
  // Once for each mount: `open` is not followed.
  useEffect(() => {
    opened.current ??= { node: new Promise((resolve) => resolve(open())), isUsed: true };
    const mine = opened.current;
    mine.isUsed = true;
    const show = (next: Loadable<PlumblineNode>) => {
      if (mine.isUsed && opened.current === mine) setState(next);
    };
    mine.node.then(
      (node) => show(succeeded(node)),
      (error: unknown) => show(failed(error)),
    );
    return () => {
      mine.isUsed = false;
      // StrictMode unmounts and mounts again in one task. The node stays open for that.
      queueMicrotask(() => {
        if (mine.isUsed) return;
        opened.current = undefined;
        setState(LOADING);
        mine.node.then(
          (node) => node.close(),
          () => {},
        );
      });
    };
  }, []);
  return createElement(NodeContext.Provider, { value: state }, children);
}

/**
 * The node of the nearest `NodeProvider`.
 *
 * @throws Error if there is no `NodeProvider` above
 *
 * @example
 * ```ts
 * import { createElement } from 'react';
 * import { renderToString } from 'react-dom/server';
 * import { useNode } from 'plumbline-l2/react';
 *
 * const Status = () => useNode().status;
 * let message = '';
 * try {
 *   renderToString(createElement(Status));
 * } catch (error) {
 *   message = String(error);
 * }
 * message; // => 'Error: useNode: there is no NodeProvider above this component'
 * ```
 */
export function useNode(): Loadable<PlumblineNode> {
  const state = useContext(NodeContext);
  if (state === undefined) throw new Error('useNode: there is no NodeProvider above this component');
  return state;
}

/** Bigints as text, so that two questions can be compared. */
const keyOf = (question: readonly unknown[]): string =>
  JSON.stringify(question, (_, value: unknown) => (typeof value === 'bigint' ? `${value}n` : value));

interface Found<Data> {
  readonly node: PlumblineNode;
  readonly key: string;
  readonly round: number;
  readonly outcome: Loadable<Data>;
}

/**
 * Asks the node, and again when the question changes. A request that nobody waits for any more is aborted.
 *
 * @param question - what `ask` depends on; undefined while it is not complete
 */
function useAnswer<Data>(
  question: readonly unknown[] | undefined,
  ask: (node: PlumblineNode, signal: AbortSignal) => Promise<Data>,
): Asked<Data> {
  const opening = useNode();
  const node = opening.data;
  const key = question && keyOf(question);
  const [round, refresh] = useReducer((count: number) => count + 1, 0);
  const [found, setFound] = useState<Found<Data>>();
  // `key` stands for all that `ask` depends on.
  useEffect(() => {
    if (node === undefined || key === undefined) return;
    const controller = new AbortController();
    const show = (outcome: Loadable<Data>) => {
      if (!controller.signal.aborted) setFound({ node, key, round, outcome });
    };
    ask(node, controller.signal).then(
      (data) => show(succeeded(data)),
      (error: unknown) => show(failed(error)),
    );
    return () => controller.abort();
  }, [node, key, round]);
  if (key === undefined) return { ...IDLE, refresh };
  if (node === undefined) return { ...(opening as Loadable<never>), refresh };
  const isOfThis = found !== undefined && found.node === node && found.key === key;
  return { ...(isOfThis ? found.outcome : LOADING), refresh };
}

/** Asks through the node, and keeps what the last answer rests on. */
function trusting(node: PlumblineNode, signal: AbortSignal) {
  const trust: { class: AnswerClass; level: TrustLevel | undefined } = { class: 'forwarded', level: undefined };
  const request: PlumblineNode['request'] = (args: object, options: object = {}) =>
    node.request(args as never, {
      ...options,
      signal,
      onAnswer: (report) => Object.assign(trust, { class: report.class, level: report.level }),
    });
  return { request, trust: (): Trust => trust };
}

/**
 * The balance of an account at the newest block, with its trust level.
 *
 * @param address - undefined as long as no account is known
 *
 * @example
 * ```ts
 * import { createElement } from 'react';
 * import { renderToString } from 'react-dom/server';
 * import { createInlineNode } from 'plumbline-l2/inline';
 * import { NodeProvider, useBalance } from 'plumbline-l2/react';
 *
 * const Balance = () => useBalance(undefined).status;
 * const page = createElement(NodeProvider, { open: () => createInlineNode() }, createElement(Balance));
 * renderToString(page); // => 'idle'
 * ```
 */
export function useBalance(address: Hex | undefined): Asked<TrustedBalance> {
  return useAnswer(address && [address], async (node, signal) => {
    const { request, trust } = trusting(node, signal);
    const balance = await request({ method: 'eth_getBalance', params: [address!, 'latest'] });
    return { wei: BigInt(balance), ...trust() };
  });
}

/**
 * What a transaction costs (`linea_estimateGas`), with the trust level of the state on which it was executed.
 *
 * @param transaction - with viem's names, amounts in wei. Undefined as long as it is not complete
 *
 * @example
 * ```ts
 * import { createElement } from 'react';
 * import { renderToString } from 'react-dom/server';
 * import { createInlineNode } from 'plumbline-l2/inline';
 * import { NodeProvider, useFee } from 'plumbline-l2/react';
 *
 * const to = '0x2400000000000000000000000000000000000000';
 * const Fee = () => useFee({ account: to, to, value: 1n }).status;
 * const page = createElement(NodeProvider, { open: () => createInlineNode() }, createElement(Fee));
 * renderToString(page); // => 'loading'
 * ```
 */
export function useFee(transaction: LineaFeesParameters | undefined): Asked<LineaFees & Trust> {
  return useAnswer(transaction && [transaction], async (node, signal) => {
    const { request, trust } = trusting(node, signal);
    const fees = await estimateLineaFees({ request }, transaction!);
    return { ...fees, ...trust() };
  });
}

/**
 * What transactions would do in the next block, in this order (`node.previewTransaction`).
 *
 * @param transactions - with viem's names, amounts in wei. Undefined as long as they are not complete
 *
 * @example
 * ```ts
 * import { createElement } from 'react';
 * import { renderToString } from 'react-dom/server';
 * import { createInlineNode } from 'plumbline-l2/inline';
 * import { NodeProvider, usePreview } from 'plumbline-l2/react';
 *
 * const to = '0x2400000000000000000000000000000000000000';
 * const Preview = () => usePreview({ account: to, to, value: 1n }).status;
 * const page = createElement(NodeProvider, { open: () => createInlineNode() }, createElement(Preview));
 * renderToString(page); // => 'loading'
 * ```
 */
export function usePreview(
  transactions: PreviewTransactionParameters | readonly PreviewTransactionParameters[] | undefined,
  options: PreviewOptions = {},
): Asked<TransactionPreview> {
  return useAnswer(transactions && [transactions, options], (node, signal) =>
    previewActions(node)({}).previewTransaction(transactions!, { ...options, signal }),
  );
}
