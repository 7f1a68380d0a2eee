#!/usr/bin/env node
import { parseArgs } from 'node:util';
import { DEV_ACCOUNTS, DEV_MNEMONIC } from '../chain/devnet/dev-accounts.js';
import { TEST_TOKEN } from '../chain/devnet/test-token.js';
import { messageOf } from '../errors.js';
import { createInlineNode } from './inline.js';
import { serve } from './node.js';

const USAGE = `plumbline serve [--port N] [--host H] [--demo DIR]

  --port N    port to listen on, 0 for a free one (default 8545)
  --host H    address to listen on (default 127.0.0.1)
  --demo DIR  built demo page to serve under /demo/`;

const DEFAULT_HOST = '127.0.0.1';

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}

function readArguments() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        port: { type: 'string', default: '8545' },
        host: { type: 'string', default: DEFAULT_HOST },
        demo: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
  } catch (error) {
    return fail(`${messageOf(error)}\n\n${USAGE}`);
  }
}

/** A `linea_estimateGas` for a token transfer between two dev accounts, ready to paste. */
function curlLine(url: string): string {
  const word = (hex: string) => hex.slice(2).padStart(64, '0');
  const data = `0xa9059cbb${word(DEV_ACCOUNTS[1]!.address)}${word('0xde0b6b3a7640000')}`;
  const call = { from: DEV_ACCOUNTS[0]!.address, to: TEST_TOKEN, data };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'linea_estimateGas', params: [call] });
  return `curl -s ${url} -H 'content-type: application/json' -d '${body}'`;
}

const { values, positionals } = readArguments();
if (values.help) {
  console.log(USAGE);
  process.exit(0);
}
if (positionals.length !== 1 || positionals[0] !== 'serve') fail(USAGE);
const port = Number(values.port);
if (!Number.isInteger(port) || port < 0 || port > 65_535) fail(`--port is not a port: ${values.port}`);

const loopback = [DEFAULT_HOST, 'localhost', '::1'].includes(values.host);
const node = await createInlineNode({
  http: loopback ? { allowedHosts: [DEFAULT_HOST, 'localhost', '[::1]'] } : {},
});
const server = await serve(node, {
  port,
  host: values.host,
  ...(values.demo !== undefined && { demoDirectory: values.demo }),
}).catch((error: unknown) => fail(`cannot listen on ${values.host}:${port}: ${messageOf(error)}`));

const shownHost = values.host.includes(':') ? `[${values.host}]` : values.host;
const url = `http://${shownHost}:${server.port}`;
console.log(`plumbline devnet, chain id ${node.info.chainId}, kernels ${node.info.kernelBuild}`);
console.log(`  JSON-RPC  ${url}/  (also ${url}/v3/<anything>; simulated layer 1: ${url}/l1)`);
if (values.demo !== undefined) console.log(`  demo      ${url}/demo/`);
console.log(`  accounts  ten of "${DEV_MNEMONIC}", 10000 ETH each; ERC-20 test token ${TEST_TOKEN}`);
console.log(`\n${curlLine(`${url}/`)}\n`);

let stopping = false;
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (stopping) return;
    stopping = true;
    void server.close().then(() => node.close());
  });
}
