import fc from 'fast-check';
import { openInline } from '../../../src/hosts/opening/open-inline.js';
import type { NodeTransport } from '../../../src/hosts/provider/transport.js';
import { isPageMessage, type MessageReply, proxyConfig, thrownReply } from '../../../src/hosts/proxy/config.js';
import { ProxyHost } from '../../../src/hosts/proxy/proxy-host.js';
import type { StoredConfig } from '../../../src/hosts/proxy/stored-config.js';
import { devnet } from '../../../src/networks/devnet.js';
import type { Json } from '../damage.js';
import { mutated } from './mutations.js';
import { type HostileScene, shown } from './run.js';
import { EMPTY_DICTIONARY } from './target.js';

const PAGE = 'https://page.example/';
const TARGET = 'https://rpc.example/v3/key';
const CHAIN_ID = '{"jsonrpc":"2.0","id":1,"result":"0xe703"}';
/** Codes for a configuration that cannot be used, or whose node does not open. */
const CODES = [
  'INVALID_PARAMETER',
  'WORKER_FAILED',
  'OUT_OF_RANGE',
  'UPSTREAM_CONFIGURATION',
  'INVALID_HEX',
  'INVALID_LENGTH',
];

/**
 * Messages of pages to the service worker: carried out, or refused with a code, and a configuration that was refused leaves the
 * one before in use. After a restart, what pages send in place of keys is not believed.
 */
export async function proxyScene(): Promise<HostileScene<Json>> {
  let kept: StoredConfig | undefined;
  let pages: unknown[] = [];
  const nodes = new Set<NodeTransport>();
  const host = () =>
    new ProxyHost({
      openNode: async (options) => {
        const { storeName: _, ...rest } = options;
        const node = await openInline({ dictionary: EMPTY_DICTIONARY, ...rest });
        nodes.add(node);
        return node;
      },
      loadConfig: async () => kept,
      storeConfig: async (config) => {
        kept = structuredClone(config);
      },
      askPages: (accept) => {
        for (const page of pages) accept(page as never);
      },
      fetch: async () => new Response('the network'),
    });
  const options = { scriptUrl: '', urls: [TARGET] };
  const working = proxyConfig(options, PAGE);
  const light = proxyConfig(
    { ...options, chain: { kind: 'light', network: devnet(), endpoints: ['https://other.example/v3/key'] } },
    PAGE,
  );
  const json = (value: unknown) =>
    JSON.parse(JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? Number(part) : part))) as Json;
  const messages = [
    ...[working, light].map((config) => ({ plumblineProxy: 'configure', config: json(config) })),
    { plumblineProxy: 'open' },
    { plumblineProxy: 'stop' },
  ];
  let proxy = host();
  const asked = async () => {
    const request = new Request(TARGET, { method: 'POST', body: '{"jsonrpc":"2.0","id":1,"method":"eth_chainId"}' });
    return (await proxy.respond(request)?.then((response) => response.text())) ?? 'the network';
  };
  const stillAnswers = async (after: string) => {
    const text = await asked();
    if (text !== CHAIN_ID) throw new Error(`${after}: the answer is ${text}`);
  };
  const carriedOut = async (message: unknown): Promise<MessageReply | undefined> => {
    if (!isPageMessage(message)) return undefined;
    const work = async () => {
      if (message.plumblineProxy === 'open') return proxy.open();
      return message.plumblineProxy === 'stop' ? proxy.stop() : proxy.configure(message.config);
    };
    return work().then((value) => ({ value }), thrownReply);
  };
  await proxy.configure(working);
  return {
    inputs: mutated(fc.constantFrom(...(messages as Json[]))),
    async check(message) {
      const before = shown(kept);
      const reply = await carriedOut(message);
      if (reply !== undefined && 'code' in reply && !CODES.includes(reply.code))
        throw new Error(`${reply.code}: ${reply.message}`);
      if (reply === undefined || 'code' in reply) {
        if (shown(kept) !== before) throw new Error('a refused message changed the configuration');
        await stillAnswers('after a refused message');
      } else {
        // Whatever it is now: it has an answer for a request, and gives way to a configuration that works.
        const opened = await carriedOut({ plumblineProxy: 'open' });
        if (opened !== undefined && 'code' in opened && !CODES.includes(opened.code))
          throw new Error(`open: ${opened.code}: ${opened.message}`);
        await proxy.configure(working);
        await stillAnswers('after a working configuration');
      }
      // Its keys are asked of pages, of which the first sends this message.
      await proxy.configure(light);
      proxy = host();
      pages = [(message as { config?: unknown } | null)?.config, message, light];
      const found = await carriedOut({ plumblineProxy: 'open' });
      if (found === undefined || 'code' in found)
        throw new Error(`the keys of the right page were not taken: ${shown(found)}`);
      await proxy.configure(working);
      await stillAnswers('after a restart and a working configuration');
    },
    async close() {
      await proxy.stop();
      for (const node of nodes) await node.close();
    },
  };
}
