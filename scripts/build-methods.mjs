/**
 * Derives from the definitions of JSON-RPC methods (`defineMethod` and `devnetMethods` in src/rpc/methods) what must be known without their
 * code: the rows, the tables that load them, and the types of `request`.
 */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { parseSync, Visitor } from 'rolldown/utils';
import { root } from './lib/run.mjs';

const rpc = `${root}/src/rpc`;
const HEAD = '// Made by scripts/build-methods.mjs from src/rpc/methods.\n';

/** Files that come with every node: the first requests of a page ask them. The others are loaded when one of their methods is asked. */
const WITH_A_NODE = ['calls', 'linea_estimateGas', 'state-reads'];
/** Files that come with a devnet: what follows such a request at once, such as a block, must not come before it. */
const WITH_A_DEVNET = [
  'devnet-accounts',
  'devnet-mining',
  'devnet-pool',
  'eth_sendRawTransaction',
  'eth_sendTransaction',
  'eth_subscribe',
];

/** The definitions of one file. @throws for one that cannot be read off the text */
async function definitionsOf(file) {
  const path = `${rpc}/methods/${file}.ts`;
  const text = await readFile(path, 'utf8');
  const { program, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path}: ${errors[0].message}`);
  const textOf = ({ start, end }) => text.slice(start, end);
  const imports = new Map();
  for (const { type, source, specifiers } of program.body)
    if (type === 'ImportDeclaration') for (const { local } of specifiers) imports.set(local.name, source.value);
  const found = [];
  for (const statement of program.body) {
    if (statement.type !== 'ExportNamedDeclaration' || statement.declaration?.type !== 'VariableDeclaration') continue;
    for (const { id, init } of statement.declaration.declarations) {
      const calls = [];
      const visitor = new Visitor({
        CallExpression(call) {
          if (['defineMethod', 'devnetMethods'].includes(call.callee.name)) calls.push(call);
        },
      });
      visitor.visit({ ...program, body: [{ type: 'ExpressionStatement', expression: init }] });
      for (const {
        typeArguments,
        arguments: [first, row],
      } of calls) {
        const names = first.type === 'ArrayExpression' ? first.elements.map(({ value }) => value) : [first.value];
        if (typeArguments?.params.length !== 2 || names.some((name) => typeof name !== 'string'))
          throw new Error(`${path}: a method needs its name as text, and the types of its parameters and its result`);
        const [params, result] = typeArguments.params.map(textOf);
        for (const name of names) found.push({ name, file, imports, from: id.name, row: textOf(row), params, result });
      }
    }
  }
  return found;
}

/** Import lines for all names of a kind of text that the file of the method imports. */
function importsFor(definitions, textOf, kind) {
  const names = new Map();
  for (const definition of definitions) {
    for (const [name] of textOf(definition).matchAll(/\b[A-Z]\w*\b/g)) {
      const source = definition.imports.get(name);
      if (source === undefined) continue;
      if (!source.startsWith('../'))
        throw new Error(`${definition.file}.ts: ${name} must come from outside of methods/`);
      names.set(source, (names.get(source) ?? new Set()).add(name));
    }
  }
  const sources = [...names].sort(([a], [b]) => (a < b ? -1 : 1));
  return sources.map(([source, all]) => `${kind} { ${[...all].sort().join(', ')} } from '${source}';\n`).join('');
}

const isDevnetOnly = ({ row }) => /^(NEEDS_KEYS|SENDS_WITH_KEYS|\w+_DEVNET)$/.test(row);

/** A name as the key of an object. */
const keyOf = (name) => (/^\w+$/.test(name) ? name : `'${name}'`);

function groupsOf(list, keyOf) {
  const groups = new Map();
  for (const one of list) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return groups;
}

/** The methods of each file in a list: their code for files that come at once, their names and an `import()` for the others. */
function table(definitions, atOnce) {
  const imports = [`import { laterMethods, type RpcContext } from './context.js';\n`];
  const entries = [];
  for (const [file, own] of groupsOf(definitions, ({ file }) => file)) {
    if (atOnce.includes(file)) {
      const exported = groupsOf(own, ({ from }) => from);
      imports.push(`import { ${[...exported.keys()].sort().join(', ')} } from './${file}.js';\n`);
      for (const [from, [{ name }]] of exported) entries.push(name === from ? `  ${name},\n` : `  ...${from},\n`);
    } else {
      const names = own.map(({ name }) => `'${name}'`).join(', ');
      entries.push(`  ...laterMethods([${names}], () => import('./${file}.js')),\n`);
    }
  }
  imports.push(`import type { Method } from '../method.js';\n`);
  return { imports: imports.join(''), entries: entries.join('') };
}

export async function buildMethods() {
  const files = (await readdir(`${rpc}/methods`))
    .filter((name) => !name.endsWith('.generated.ts'))
    .sort()
    .map((name) => name.replace(/\.ts$/, ''));
  const gone = [...WITH_A_NODE, ...WITH_A_DEVNET].find((file) => !files.includes(file));
  if (gone !== undefined) throw new Error(`there is no src/rpc/methods/${gone}.ts, which this script names`);
  const all = (await Promise.all(files.map(definitionsOf))).flat();
  all.sort((a, b) => (a.name < b.name ? -1 : 1));
  const twice = all.find(({ name }, i) => name === all[i - 1]?.name);
  if (twice !== undefined) throw new Error(`${twice.name} is defined twice`);
  const common = all.filter((one) => !isDevnetOnly(one));
  const ofDevnets = all.filter(isDevnetOnly);

  const write = (path, ...parts) => writeFile(`${rpc}/${path}`, `${HEAD}${parts.join('')}`);
  const rowImports = importsFor(all, ({ row }) => row, 'import').replaceAll("'../", "'./");
  const rows = all.map(({ name, row }) => `  ${keyOf(name)}: ${row.replace(/\s+/g, ' ')},\n`).join('');
  await write(
    'method-rows.generated.ts',
    rowImports.replace('import { ', 'import { type MethodInfo, '),
    `\nexport const METHOD_ROWS = {\n${rows}} as const satisfies Readonly<Record<string, MethodInfo>>;\n`,
  );

  const writeTable = (path, name, own, atOnce) => {
    const { imports, entries } = table(own, atOnce);
    return write(path, imports, `\nexport const ${name}: readonly Method<RpcContext>[] = [\n${entries}];\n`);
  };
  const withDevnets = common.filter(({ file }) => WITH_A_DEVNET.includes(file));
  await writeTable('methods/chain-methods.generated.ts', 'METHODS', common, WITH_A_NODE);
  await writeTable(
    'methods/devnet-methods.generated.ts',
    'DEVNET_METHODS',
    [...ofDevnets, ...withDevnets],
    WITH_A_DEVNET,
  );

  const schema = (name, about, own) => {
    const members = own.map(
      ({ name: method, params, result }) => `  ${keyOf(method)}: { params: ${params}; result: ${result} };\n`,
    );
    return `\n/** Parameters and results of ${about}. What has several forms is \`unknown\`. */\nexport interface ${name} {\n${members.join('')}}\n`;
  };
  const needsKeys = ({ row }) => /KEYS$/.test(row);
  await write(
    'schema/methods.generated.ts',
    importsFor(all, ({ params, result }) => `${params} ${result}`, 'import type').replaceAll('../schema/', './'),
    schema('ChainSchema', 'the methods of every kind of chain', common),
    schema(
      'DevnetSchema',
      'the methods that steer a devnet',
      ofDevnets.filter((one) => !needsKeys(one)),
    ),
    schema('WalletSchema', 'the methods of wallets', ofDevnets.filter(needsKeys)),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildMethods();
