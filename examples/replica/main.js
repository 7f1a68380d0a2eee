/**
 * Builds the whole zk state of a small network from the trie logs of a Besu node with the Shomei plugin, compares it with layer 1,
 * and proves from it.
 */
import { devnet } from 'plumbline-l2/fees';
import { createInlineNode } from 'plumbline-l2/inline';

const { L2, TRIE_LOGS, L1, ACCOUNT } = process.env;
if (!L2 || !TRIE_LOGS || !L1 || !ACCOUNT) {
  console.error('Set L2, TRIE_LOGS and L1 to the addresses of the network, and ACCOUNT to an address. See README.md.');
  process.exit(2);
}

let onSynced;
const synced = new Promise((resolve) => {
  onSynced = resolve;
});
const node = await createInlineNode({
  chain: { kind: 'replica', network: devnet(), endpoints: [L2], trieLogs: [TRIE_LOGS], layerOne: [L1] },
  onProgress({ stage, block, target }) {
    if (stage !== 'sync') return;
    console.log(`block ${block} of ${target}`);
    if (block === target) onSynced();
  },
});
await synced;
const answer = await node.request({ method: 'linea_getProof', params: [ACCOUNT, [], 'latest'] });
console.log(JSON.stringify(answer, undefined, 2));
await node.close();
