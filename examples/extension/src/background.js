/**
 * The background worker: a node of the extension's own, and answers to messages `{ rpc: payload }`. The browser ends this
 * worker after half a minute without events and starts it with the next one, so the node is opened by the first message and
 * keeps its chain in IndexedDB. Listeners are added at once, not after anything was waited for.
 */
import { createInlineNode } from 'plumbline-l2/inline';

/**
 * An embedded devnet, so that the example needs no endpoint. A wallet gives a light node instead:
 * `{ kind: 'light', network: linea, endpoints: ['https://…'], layerOne: ['https://…'] }`, with `linea` from
 * `plumbline-l2/fees`.
 */
const OPTIONS = { chain: { kind: 'devnet' }, storeName: 'plumbline-extension' };

/** What others may ask for. Nothing that signs or changes a chain. */
const METHODS = new Set(['eth_accounts', 'eth_blockNumber', 'eth_chainId', 'linea_estimateGas', 'linea_getProof']);

let opened;

/** A node that did not open is tried again by the next message. */
function node() {
  opened ??= createInlineNode(OPTIONS).catch((error) => {
    opened = undefined;
    throw error;
  });
  return opened;
}

/** `{ result }` or `{ error: { code, message, data } }`, as JSON-RPC has them. */
async function answer({ method, params = [] }) {
  if (!METHODS.has(method)) return { error: { code: -32601, message: 'Method not found' } };
  try {
    return { result: await (await node()).request({ method, params }) };
  } catch (error) {
    const code = typeof error.code === 'number' ? error.code : -32603;
    return { error: { code, message: error.message, data: error.data } };
  }
}

chrome.runtime.onMessage.addListener((message, sender, sendResponse) => {
  // Pages of this extension and its content scripts; other extensions and web pages cannot send here.
  if (sender.id !== chrome.runtime.id || typeof message?.rpc?.method !== 'string') return false;
  answer(message.rpc).then(sendResponse);
  // The answer comes later; until then the browser keeps the worker.
  return true;
});
