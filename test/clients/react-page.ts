import { createElement } from 'react';
import { createRoot, hydrateRoot } from 'react-dom/client';
import { createNode, type PlumblineNode } from '../../dist/index.js';
import { App, type AppProps } from './react-app.js';

/** What was opened, closed and asked, and what React complained of. */
const seen = { opened: 0, closed: 0, aborted: [] as string[], asked: [] as string[], errors: [] as string[] };

/** The node of a devnet, counted. `hold`: requests for the balance of this account are not answered. */
async function open(hold?: string): Promise<PlumblineNode> {
  seen.opened++;
  const node = await createNode();
  const request = (args: { method: string; params: unknown[] }, options: { signal: AbortSignal }) => {
    seen.asked.push(args.method);
    options.signal.addEventListener('abort', () => seen.aborted.push(args.method));
    return args.params[0] === hold ? new Promise(() => {}) : node.request(args as never, options);
  };
  const close = () => {
    seen.closed++;
    return node.close();
  };
  return Object.create(node, { request: { value: request }, close: { value: close } });
}

const container = document.body.appendChild(document.createElement('div'));
let root: ReturnType<typeof createRoot>;
let resolve: (text: string) => void;
const until = new Promise<string>((done) => {
  resolve = done;
});

Object.assign(globalThis, {
  seen,
  render(props: Omit<AppProps, 'open'>, { hold, isLate }: { hold?: string; isLate?: boolean } = {}) {
    root ??= createRoot(container);
    root.render(createElement(App, { ...props, ...(isLate && { until }), open: () => open(hold) }));
  },
  arrive: () => resolve('late'),
  fails(props: Omit<AppProps, 'open'>) {
    root = createRoot(container);
    root.render(createElement(App, { ...props, open: () => Promise.reject(new Error('no node today')) }));
  },
  unmount: () => root.unmount(),
  hydrate(html: string, props: Omit<AppProps, 'open'>) {
    container.innerHTML = html;
    const onRecoverableError = (error: unknown) => seen.errors.push(String(error));
    root = hydrateRoot(container, createElement(App, { ...props, open }), { onRecoverableError });
  },
});
