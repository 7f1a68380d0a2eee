import type { NodeInfo } from '../options/options.js';

/** Nothing is loaded: no script, no image, and no page of others may frame it. */
const POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** Makes the page that a browser sees at `/`: what this server is. It names no address, so it is right behind a proxy too. */
export function startPage({ networkName, chainId }: NodeInfo, hasDemo: boolean): () => Response {
  const demo = hasDemo ? '<p><a href="demo/">Open the demo page</a>, which can run a node of its own</p>' : '';
  const html = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>plumbline: ${escaped(networkName)}</title>
<style>
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
body { max-width: 42rem; margin: 3rem auto; padding: 0 1rem; }
pre { overflow-x: auto; padding: 0.75rem; border: 1px solid; border-radius: 0.25rem; }
td { padding: 0 1rem 0.25rem 0; vertical-align: top; }
</style>
<h1>plumbline</h1>
<p>This is a plumbline node of the network <b>${escaped(networkName)}</b>, chain id <b>${chainId}</b>. It answers Ethereum
JSON-RPC: give this address to a wallet, a library or a tool.</p>
${demo}
<table>
<tr><td><code>POST /</code></td><td>JSON-RPC, also at <code>/v3/&lt;anything&gt;</code>; a WebSocket at the same paths</td></tr>
<tr><td><code>POST /l1</code></td><td>the simulated layer 1, where the node is a devnet</td></tr>
<tr><td><code><a href="liveness">GET /liveness</a></code></td><td>whether the node answers, and the number of its newest block</td></tr>
</table>
<pre>{"jsonrpc":"2.0","id":1,"method":"eth_blockNumber","params":[]}</pre>
</html>
`;
  const headers = { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': POLICY, vary: 'Accept' };
  return () => new Response(html, { headers });
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}
