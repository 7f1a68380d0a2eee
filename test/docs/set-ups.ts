import { TRIE_LOG } from '../packaging/state-program.js';

/** What a snippet may take for granted, by the name its comment gives: TypeScript that is put before it. */
export const SET_UPS: Readonly<Record<string, string>> = {
  /** An answer of \`linea_getProof\` with what it is about, and the root that layer 1 has. */
  proof: `import { createInlineNode as createProver } from 'plumbline-l2/inline';
import type { Hex as ProofHex } from 'plumbline-l2/verify';
const prover = await createProver();
const address: ProofHex = '0x7e57c0de00000000000000000000000000007e57';
const slot: ProofHex = \`0x\${'2'.padStart(64, '0')}\`;
const answer = await prover.request({ method: 'linea_getProof', params: [address, [slot], 'latest'] });
const rootFromLayerOne = (await prover.l1.request({
  method: 'eth_call',
  params: [{ to: prover.info.rollupAddress!, data: \`0x8be745d1\${'0'.repeat(64)}\` }, 'latest'],
})) as ProofHex;
await prover.close();`,
  /** A block as a Besu node with the Shomei plugin tells it. */
  'trie log': `import { hexToBytes as bytesOf } from 'plumbline-l2/state';
const trieLog = bytesOf('${TRIE_LOG.encoded}');`,
  /** An account with a slot, its proof, and the block that changes both, with traces. */
  'traced blocks': `import { openState as openWhole } from 'plumbline-l2/state';
const address = new Uint8Array(20).fill(0x24);
const slot = new Uint8Array(32);
const [value, other] = [7, 9].map((byte) => new Uint8Array(32).fill(byte)) as [Uint8Array, Uint8Array];
const was = { nonce: 1n, balance: 5n };
const whole = await openWhole({ scheme: 'poseidon2' });
const stateRoot = whole.applyBlock(0, [
  { address, after: was, destroyed: false, slots: [{ key: slot, before: new Uint8Array(32), after: value }] },
]);
const answer = whole.prove(0, address, [slot]);
const { storageRoot } = whole.account(0, address)!;
const changes = [
  { address, before: was, after: { nonce: 2n, balance: 4n }, destroyed: false, slots: [{ key: slot, before: value, after: other }] },
];
const { traces: next } = whole.applyBlockTraced(1, changes);`,
  /** The kernel as a file, read as a program would. */
  'wasm file': `import { readFile } from 'node:fs/promises';
const wasm = await readFile(new URL(import.meta.resolve('plumbline-l2/kernel.wasm')));`,
};
