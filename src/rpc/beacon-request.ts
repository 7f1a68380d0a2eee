import { hexToBytes } from '../primitives/hex.js';
import type { Reply, RpcResponse } from './envelope.js';

/** Where paths of the beacon API begin, wherever the handler is mounted. */
const BEACON_PATH = '/eth/v';
const EVENTS_PATH = '/eth/v1/events';
const UPDATES_PATH = '/eth/v1/beacon/light_client/updates';
const SSZ_TYPE = 'application/octet-stream';

/** What the beacon API's own method answers, as `src/rpc/methods/beacon-api.ts` makes it. */
interface Answer {
  readonly status: number;
  readonly body: unknown;
  readonly version?: string;
  readonly ssz?: `0x${string}`;
}

/** Asks for a path of the beacon API. @param form - `ssz` for the bytes of an object */
type Ask = (target: string, form: 'json' | 'ssz') => Promise<Reply>;

/** Path and query of a GET of the beacon API; undefined for another address. */
function beaconTarget(address: string): string | undefined {
  const { pathname, search } = new URL(address);
  const at = pathname.indexOf(BEACON_PATH);
  return at < 0 ? undefined : pathname.slice(at) + search;
}

/** The JSON-RPC request for a path of the beacon API. */
export function beaconRequest(target: string, form: 'json' | 'ssz'): unknown {
  return { jsonrpc: '2.0', id: 1, method: 'beacon_get', params: [target, form] };
}

/** The response to a GET: of the beacon API, or empty for another path. A node without a beacon chain answers 501. */
export async function beaconResponse(request: Request, ask: Ask, headers: Record<string, string>): Promise<Response> {
  const target = beaconTarget(request.url);
  if (target === undefined) return new Response(null, { status: 201, headers });
  const [path, query] = target.split('?');
  if (path === EVENTS_PATH) return eventStream(request, new URLSearchParams(query), ask, headers);
  const answer = answerOf(await ask(target, wantsSsz(request.headers.get('accept'), path!) ? 'ssz' : 'json'));
  const versioned =
    answer.version === undefined
      ? headers
      : {
          ...headers,
          'eth-consensus-version': answer.version,
          'access-control-expose-headers': 'Eth-Consensus-Version',
        };
  if (answer.ssz === undefined) return Response.json(answer.body, { status: answer.status, headers: versioned });
  const bytes = hexToBytes(answer.ssz);
  return new Response(bytes, { status: answer.status, headers: { ...versioned, 'content-type': SSZ_TYPE } });
}

function answerOf({ body, fault }: Reply): Answer {
  const reply = body as RpcResponse;
  if ('result' in reply) return reply.result as Answer;
  const { code, message } = reply.error;
  const isAbsent = code === -32601 || code === -32604;
  const status = isAbsent ? 501 : fault === 'timeout' ? 503 : 500;
  return { status, body: { code: status, message } };
}

/**
 * Whether a client would rather have bytes than JSON, by the weights of its `accept` header. A list of updates has a fork digest
 * before each. Lodestar's client (@lodestar/api 1.48.0) knows those of public networks only, so it gets JSON, which it takes too.
 */
function wantsSsz(accept: string | null, path: string): boolean {
  const weights = new Map<string, number>();
  for (const part of (accept ?? '').split(',')) {
    const [type = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    const q = parameters.find((text) => text.startsWith('q='));
    weights.set(type, q === undefined ? 1 : Number(q.slice(2)) || 0);
  }
  const json = weights.get('application/json') ?? weights.get('*/*') ?? 0;
  return (weights.get(SSZ_TYPE) ?? 0) > (path === UPDATES_PATH ? Math.ceil(json) : json);
}

/** Topics of the event stream, and the paths of what they tell. */
const TOPICS: Readonly<Record<string, string>> = {
  light_client_finality_update: '/eth/v1/beacon/light_client/finality_update',
  light_client_optimistic_update: '/eth/v1/beacon/light_client/optimistic_update',
};
/** Time between two looks for news, ms: a slot of the simulated chain. */
const LOOK_MS = 1000;

/**
 * Server-sent events: each update once, when it is new. The stream ends with the request, or when the node does not answer.
 *
 * @source ethereum/beacon-APIs apis/eventstream/index.yaml
 */
async function eventStream(
  request: Request,
  query: URLSearchParams,
  ask: Ask,
  headers: Record<string, string>,
): Promise<Response> {
  const topics = query.getAll('topics').flatMap((list) => list.split(','));
  if (topics.length === 0 || !topics.every((topic) => Object.hasOwn(TOPICS, topic))) {
    const message = `the topics must be some of ${Object.keys(TOPICS).join(', ')}`;
    return Response.json({ code: 400, message }, { status: 400, headers });
  }
  const first = answerOf(await ask('/eth/v1/beacon/genesis', 'json'));
  if (first.status !== 200) return Response.json(first.body, { status: first.status, headers });
  const told = new Map<string, string>();
  const encoder = new TextEncoder();
  let isOver = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const cancel = () => {
    isOver = true;
    clearTimeout(timer);
  };
  const look = async (topic: string): Promise<Uint8Array | 'nothing new' | 'no answer'> => {
    const { status, body } = answerOf(await ask(TOPICS[topic]!, 'json'));
    // 404 while the chain has no blocks yet.
    if (status !== 200) return status === 404 ? 'nothing new' : 'no answer';
    const data = JSON.stringify(body);
    if (told.get(topic) === data) return 'nothing new';
    told.set(topic, data);
    return encoder.encode(`event: ${topic}\ndata: ${data}\n\n`);
  };
  const stream = new ReadableStream<Uint8Array>({
    start(controller) {
      const end = () => {
        if (!isOver) controller.close();
        cancel();
      };
      request.signal.addEventListener('abort', end, { once: true });
      // A stream that has said nothing yet has its headers at once.
      controller.enqueue(encoder.encode(':\n\n'));
    },
    /** Looks until there is news. It is called once what was told has been read. */
    async pull(controller) {
      for (let isTold = false; !isTold; ) {
        for (const topic of new Set(topics)) {
          // A closed node throws.
          const news = await look(topic).catch(() => 'no answer' as const);
          if (isOver) return;
          if (news === 'no answer') {
            cancel();
            return controller.close();
          }
          if (news === 'nothing new') continue;
          controller.enqueue(news);
          isTold = true;
        }
        if (isTold) return;
        await new Promise((resolve) => {
          timer = setTimeout(resolve, LOOK_MS);
        });
      }
    },
    cancel,
  });
  const type = { 'content-type': 'text/event-stream', 'cache-control': 'no-store' };
  return new Response(stream, { headers: { ...headers, ...type } });
}
