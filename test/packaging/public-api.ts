import { createRequire } from 'node:module';
import { relative } from 'node:path';
import type ts from '../../docs/api/node_modules/typescript/lib/typescript.js';
import { root } from './project.js';

// TypeScript 7 has no interface for programs; 6 is here for the reference of the API.
const compiler = createRequire(`${root}/docs/api/package.json`)('typescript') as typeof ts;

/** What tsc made, from which the types that ship are put together in fewer files. */
const TYPES = `${root}/build/types/`;

/** It repeats the table of methods, line by line, which docs/methods.md has. */
const TABLE = '/method-rows.generated.d.ts';

/**
 * All that programs can import, as text: names by entry point, and each declaration once, without comments, in the order of files
 * and names. Types that are reached from those without being exported are among them.
 *
 * @param types - declaration file by name of the entry point
 */
export function publicApi(types: Readonly<Record<string, string>>): string {
  const program = compiler.createProgram(Object.values(types), {
    module: compiler.ModuleKind.NodeNext,
    moduleResolution: compiler.ModuleResolutionKind.NodeNext,
    target: compiler.ScriptTarget.ES2022,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts', 'lib.dom.iterable.d.ts'],
    types: ['node'],
    strict: true,
  });
  const checker = program.getTypeChecker();
  const printer = compiler.createPrinter({ removeComments: true });
  const printed = new Map<string, string>();

  const resolved = (symbol: ts.Symbol): ts.Symbol =>
    symbol.flags & compiler.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  const isOurs = ({ fileName }: ts.SourceFile): boolean => fileName.startsWith(TYPES) && !fileName.endsWith(TABLE);

  function visit(symbol: ts.Symbol): void {
    for (const declaration of resolved(symbol).declarations ?? []) {
      const file = declaration.getSourceFile();
      const whole = compiler.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
      if (!isOurs(file) || whole.parent !== file) continue;
      const key = `${relative(TYPES, file.fileName)} ${symbolName(symbol)} ${whole.pos}`;
      if (printed.has(key)) continue;
      printed.set(key, printer.printNode(compiler.EmitHint.Unspecified, whole, file));
      const follow = (node: ts.Node): void => {
        const named = compiler.isIdentifier(node) ? checker.getSymbolAtLocation(node) : undefined;
        if (named !== undefined) visit(named);
        compiler.forEachChild(node, follow);
      };
      follow(whole);
    }
  }
  const symbolName = (symbol: ts.Symbol): string => resolved(symbol).name;

  const entries = Object.entries(types).map(([name, path]) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(path)!);
    const exported = module === undefined ? [] : checker.getExportsOfModule(module);
    for (const symbol of exported) visit(symbol);
    const names = exported.map((symbol) => `  ${symbol.name}${isValue(resolved(symbol)) ? '' : ' (type)'}`).sort();
    return [name, ...names].join('\n');
  });
  const declarations = [...printed].sort(([a], [b]) => (a < b ? -1 : 1));
  const byFile = grouped(declarations);
  const files = [...byFile].map(([file, all]) => [`// ${file}`, ...all].join('\n'));
  return `${[...entries, ...files].join('\n\n')}\n`;
}

const isValue = (symbol: ts.Symbol): boolean => (symbol.flags & compiler.SymbolFlags.Value) !== 0;

/** Texts by the file that their keys begin with. */
function grouped(declarations: readonly (readonly [string, string])[]): Map<string, string[]> {
  const files = new Map<string, string[]>();
  for (const [key, text] of declarations) {
    const file = key.slice(0, key.indexOf(' '));
    files.set(file, [...(files.get(file) ?? []), text]);
  }
  return files;
}
