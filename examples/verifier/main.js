/**
 * Checks a balance that a server says, in Node. The server is not believed: its proof has to lead to the state root that the rollup
 * contract on layer 1 has.
 *
 *   npm start                                                      # asks a devnet of its own
 *   L2=https://… L1=https://… ROLLUP=0x… npm start -- 0xACCOUNT    # asks a network
 */
import { createInlineNode } from 'plumbline-l2/inline';
import { hexToBytes, loadHasher, verifyLineaProof } from 'plumbline-l2/verify';
import { serve } from 'plumbline-l2-cli';

let { L2, L1, ROLLUP } = process.env;
let [account] = process.argv.slice(2);
let close = async () => {};
if (L2 === undefined) {
  const node = await createInlineNode();
  const server = await serve(node, { port: 0 });
  L2 = `http://${server.host}:${server.port}`;
  L1 = `${L2}/l1`;
  ROLLUP = node.info.rollupAddress;
  [account] = await node.request({ method: 'eth_accounts' });
  close = async () => {
    await server.close();
    await node.close();
  };
}

async function ask(url, method, params) {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  const { result, error } = await response.json();
  if (error !== undefined) throw new Error(`${method}: ${error.message}`);
  return result;
}

// The newest block that the rollup contract has finalized, `currentL2BlockNumber()`, and its state root, `stateRootHashes(uint256)`.
// Ask a layer-1 node that you trust; `verifyL1Anchor` checks its answer against a layer-1 state root.
const block = BigInt(await ask(L1, 'eth_call', [{ to: ROLLUP, data: '0x695378f5' }, 'finalized']));
const data = `0x8be745d1${block.toString(16).padStart(64, '0')}`;
const stateRoot = hexToBytes(await ask(L1, 'eth_call', [{ to: ROLLUP, data }, 'finalized']));

const answer = await ask(L2, 'linea_getProof', [account, [], `0x${block.toString(16)}`]);
const question = { address: hexToBytes(account), storageKeys: [], stateRoot };
const hasher = await loadHasher('poseidon2');
const verdict = verifyLineaProof(hasher, question, answer);
if (verdict.verified) console.log(`verified: ${account} has ${verdict.account?.balance ?? 0n} wei at block ${block}`);
else console.log(`refused: ${verdict.message}`);

// One bit of the value is changed, and the proof no longer leads to the root.
const { proof } = answer.accountProof;
const last = proof.value.at(-1) === '0' ? '1' : '0';
const forged = {
  ...answer,
  accountProof: { ...answer.accountProof, proof: { ...proof, value: proof.value.slice(0, -1) + last } },
};
console.log(`a forgery: ${verifyLineaProof(hasher, question, forged).message}`);
await close();
