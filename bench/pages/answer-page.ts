/** A light node in the package's own worker, and one proved balance. The query of the page's address names the chain. */
import { createNode, devnet, type LightChainOptions, layerOneOfDevnet } from '../../src/index.js';
import type { Hex } from '../../src/primitives/hex.js';
import { leaveBalance } from './page-call.js';

const query = new URLSearchParams(location.search);
const [url, root, address] = ['url', 'root', 'address'].map((name) => query.get(name)!) as [string, Hex, Hex];
const layerOne = { consensus: [`${url}/l1`], checkpoint: { root } };
const light = { kind: 'light' } as const;

const CHAINS: Readonly<Record<string, readonly [LightChainOptions, 'latest' | 'finalized']>> = {
  rollup: [{ ...light, network: devnet(), endpoints: [url] }, 'latest'],
  settled: [
    { ...light, network: devnet(), endpoints: [url], layerOne: { ...layerOne, execution: [`${url}/l1`] } },
    'finalized',
  ],
  'layer-one': [{ ...light, network: layerOneOfDevnet(), endpoints: [`${url}/l1`], layerOne }, 'finalized'],
};

const [chain, block] = CHAINS[query.get('chain')!]!;
const node = await createNode({ chain });
let level: string | undefined;
node.on('answer', (report) => {
  level = report.level;
});
const balance = await node.request({ method: 'eth_getBalance', params: [address, block] });
leaveBalance({ balance, level });
