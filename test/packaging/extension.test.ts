import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type ExtensionScene, launchExtension } from '../support/extension-scene.js';
import { addressOf, executablePath } from './page.js';
import { bin, type Packed, packPackage, run } from './project.js';

/** The policy is that of docs/guides/extension.md. */
const MANIFEST = {
  manifest_version: 3,
  name: 'wallet',
  version: '1.0',
  background: { service_worker: 'background.js', type: 'module' },
  content_security_policy: { extension_pages: "script-src 'self' 'wasm-unsafe-eval'" },
};

/** A background script as wallets have one: plain requests, a subscription, and a light node that checks the same server. */
const BACKGROUND = `import { createInlineNode, devnet } from 'plumbline-l2/inline';

const ask = async (url, method, params = []) => {
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  return (await (await fetch(url, { method: 'POST', headers, body })).json()).result;
};

async function nextHead(url) {
  const socket = new WebSocket(url.replace('http', 'ws'));
  await new Promise((resolve, reject) => { socket.onopen = resolve; socket.onerror = reject; });
  const head = new Promise((resolve) => {
    socket.onmessage = ({ data }) => {
      const { params } = JSON.parse(data);
      if (params) resolve(params.result.number);
      else ask(url, 'evm_mine');
    };
  });
  socket.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'eth_subscribe', params: ['newHeads'] }));
  const number = await head;
  socket.close();
  return number;
}

async function checked(url) {
  const node = await createInlineNode({
    chain: { kind: 'light', network: devnet(), endpoints: [url], layerOne: [url + 'l1'] },
  });
  const from = '0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266';
  const to = '0x2500000000000000000000000000000000000000';
  try {
    return {
      balance: await node.request({ method: 'eth_getBalance', params: [from, 'latest'] }),
      fees: await node.request({ method: 'linea_estimateGas', params: [{ from, to, value: '0x1' }] }),
    };
  } finally {
    await node.close();
  }
}

const TASKS = {
  plain: (url) => ask(url, 'eth_chainId'),
  head: nextHead,
  checked,
};
chrome.runtime.onMessage.addListener(({ task, url }, sender, sendResponse) => {
  TASKS[task](url).then(sendResponse, (error) => sendResponse({ reason: error.reason ?? String(error) }));
  return true;
});
`;

interface Chrome {
  readonly chrome: { readonly runtime: { sendMessage(message: object): Promise<unknown> } };
}

describe.skipIf(executablePath === undefined)('an extension with the packed package, beside `plumbline serve`', () => {
  let packed: Packed;
  let project: string;
  let server: ChildProcess;
  let url: string;
  beforeAll(async () => {
    packed = await packPackage();
    project = packed.project('extension', { 'background.js': BACKGROUND, 'popup.html': '<title>wallet</title>' }, [
      'plumbline-l2-cli',
    ]);
    await run(bin('esbuild'), ['background.js', '--bundle', '--format=esm', '--minify', '--outdir=built'], project);
    const command = join(project, 'node_modules/plumbline-l2-cli/dist/cli.js');
    server = spawn(process.execPath, [command, 'serve', '--port', '0'], { cwd: project });
    url = await addressOf(server);
  });
  afterAll(() => server?.kill());

  async function opened(name: string, permissions: object): Promise<ExtensionScene> {
    const folder = join(packed.directory, name);
    mkdirSync(folder);
    cpSync(join(project, 'built/background.js'), join(folder, 'background.js'));
    cpSync(join(project, 'popup.html'), join(folder, 'popup.html'));
    writeFileSync(join(folder, 'manifest.json'), JSON.stringify({ ...MANIFEST, ...permissions }));
    const scene = await launchExtension(folder);
    onTestFinished(() => scene.close());
    return scene;
  }
  const send = async (scene: ExtensionScene, message: { task: string; url: string }) =>
    (await scene.popup()).evaluate(
      (sent) => (globalThis as unknown as Chrome).chrome.runtime.sendMessage(sent),
      message,
    );

  /** The server without the headers by which it lets other origins in, as many endpoints are. */
  async function withoutCors(): Promise<string> {
    const proxy = createServer(async (request, response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const answer = await fetch(new URL(request.url!, url), { method: 'POST', body: Buffer.concat(chunks) });
      response.setHeader('content-type', 'application/json').end(await answer.text());
    });
    await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void proxy.close());
    return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}/`;
  }

  // 21 000 is what a plain transfer costs; ten thousand ether are what each account of a devnet has.
  const ANSWER = { balance: '0x21e19e0c9bab2400000', fees: { gasLimit: '0x5208' } };

  test('with host permissions: requests, a subscription, and answers that its own light node checked', async () => {
    const scene = await opened('with-permissions', { host_permissions: ['http://127.0.0.1/*'] });
    expect(await send(scene, { task: 'plain', url })).toBe('0xe703');
    expect(await send(scene, { task: 'head', url })).toBe('0x1');
    expect(await send(scene, { task: 'checked', url })).toMatchObject(ANSWER);
    // docs/guides/extension.md: an endpoint that does not allow other origins.
    expect(await send(scene, { task: 'checked', url: await withoutCors() })).toMatchObject(ANSWER);
  });

  test('without: endpoints that allow other origins answer, others do not', async () => {
    const scene = await opened('without-permissions', {});
    expect(await send(scene, { task: 'checked', url })).toMatchObject(ANSWER);
    expect(await send(scene, { task: 'checked', url: await withoutCors() })).toEqual({
      reason: 'UPSTREAM_UNAVAILABLE',
    });
  });
});
