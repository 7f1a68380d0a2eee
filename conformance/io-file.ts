import { differsDeep } from './differs-deep.js';

/** One request of an `.io` file, as it stands there, and the answer recorded for it. */
export interface Exchange {
  readonly request: string;
  readonly response: Answer;
}

/** A test of the execution-apis suite (docs/spec/json-rpc.md 8). */
export interface IoFile {
  readonly exchanges: readonly Exchange[];
  /** The answers are examples: their shape counts, not their values. */
  readonly specOnly: boolean;
}

/** A JSON-RPC response. */
export interface Answer {
  readonly id?: unknown;
  readonly result?: unknown;
  readonly error?: { readonly code?: unknown; readonly message?: unknown; readonly data?: unknown };
}

/** @throws Error for a line of another kind, or a request without its answer */
export function parseIoFile(text: string): IoFile {
  const exchanges: Exchange[] = [];
  let request: string | undefined;
  let specOnly = false;
  for (const line of text.split('\n').map((line) => line.trim())) {
    if (line === '') continue;
    if (line.startsWith('//')) specOnly ||= line.slice(2).trim().startsWith('speconly:');
    else if (line.startsWith('>>') && request === undefined) request = line.slice(2).trim();
    else if (line.startsWith('<<') && request !== undefined) {
      exchanges.push({ request, response: JSON.parse(line.slice(2)) as Answer });
      request = undefined;
    } else throw new Error(`unexpected line ${line.slice(0, 80)}`);
  }
  if (request !== undefined || exchanges.length === 0) throw new Error('a request without its answer');
  return { exchanges, specOnly };
}

/** A text when an answer is not the recorded one: values as JSON, of errors code and data. */
export function differsFromRecord(expected: Answer, actual: Answer): string | undefined {
  return differsDeep(withoutMessages(expected), withoutMessages(actual));
}

/** A text when an answer is not of the shape of the recorded one. */
export function differsInShape(expected: Answer, actual: Answer): string | undefined {
  const wanted = expected.error === undefined ? 'a result' : 'an error';
  const got = actual.error === undefined ? 'a result' : 'an error';
  if (wanted !== got) return `expected ${wanted}, got ${JSON.stringify(actual).slice(0, 300)}`;
  return shapeDiffers(withoutMessages(expected), withoutMessages(actual), 'answer');
}

/** An error of this node without plumbline's own code and details, which no other node has. */
export function withoutReason(error: Record<string, unknown>): Record<string, unknown> {
  const { reason: _reason, details: _details, ...rest } = error;
  const { data } = rest;
  if (typeof data === 'object' && data !== null && /^[A-Z_]+$/.test(String((data as { reason?: unknown }).reason)))
    delete rest.data;
  return rest;
}

/** Texts of errors are the recorded client's own. */
function withoutMessages(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMessages);
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, inner]) => {
    if (name !== 'error' || typeof inner !== 'object' || inner === null) return [name, withoutMessages(inner)];
    const { message: _message, ...rest } = withoutReason(inner as Record<string, unknown>);
    return [name, rest];
  });
  return Object.fromEntries(members);
}

function shapeDiffers(expected: unknown, actual: unknown, path: string): string | undefined {
  const [wanted, got] = [kindOf(expected), kindOf(actual)];
  if (wanted !== got) return `${path}: expected ${wanted}, got ${got}`;
  if (Array.isArray(expected)) {
    const model = expected[0] as unknown;
    if (model === undefined) return undefined;
    return firstText((actual as unknown[]).map((item, i) => shapeDiffers(model, item, `${path}[${i}]`)));
  }
  if (wanted !== 'object') return undefined;
  const [model, members] = [expected, actual] as Record<string, unknown>[];
  return firstText(Object.keys(model!).map((name) => shapeDiffers(model![name], members![name], `${path}.${name}`)));
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'array';
  return typeof value === 'string' && /^0x[0-9a-f]*$/i.test(value) ? 'hex' : typeof value;
}

function firstText(texts: readonly (string | undefined)[]): string | undefined {
  return texts.find((text) => text !== undefined);
}
