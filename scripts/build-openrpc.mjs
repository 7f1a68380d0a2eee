/**
 * Makes the parameters, results and descriptions of the OpenRPC document that `rpc.discover` answers, from the types of methods
 * (src/rpc/schema) and the notes of docs/methods.md. TypeScript 7 has no interface for programs; 6 is here for the reference of the API.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { root } from './lib/run.mjs';

const ts = createRequire(`${root}/docs/api/package.json`)('typescript');
const TYPES = `${root}/src/rpc/schema/methods.generated.ts`;
const OUT = `${root}/src/rpc/openrpc.generated.ts`;

const plain = (text) =>
  text
    .replaceAll(/\{@link (\w+)\}/g, '$1')
    .replaceAll(/\[([^\]]+)\]\([^)]+\)/g, '$1')
    .replaceAll(/\s+/g, ' ')
    .trim();

/** Rows of the tables of docs/methods.md: the note of each name. */
async function notesOf() {
  const text = await readFile(`${root}/docs/methods.md`, 'utf8');
  const rows = text.split('\n').map((line) => line.split(/(?<!\\)\|/).map((cell) => cell.trim()));
  return new Map(
    rows
      .filter(([, names]) => names?.startsWith('`'))
      .flatMap(([, names, , , notes = '']) =>
        [...names.matchAll(/`([^`]+)`/g)].map(([, name]) => [name, plain(notes).replaceAll('\\|', '|')]),
      ),
  );
}

/** Types as JSON Schema. Types with a name of src become components. */
class Schemas {
  components = {};
  named = new Map();

  constructor(checker) {
    this.checker = checker;
  }

  of(type) {
    const name = this.nameOf(type);
    if (name === undefined) return this.inline(type);
    if (this.components[name] === undefined) {
      // For types that contain themselves.
      this.components[name] = {};
      const about = this.about(type.aliasSymbol ?? type.symbol);
      this.components[name] = { ...(about !== '' && { description: about }), ...this.inline(type) };
    }
    return { $ref: `#/components/schemas/${name}` };
  }

  about(symbol) {
    return plain(ts.displayPartsToString(symbol.getDocumentationComment(this.checker)));
  }

  nameOf(type) {
    const { aliasSymbol, symbol } = type;
    const named = aliasSymbol ?? (symbol?.flags & ts.SymbolFlags.Interface ? symbol : undefined);
    const file = named?.declarations?.[0]?.getSourceFile().fileName;
    if (named === undefined || !file?.startsWith(join(root, 'src/'))) return undefined;
    // Of a generic type, the first one that comes has the name.
    const first = this.named.get(named.name) ?? type;
    this.named.set(named.name, first);
    return first === type ? named.name : undefined;
  }

  inline(type) {
    const { TypeFlags } = ts;
    if (type.isUnion()) return this.union(type.types);
    if (type.flags & TypeFlags.TemplateLiteral) return { type: 'string', pattern: '^0x' };
    if (type.flags & TypeFlags.StringLiteral || type.flags & TypeFlags.NumberLiteral) return { enum: [type.value] };
    if (type.flags & TypeFlags.BooleanLiteral) return { enum: [type.intrinsicName === 'true'] };
    if (type.flags & TypeFlags.String) return { type: 'string' };
    if (type.flags & TypeFlags.Number) return { type: 'number' };
    if (type.flags & TypeFlags.Boolean) return { type: 'boolean' };
    if (type.flags & TypeFlags.Null) return { type: 'null' };
    if (type.flags & (TypeFlags.Unknown | TypeFlags.Any)) return {};
    if (type.flags & TypeFlags.Never) return { not: {} };
    if (type.flags & TypeFlags.NonPrimitive) return { type: 'object' };
    if (this.checker.isTupleType(type)) {
      const items = this.checker.getTypeArguments(type).map((one) => this.of(one));
      return { type: 'array', items, minItems: items.length, maxItems: items.length };
    }
    if (this.checker.isArrayType(type))
      return { type: 'array', items: this.of(this.checker.getTypeArguments(type)[0]) };
    if (type.flags & (TypeFlags.Object | TypeFlags.Intersection)) return this.object(type);
    throw new Error(`${this.checker.typeToString(type)} has no form as JSON Schema here`);
  }

  union(types) {
    const present = types.filter(({ flags }) => !(flags & ts.TypeFlags.Undefined));
    const forms = present.map((one) => this.of(one));
    const values = forms.filter((form) => form.enum !== undefined).flatMap((form) => form.enum);
    const others = forms.filter((form) => form.enum === undefined);
    const isBoolean = values.includes(true) && values.includes(false);
    const listed = isBoolean ? values.filter((value) => typeof value !== 'boolean') : values;
    const all = [
      ...others,
      ...(isBoolean ? [{ type: 'boolean' }] : []),
      ...(listed.length > 0 ? [{ enum: [...new Set(listed)] }] : []),
    ];
    const texts = new Set(all.map((form) => JSON.stringify(form)));
    const unique = [...texts].map((text) => JSON.parse(text));
    return unique.length === 1 ? unique[0] : { anyOf: unique };
  }

  object(type) {
    const properties = {};
    const required = [];
    for (const property of this.checker.getPropertiesOfType(type)) {
      const own = this.checker.getTypeOfSymbol(property);
      const about = this.about(property);
      const form = own.isUnion() && this.nameOf(own) === undefined ? this.union(own.types) : this.of(own);
      // In draft 7, what stands beside a reference does not count.
      properties[property.name] =
        about === ''
          ? form
          : form.$ref === undefined
            ? { description: about, ...form }
            : { description: about, allOf: [form] };
      if (!(property.flags & ts.SymbolFlags.Optional)) required.push(property.name);
    }
    const [index] = this.checker.getIndexInfosOfType(type);
    return {
      type: 'object',
      ...(Object.keys(properties).length > 0 && { properties }),
      ...(required.length > 0 && { required }),
      ...(index !== undefined && { additionalProperties: this.of(index.type) }),
    };
  }

  /** Parameters by position. A method with several forms has, at each position, what any of them takes there. */
  params(type) {
    const forms = type.isUnion() ? type.types : [type];
    const length = Math.max(...forms.map((form) => this.checker.getTypeArguments(form).length));
    return Array.from({ length }, (_, i) => {
      const having = forms.filter((form) => this.checker.getTypeArguments(form).length > i);
      const types = having.map((form) => this.checker.getTypeArguments(form)[i]);
      const names = having.map(({ target }) => target.labeledElementDeclarations?.[i]?.name.text ?? 'kind');
      const isRequired =
        having.length === forms.length &&
        having.every(({ target }) => (target.elementFlags[i] & ts.ElementFlags.Required) !== 0);
      return {
        name: [...new Set(names)].join('Or').replace(/Or(\w)/g, (_, first) => `Or${first.toUpperCase()}`),
        required: isRequired,
        schema: this.union(types),
      };
    });
  }
}

/** @returns the document, with all methods of all kinds of chain */
async function documentOf() {
  const program = ts.createProgram([TYPES], {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    lib: ['lib.es2023.d.ts', 'lib.dom.d.ts'],
    types: [],
    strict: true,
    // What is left out and what is undefined are the same in JSON.
    exactOptionalPropertyTypes: false,
  });
  const checker = program.getTypeChecker();
  const schemas = new Schemas(checker);
  const notes = await notesOf();
  const member = (type, name) => checker.getTypeOfSymbol(checker.getPropertyOfType(type, name));
  const methods = checker
    .getExportsOfModule(checker.getSymbolAtLocation(program.getSourceFile(TYPES)))
    .flatMap((symbol) => checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(symbol)))
    .map((symbol) => {
      const type = checker.getTypeOfSymbol(symbol);
      const note = notes.get(symbol.name);
      return {
        name: symbol.name,
        ...(note && { description: note }),
        params: schemas.params(member(type, 'params')),
        result: { name: 'result', schema: schemas.of(member(type, 'result')) },
      };
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  const components = Object.fromEntries(Object.entries(schemas.components).sort(([a], [b]) => (a < b ? -1 : 1)));
  return { methods, components: { schemas: components } };
}

export async function buildOpenRpc() {
  const text = JSON.stringify(await documentOf());
  const literal = `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
  await writeFile(
    OUT,
    `// Made by scripts/build-openrpc.mjs from src/rpc/schema and docs/methods.md.\n\n/** Methods and components of the OpenRPC document, as JSON. */\nexport const OPENRPC = ${literal};\n`,
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildOpenRpc();
