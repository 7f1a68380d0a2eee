import { SET_UPS } from '../../../test/docs/set-ups.js';
import { documents, programs, type Snippet, snippetsOf } from '../../../test/docs/snippets.js';

/** A snippet as the page runs it. */
export interface Runnable {
  /** Page and number within it, such as `guides/wallet-2`. */
  readonly id: string;
  /** Heading that the snippet stands under. */
  readonly heading: string;
  /** TypeScript: what the snippet may take for granted, the blocks it continues, and itself. */
  readonly code: string;
  /** Why it does not run as it is. */
  readonly refused?: string;
  /** The example of a JSON-RPC method: its page leads to it, and the list of snippets does not have it. */
  readonly isMethod?: true;
}

/** The kernel as a file, in place of the one that a program in Node reads. */
const IN_A_PAGE: Readonly<Record<string, string>> = {
  'wasm file': `const wasm = new Uint8Array(await (await fetch('./hash.simd.wasm')).arrayBuffer());`,
};

/** Service workers make their requests themselves, so no stand-in answers them. */
const ASKS_FROM_A_SERVICE_WORKER = /registerRpcProxy\([^)]*endpoints:/;
const REFUSAL = 'A service worker asks endpoints itself. Write the addresses of yours into it in the playground.';

const withSnippets = new Set(documents());

/** Snippets of a document by the line of their fence. */
export function runnablesOf(file: string, page: string, text: string): ReadonlyMap<number, Runnable> {
  if (!withSnippets.has(file)) return new Map();
  const snippets = snippetsOf(file).filter(({ language, how }) => language !== 'sh' && how !== 'not');
  const lines = text.split('\n');
  return new Map(
    snippets.map((snippet, i): [number, Runnable] => {
      // The program that ends with this block.
      const program = programs(snippets.slice(0, i + 1)).at(-1)!;
      const heading = lines.slice(0, snippet.line).findLast((line) => /^#{1,4} /.test(line)) ?? file;
      return [
        snippet.line,
        {
          id: `${page.replace(/\.md$/, '')}-${i + 1}`,
          heading: heading.replace(/^#+ /, '').replaceAll('`', ''),
          code: codeOf(program),
          ...(ASKS_FROM_A_SERVICE_WORKER.test(program.text) && { refused: REFUSAL }),
        },
      ];
    }),
  );
}

function codeOf({ text, with: names }: Snippet): string {
  const given = names.map((name) => IN_A_PAGE[name] ?? SET_UPS[name]!);
  if (given.length === 0) return text;
  return `// Given:\n${given.join('\n')}\n\n// The snippet:\n${text}`;
}

/**
 * Puts the component that runs it below each snippet of a document. The snippet is not in it: what is in a component is script
 * that a reader loads and waits for.
 */
export function withRunButtons(text: string, runnables: ReadonlyMap<number, Runnable>): string {
  let open: Runnable | undefined;
  return text
    .split('\n')
    .flatMap((line, i) => {
      open = runnables.get(i + 1) ?? open;
      if (open === undefined || line !== '```') return [line];
      const refused = open.refused === undefined ? '' : ` refused="${open.refused}"`;
      const component = `<RunnableCode id="${open.id}"${refused} />`;
      open = undefined;
      return [line, '', component];
    })
    .join('\n');
}
