// Records what a test suite asks of a node: `node bench/recorded/record.mjs PORT NODE_PORT FILE COUNT` listens on PORT, hands every
// request on to the node, and writes the first COUNT of them when it is stopped. README.md says what was recorded.
import { writeFileSync } from 'node:fs';
import { Agent, createServer, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { brotliCompressSync, constants } from 'node:zlib';

const [port, nodePort, file, count] = process.argv.slice(2);
const agent = new Agent({ keepAlive: true });
const exchanges = [];

createServer(async (incoming, outgoing) => {
  const body = await buffer(incoming);
  const headers = { 'content-type': 'application/json', 'content-length': body.length };
  const asked = request({ host: '127.0.0.1', port: nodePort, method: 'POST', path: incoming.url, headers, agent });
  asked.on('response', async (reply) => {
    const answer = await buffer(reply);
    exchanges.push([JSON.parse(body), JSON.parse(answer)]);
    outgoing.writeHead(reply.statusCode, { 'content-type': 'application/json', 'content-length': answer.length });
    outgoing.end(answer);
  });
  asked.end(body);
}).listen(Number(port), '127.0.0.1');

/** What a later request may name, because the node chose it: hashes of transactions and blocks, ids of snapshots. */
function chosenBy({ method }, { result }) {
  if (method === 'eth_sendTransaction' || method === 'evm_snapshot') return result;
  if (method === 'eth_getTransactionByHash' || method === 'eth_getTransactionReceipt') return result?.blockHash;
  return method.startsWith('eth_getBlockBy') ? result?.hash : undefined;
}

function rows() {
  const kept = exchanges.slice(0, Number(count));
  const named = new Set(kept.flatMap(([{ params = [] }]) => params.filter((value) => typeof value === 'string')));
  return kept.map(([asked, answer]) => {
    const { method, params = [] } = asked;
    const chosen = chosenBy(asked, answer);
    return {
      method,
      params,
      ...(named.has(chosen) && { chosen }),
      ...(answer.error !== undefined && { fails: true }),
    };
  });
}

process.once('SIGTERM', () => {
  const text = rows().map((row) => JSON.stringify(row));
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 };
  writeFileSync(file, brotliCompressSync(text.join('\n'), { params }));
  console.log(`${text.length} of ${exchanges.length} requests`);
  process.exit();
});
