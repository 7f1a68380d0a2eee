import type { PlumblineNode, UntypedMethod } from 'plumbline-l2';

/** The servers of a light node in this page. A devnet answers what they are asked. */
export const SERVERS = {
  beacon: 'https://beacon.example',
  'layer-1': 'https://layer-1.example',
  'layer-2': 'https://layer-2.example',
} as const;

export type Server = keyof typeof SERVERS;

/** The devnet behind the servers: that of this page, or that of the server which the page is from. */
export interface Devnet {
  /** The node that the page runs. */
  readonly node: PlumblineNode;
  /** @throws what has a code and a message, as the devnet says it */
  request(server: 'layer-1' | 'layer-2', method: string, params: readonly unknown[]): Promise<unknown>;
  /** @param path - with its query */
  beacon(path: string): Promise<Response>;
}

/** The devnet of the server, behind a light node of this page. */
export function devnetOfServer(node: PlumblineNode): Devnet {
  return {
    node,
    request: (server, method, params) => post(server === 'layer-1' ? '/l1' : '/', method, params),
    beacon: (path) => fetch(`/l1${path}`),
  };
}

/** A devnet in this page. */
export function devnetIn(node: PlumblineNode): Devnet {
  return {
    node,
    request: (server, method, params) =>
      (server === 'layer-1' ? node.l1 : node).request<UntypedMethod>({ method, params }),
    beacon: (path) => node.handleL1(new Request(`${SERVERS.beacon}${path}`)),
  };
}

async function post(path: string, method: string, params: readonly unknown[]): Promise<unknown> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const response = await fetch(path, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  const { result, error } = (await response.json()) as { readonly result?: unknown; readonly error?: object };
  if (error !== undefined) throw Object.assign(new Error(), error);
  return result;
}

/** Answers by server and question: a path of the beacon API, or a method with its parameters. */
export type Told = Map<string, unknown>;

/** May change an answer before it is sent. */
export type Liar = (server: Server, question: string, answer: unknown) => void;

interface Call {
  readonly id: unknown;
  readonly method: string;
  readonly params: readonly unknown[];
}

/**
 * The servers as a `fetch`.
 *
 * @param devnet - it answers
 * @param told - answers that are repeated where the same is asked; others are added
 */
export function serversOver(devnet: Devnet, told: Told, liar: Liar = () => {}): typeof fetch {
  const answer = async <Answer>(server: Server, question: string, ask: () => Promise<Answer>): Promise<Answer> => {
    const key = `${server} ${question}`;
    if (!told.has(key)) told.set(key, await ask());
    const copy = structuredClone(told.get(key)) as Answer;
    liar(server, question, copy);
    return copy;
  };
  const beacon = async (url: URL) => {
    const { status, body } = await answer('beacon', url.pathname + url.search, async () => {
      const response = await devnet.beacon(url.pathname + url.search);
      return { status: response.status, body: (await response.json()) as unknown };
    });
    return Response.json(body, { status });
  };
  const call = async (server: 'layer-1' | 'layer-2', { id, method, params }: Call) => {
    try {
      const question = `${method} ${JSON.stringify(params)}`;
      return {
        jsonrpc: '2.0',
        id,
        result: await answer(server, question, () => devnet.request(server, method, params)),
      };
    } catch (error) {
      const { code, message } = error as { code: number; message: string };
      return { jsonrpc: '2.0', id, error: { code, message } };
    }
  };
  return async (input, init) => {
    const url = new URL(String(input));
    if (url.origin === SERVERS.beacon) return beacon(url);
    const server = url.origin === SERVERS['layer-1'] ? 'layer-1' : 'layer-2';
    const body = JSON.parse(String(init?.body)) as Call | Call[];
    return Response.json(
      Array.isArray(body) ? await Promise.all(body.map((one) => call(server, one))) : await call(server, body),
    );
  };
}
