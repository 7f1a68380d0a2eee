import { readFileSync } from 'node:fs';
import { describedMethods } from '../../../src/rpc/methods/discover.js';
import { root } from './places.js';
import type { Runnable } from './runnable.js';

/** JSON Schema, as far as scripts/build-openrpc.mjs writes it. */
interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly pattern?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly items?: Schema | readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema;
  readonly not?: object;
}

interface Method {
  readonly name: string;
  readonly description?: string;
  readonly params: readonly { readonly name: string; readonly required: boolean; readonly schema: Schema }[];
  readonly result: { readonly schema: Schema };
  readonly 'x-answers': Readonly<Record<'devnet' | 'light' | 'replica', string>>;
}

interface Described {
  readonly methods: readonly Method[];
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
}

/** A request to a devnet and what it answered; test/rpc/method-examples.long.test.ts keeps them true. */
type Examples = Readonly<Record<string, { readonly params: readonly unknown[]; readonly answer: string }>>;

const { methods, components } = (await describedMethods()) as Described;
const read = (file: string) => JSON.parse(readFileSync(`${root}/${file}`, 'utf8')) as unknown;
const examples = read('test/fixtures/json-rpc/method-examples.json') as Examples;

/** The OpenRPC document of all kinds of node: `rpc.discover` of a node has the methods of its kind. */
export function openRpcOfAll(): object {
  const { version } = read('package.json') as { version: string };
  return { openrpc: '1.3.2', info: { title: 'plumbline', version }, methods, components };
}

const fileOf = (name: string): string => `methods/${name.replace('.', '_')}`;
const idOf = (name: string): string => `${fileOf(name)}-1`;
const nameOf = ($ref: string): string => $ref.slice('#/components/schemas/'.length);

/** A schema in a few words, as they stand in a cell of a table. */
function words(schema: Schema): string {
  const { $ref, type, pattern, anyOf, allOf, items, properties, additionalProperties } = schema;
  if ($ref !== undefined) return `[${nameOf($ref)}](#${nameOf($ref).toLowerCase()})`;
  if (allOf !== undefined) return words(allOf[0]!);
  if (anyOf !== undefined) return anyOf.map(words).join(' or ');
  if (schema.enum !== undefined) return schema.enum.map((value) => `\`${JSON.stringify(value)}\``).join(', ');
  if (schema.not !== undefined) return 'nothing: it is always an error';
  if (type === 'array') {
    const kinds = (Array.isArray(items) ? (items as Schema[]) : [items as Schema]).map(words);
    return `list of ${[...new Set(kinds)].join(', ')}`;
  }
  if (properties !== undefined)
    return `object: ${Object.keys(properties)
      .map((name) => `\`${name}\``)
      .join(', ')}`;
  if (additionalProperties !== undefined) return `object, by key: ${words(additionalProperties)}`;
  return type === undefined ? 'any value' : pattern === undefined ? type : 'hex';
}

/** Components that schemas lead to, in the order in which they are named. */
function named(schemas: readonly Schema[], found = new Map<string, Schema>()): Map<string, Schema> {
  for (const schema of schemas) {
    if (schema.$ref !== undefined && !found.has(nameOf(schema.$ref))) {
      const component = components.schemas[nameOf(schema.$ref)]!;
      named([component], found.set(nameOf(schema.$ref), component));
    }
    const { anyOf = [], allOf = [], items = [], properties = {}, additionalProperties } = schema;
    const inner = [...anyOf, ...allOf, ...(Array.isArray(items) ? items : [items]), ...Object.values(properties)];
    named(additionalProperties === undefined ? inner : [...inner, additionalProperties], found);
  }
  return found;
}

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('{{', '{ {');

function membersOf({ properties, required = [] }: Schema): string {
  if (properties === undefined) return '';
  const rows = Object.entries(properties).map(([name, schema]) => {
    const needed = required.includes(name) ? '' : ' (may be missing)';
    return `| \`${name}\`${needed} | ${cell(words(schema))} | ${cell(schema.description ?? '')} |`;
  });
  return `\n| member | is | |\n|---|---|---|\n${rows.join('\n')}\n`;
}

function objectsOf(schemas: readonly Schema[]): string {
  return [...named(schemas)]
    .map(([name, schema]) => {
      const about = schema.description === undefined ? '' : `${cell(schema.description)}\n`;
      const { description: _, ...form } = schema;
      const members = schema.properties === undefined ? `\nIt is ${cell(words(form))}.\n` : membersOf(schema);
      return `### ${name}\n\n${about}${members}`;
    })
    .join('\n');
}

/** What the answers of a class are, as docs/methods.md says at its top. */
const CLASSES: Readonly<Record<string, string>> = {
  proved: 'proved',
  computed: 'computed',
  held: 'held',
  forwarded: 'forwarded, not verified',
  off: 'it does not have the method',
};

function pageOf({ name, description, params, result, 'x-answers': answers }: Method): string {
  const example = examples[name];
  const schemas = [...params.map(({ schema }) => schema), result.schema];
  const parameters = params.map(
    ({ name: parameter, required, schema }, i) =>
      `| ${i + 1} | \`${parameter}\`${required ? '' : ' (may be missing)'} | ${cell(words(schema))} |`,
  );
  const objects = objectsOf(schemas);
  const shown = example !== undefined && answers.devnet !== 'off';
  const request = JSON.stringify({ jsonrpc: '2.0', id: 1, method: name, params: example?.params }, undefined, 2);
  return [
    `# \`${name}\``,
    description && description !== ''
      ? `${cell(description[0]!.toUpperCase() + description.slice(1)).replace(/[.]?$/, '.')}`
      : undefined,
    `| node | answer |\n|---|---|\n${(['devnet', 'light', 'replica'] as const)
      .map((kind) => `| ${kind === 'light' ? 'light node' : kind} | ${CLASSES[answers[kind]]} |`)
      .join('\n')}`,
    '[The table of methods](../methods.md) explains these words.',
    '## Parameters',
    params.length === 0 ? 'None.' : `| | parameter | is |\n|---|---|---|\n${parameters.join('\n')}`,
    `## Result\n\n${cell(words(result.schema))}`,
    result.schema.$ref === undefined ? membersOf(result.schema) : undefined,
    objects === '' ? undefined : `## Objects\n\n${objects}`,
    shown
      ? `## Example\n\nA request to a devnet:\n\n\`\`\`json\n${request}\n\`\`\`\n\nIts answer, without \`jsonrpc\` and \`id\`:\n\n\`\`\`json\n${example.answer}\n\`\`\`\n\n[Try it here](../playground.md?snippet=${idOf(name)}), on a devnet in your page.`
      : undefined,
  ]
    .filter((part) => part !== undefined && part !== '')
    .join('\n\n')
    .concat('\n');
}

/** Text of the page of each JSON-RPC method, by its path. */
export function methodPages(): ReadonlyMap<string, string> {
  return new Map(methods.map((method) => [`${fileOf(method.name)}.md`, pageOf(method)]));
}

/** The example of each method as a program for the playground. */
export function methodPrograms(): Runnable[] {
  return methods
    .filter(({ name, 'x-answers': { devnet } }) => devnet !== 'off' && examples[name] !== undefined)
    .map(({ name }) => ({
      id: idOf(name),
      heading: name,
      isMethod: true,
      code: `import { createNode } from 'plumbline-l2';

const node = await createNode();
const params = ${JSON.stringify(examples[name]!.params, undefined, 2)};
console.log(await node.request({ method: '${name}', params }));
await node.close();
`,
    }));
}

/** Methods by family, which their names begin with; the paths of their pages. */
export function methodFamilies(): ReadonlyMap<string, readonly string[]> {
  const families = new Map<string, string[]>();
  for (const { name } of methods) {
    const family = /^[^_.]+/.exec(name)![0];
    families.set(family, [...(families.get(family) ?? []), fileOf(name)]);
  }
  return families;
}
