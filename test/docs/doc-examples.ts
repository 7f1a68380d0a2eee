import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { root } from '../packaging/project.js';
import type { Snippet } from './snippets.js';

/** The file of each entry point whose functions have examples. */
export const ENTRY_FILES = {
  'plumbline-l2': 'src/index.ts',
  'plumbline-l2/verify': 'src/verify.ts',
  'plumbline-l2/fees': 'src/fees.ts',
  'plumbline-l2/state': 'src/state.ts',
  'plumbline-l2/hash': 'src/hash.ts',
  'plumbline-l2/viem': 'src/viem.ts',
  'plumbline-l2/react': 'src/react.ts',
  'plumbline-l2/wagmi': 'src/wagmi.ts',
  'plumbline-l2/vite': 'src/vite.ts',
  'plumbline-l2/hardhat': 'src/hardhat.ts',
} as const;

/** A function that an entry point exports, and the example of its doc comment. */
export interface DocExample {
  readonly name: string;
  /** Where it is declared. */
  readonly file: string;
  /** Undefined: it has none. */
  readonly snippet: Snippet | undefined;
}

const EXPORTS = /export (type )?\{([^}]*)\} from '(\.[^']+)\.js'/g;
const DECLARED = /(?:\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n)?export (?:async )?function (\w+)/g;
const EXAMPLE = /@example\n \* ```ts\n([\s\S]*?)\n \* ```/;
/** What needs a page: workers, a service worker, IndexedDB. */
const OF_PAGES = /\b(createNode|registerRpcProxy|announceProvider|openStatePages)\(/;

/** The public functions of the entry points, each once. */
export function docExamples(): DocExample[] {
  const found = new Map<string, DocExample>();
  for (const entry of Object.values(ENTRY_FILES)) {
    const own = declaredIn(entry);
    const exported = [...readFileSync(join(root, entry), 'utf8').matchAll(EXPORTS)].flatMap(
      ([, isType, names, from]) => {
        const functions =
          isType === undefined ? declaredIn(`${join(dirname(entry), from!).replaceAll('\\', '/')}.ts`) : [];
        const values = names!.split(',').map((name) => name.trim());
        return functions.filter(({ name }) => values.includes(name));
      },
    );
    for (const one of [...own, ...exported]) found.set(one.name, one);
  }
  return [...found.values()];
}

/** The functions that a file exports itself, or another file for it by name. */
function declaredIn(file: string): DocExample[] {
  const text = readFileSync(join(root, file), 'utf8');
  const passed = [...text.matchAll(EXPORTS)].filter(
    ([, isType]) => isType === undefined && !file.match(/^src\/\w+\.ts$/),
  );
  return [
    ...[...text.matchAll(DECLARED)].map(({ 0: whole, 1: comment = '', 2: name = '', index }) => {
      const code = EXAMPLE.exec(comment)?.[1]?.replace(/^ \* ?/gm, '');
      const line = text.slice(0, index + whole.indexOf('@example')).split('\n').length;
      const how = code !== undefined && OF_PAGES.test(code) ? 'page' : 'node';
      const snippet =
        code === undefined ? undefined : ({ file, line, language: 'ts', text: code, how, with: [] } as const);
      return { name, file, snippet };
    }),
    ...passed.flatMap(([, , , from]) => declaredIn(`${join(dirname(file), from!).replaceAll('\\', '/')}.ts`)),
  ];
}

/** A statement whose value a comment gives. */
const CLAIM = /^(\s*)(.*?);? \/\/ => (.*)$/gm;

/** The program of an example: what its comments say after an arrow is passed to `expect`. */
export function checkingProgram(text: string): string {
  return text.replace(
    CLAIM,
    (_, indent: string, expression: string, value: string) =>
      `${indent}claimed(${JSON.stringify(expression)}, ${expression}, ${value});`,
  );
}
