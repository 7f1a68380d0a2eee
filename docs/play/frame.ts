import { transform } from 'sucrase';
import { inspect } from './inspect.js';
import type { FromFrame, ToFrame } from './messages.js';
import { forgetEarlierRuns, standInFetch } from './stand-ins.js';

/** Runs one program of the page that this frame stands in. Its imports are found by the import map of the frame. */

const send = (message: FromFrame) => parent.postMessage(message, location.origin);

for (const [name, kind] of [
  ['log', 'log'],
  ['info', 'log'],
  ['debug', 'log'],
  ['warn', 'error'],
  ['error', 'error'],
] as const) {
  console[name] = (...values: unknown[]) => send({ kind, text: inspect(values) });
}

globalThis.fetch = standInFetch;

const textOf = (error: unknown) => {
  if (!(error instanceof Error)) return inspect([error]);
  const code = 'code' in error ? ` (${String(error.code)})` : '';
  return `${error.name}: ${error.message}${code}`;
};

addEventListener('unhandledrejection', ({ reason }) => send({ kind: 'error', text: textOf(reason) }));
addEventListener('error', ({ message }) => send({ kind: 'error', text: message }));

/** The address of a module made of text is no base for others. */
const withAddress = (code: string) => code.replaceAll('import.meta.url', 'document.baseURI');

async function run(code: string): Promise<void> {
  try {
    const { code: script } = transform(withAddress(code), {
      transforms: ['typescript', 'jsx'],
      jsxRuntime: 'automatic',
      production: true,
      disableESTransforms: true,
    });
    const url = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
    await import(/* @vite-ignore */ url);
    send({ kind: 'done' });
  } catch (error) {
    send({ kind: 'failed', text: textOf(error) });
  }
}

addEventListener(
  'message',
  ({ source, origin, data }: MessageEvent<ToFrame>) => {
    if (source === parent && origin === location.origin) void run(data.code);
  },
  { once: true },
);
await forgetEarlierRuns();
send({ kind: 'ready' });
