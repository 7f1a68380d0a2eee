import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Eip1193Provider } from '../../src/upstream/json-rpc.js';

/** An answer of the beacon API. */
export interface BeaconAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** A beacon node on loopback that can be counted and made to lie. */
export interface MockBeacon {
  readonly url: string;
  close(): Promise<void>;
  /** Paths with their queries, in the order of the requests. */
  readonly seen: string[];
  /** What it answers in place of the true answer, or a promise of that. May be changed while it runs. */
  tamper?: ((path: string, answer: BeaconAnswer) => BeaconAnswer | Promise<BeaconAnswer>) | undefined;
}

/** Serves the simulated beacon chain of a devnet as an endpoint of its own. */
export async function serveBeacon({ l1 }: { readonly l1: Eip1193Provider }): Promise<MockBeacon> {
  const server = createServer(async (request, response) => {
    const path = request.url!;
    mock.seen.push(path);
    try {
      const params = [path];
      const honest = (await l1.request({ method: 'beacon_get', params })) as BeaconAnswer;
      const { status, body } = (await mock.tamper?.(path, structuredClone(honest))) ?? honest;
      // Pages of any origin may ask, as they may ask public endpoints.
      response.writeHead(status, { 'content-type': 'application/json', 'access-control-allow-origin': '*' });
      response.end(JSON.stringify(body));
    } catch {
      response.destroy();
    }
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = async () => {
    server.closeAllConnections();
    server.close();
  };
  const mock: MockBeacon = { url, close, seen: [] };
  return mock;
}
