import { fileURLToPath } from 'node:url';
import { createTwoslasher, type NodeHover } from 'twoslash/core';
import * as ts from 'typescript';
import type { MarkdownOptions } from 'vitepress';
import { root } from '../stage/places.js';
import type { Runnable } from '../stage/runnable.js';

type Transformer = NonNullable<MarkdownOptions['codeTransformers']>[number];

/** What says nothing to a reader: a type that is not known here, a whole module, and what every page has. */
const SAYS_NOTHING =
  /(?:^|: )any$|\bConsole\b|^(?:var|namespace) console\b|^(?:\(alias\) )?(?:module|namespace) |^import /;

/** Lines of a type that are shown; the API reference has the rest. */
const MOST_LINES = 12;

const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2022,
  lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  jsx: ts.JsxEmit.ReactJSX,
  strict: true,
  types: ['node'],
};

/**
 * Writes into the names of a snippet what they are: its type, and the first paragraph of its comment. The theme shows it.
 *
 * @param runnables - programs that end with a snippet; names of what stands before it are known then
 */
export function typesOnHover(runnables: readonly Runnable[]): Transformer {
  const typesOf = createTwoslasher({
    tsModule: ts,
    tsLibDirectory: fileURLToPath(new URL('.', import.meta.resolve('typescript'))),
    vfsRoot: root,
    compilerOptions: OPTIONS,
    handbookOptions: { noErrors: true },
  });
  return {
    name: 'types-on-hover',
    preprocess(code, options) {
      if (options.lang !== 'ts' && options.lang !== 'tsx') return;
      const program =
        runnables.find((runnable) => runnable.code.trimEnd().endsWith(code.trimEnd()))?.code.trimEnd() ?? code;
      const before = program.length - code.trimEnd().length;
      options.decorations = typesOf(program, options.lang)
        .hovers.filter(({ start, text }) => start >= before && !SAYS_NOTHING.test(text))
        .map((hover) => ({
          start: hover.start - before,
          end: hover.start - before + hover.length,
          alwaysWrap: true,
          properties: { class: 'typed', 'data-type': typeIn(hover), ...commentOf(hover) },
        }));
    },
  };
}

function typeIn({ text }: NodeHover): string {
  const lines = text
    .replace(/^\(alias\) /, '')
    .replace(/\nimport .*$/, '')
    .split('\n');
  return lines.length <= MOST_LINES ? lines.join('\n') : [...lines.slice(0, MOST_LINES), '…'].join('\n');
}

function commentOf({ docs }: NodeHover): { 'data-comment'?: string } {
  const [first = ''] = (docs ?? '').split('\n\n', 1);
  return first === '' ? {} : { 'data-comment': first.replaceAll('\n', ' ').replaceAll('`', '') };
}
