import { createElement, type ReactNode, StrictMode, Suspense, use } from 'react';
import type { PlumblineNode } from '../../dist/index.js';
import { NodeProvider, useBalance, useFee, useNode, usePreview } from '../../dist/react.js';

type Address = `0x${string}`;

/** What the hooks give, as text: what is asked, its status, and the answer. */
export function Account({ from, to }: { from: Address | undefined; to: Address }): ReactNode {
  const node = useNode();
  const balance = useBalance(from);
  const call = from && { account: from, to, value: 5n };
  const fee = useFee(call);
  const preview = usePreview(call);
  const shown = [
    ['node', node.data?.info.chainId ?? node.error?.message ?? node.status],
    ['balance', balance.data ? `${balance.data.wei} ${balance.data.class} ${balance.data.level}` : balance.status],
    ['fee', fee.data ? `${fee.data.gasLimit} ${fee.data.class} ${fee.data.level}` : (fee.error?.message ?? fee.status)],
    ['preview', preview.data?.calls[0]?.status ?? preview.error?.message ?? preview.status],
  ];
  return createElement(
    'ul',
    {},
    ...shown.map(([name, text]) => createElement('li', { key: name, id: name as string }, String(text))),
    createElement('button', { type: 'button', onClick: balance.refresh }, 'refresh'),
  );
}

/** As `lazy` components are: nothing below is shown until the promise resolves. */
function Late({ until }: { until: Promise<string> }): ReactNode {
  return createElement('p', {}, use(until));
}

export interface AppProps {
  readonly open: () => Promise<PlumblineNode>;
  readonly from: Address | undefined;
  readonly to: Address;
  readonly until?: Promise<string>;
}

export function App({ open, from, to, until }: AppProps): ReactNode {
  const account = createElement(Account, { from, to });
  const late = until && createElement(Late, { until });
  return createElement(
    StrictMode,
    {},
    createElement(NodeProvider, { open }, createElement(Suspense, { fallback: 'waits' }, account, late)),
  );
}
