/** A fresh process that imports the package by its name, opens a node and estimates once: `KIND [ENDPOINT…]`. */
import { PAGE_CALL } from '../pages/page-call.js';
import { leaveRun } from './process-run.js';

type Inline = typeof import('../../src/hosts/opening/inline.js');
type Index = typeof import('../../src/index.js');

const [kind, ...endpoints] = process.argv.slice(2);
const { createInlineNode } = (await import(import.meta.resolve('plumbline-l2/inline'))) as Inline;

async function lightChain() {
  const { devnet } = (await import(import.meta.resolve('plumbline-l2'))) as Index;
  return { kind: 'light', network: devnet(), endpoints, level: 'linked' } as const;
}

const node = await createInlineNode(kind === 'light' ? { chain: await lightChain() } : {});
const { gasLimit } = (await node.request({ method: 'linea_estimateGas', params: [PAGE_CALL] })) as { gasLimit: string };
leaveRun(gasLimit);
