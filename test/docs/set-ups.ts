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
  params: [{ to: prover.info.rollupAddress, data: \`0x8be745d1\${'0'.repeat(64)}\` }, 'latest'],
})) as ProofHex;
await prover.close();`,
  /** The kernel as a file, read as a program would. */
  'wasm file': `import { readFile } from 'node:fs/promises';
const wasm = await readFile(new URL(import.meta.resolve('plumbline-l2/kernel.wasm')));`,
};
