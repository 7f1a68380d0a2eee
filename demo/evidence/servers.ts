import type { PlumblineNode, UntypedMethod } from 'plumbline-l2';

/** The servers of a light node in this page. Requests to them do not leave the page: its devnet answers them. */
export const SERVERS = {
  beacon: 'https://beacon.example',
  'layer-1': 'https://layer-1.example',
  'layer-2': 'https://layer-2.example',
} as const;

export type Server = keyof typeof SERVERS;

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
 * @param node - the devnet that answers
 * @param told - answers that are repeated where the same is asked; others are added
 */
export function serversOver(node: PlumblineNode, told: Told, liar: Liar = () => {}): typeof fetch {
  const answer = async <Answer>(server: Server, question: string, ask: () => Promise<Answer>): Promise<Answer> => {
    const key = `${server} ${question}`;
    if (!told.has(key)) told.set(key, await ask());
    const copy = structuredClone(told.get(key)) as Answer;
    liar(server, question, copy);
    return copy;
  };
  const beacon = async (url: URL) => {
    const { status, body } = await answer('beacon', url.pathname + url.search, async () => {
      const response = await node.handleL1(new Request(url));
      return { status: response.status, body: (await response.json()) as unknown };
    });
    return Response.json(body, { status });
  };
  const call = async (server: 'layer-1' | 'layer-2', { id, method, params }: Call) => {
    const provider = server === 'layer-1' ? node.l1 : node;
    try {
      const question = `${method} ${JSON.stringify(params)}`;
      return {
        jsonrpc: '2.0',
        id,
        result: await answer(server, question, () => provider.request<UntypedMethod>({ method, params })),
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
