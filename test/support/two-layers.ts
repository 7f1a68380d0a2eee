import { onTestFinished } from 'vitest';
import type { LightChainOptions } from '../../src/chain/light/light-options.js';
import { devnet } from '../../src/networks/devnet.js';
import type { Network } from '../../src/networks/network.js';
import { bytesToHex, type Hex } from '../../src/primitives/hex.js';
import { anchorSlots } from '../../src/proof/l1-anchor.js';
import { attestedScene } from './attested-chain.js';
import { accountAt, type DevNode, devNode, stranger, word } from './dev-node.js';
import { serveMock } from './mock-chain.js';

const { rollup } = devnet();

/**
 * A rollup, and the layer 1 that holds its contract: slots in an account, which the test sets, since nothing is submitted. At the finalized
 * block of layer 1, block 3 of the rollup is its newest; its state proves the hashes up to block 2.
 */
export async function twoLayers(scene: Omit<Parameters<typeof attestedScene>[0], 'prepare'> = {}) {
  const l2 = await devNode();
  for (let i = 0; i < 7; i++)
    await l2.ask('eth_sendTransaction', { from: accountAt(i), to: stranger('cc'), value: '0x1' });

  /** Has the contract on layer 1 say that a block of the rollup is final, with the root that the rollup's own layer 1 has for it. */
  async function finalize(l1: DevNode, block: number): Promise<void> {
    const data = `0x8be745d1${block.toString(16).padStart(64, '0')}`;
    const root = await l2.node.l1.request({
      method: 'eth_call',
      params: [{ to: rollup.address, data }, 'latest'],
    } as never);
    const [current, rootOf] = anchorSlots(rollup, block).map(bytesToHex) as [Hex, Hex];
    await l1.ask('anvil_setStorageAt', rollup.address, current, word(BigInt(block)));
    await l1.ask('anvil_setStorageAt', rollup.address, rootOf, root);
  }

  const l1 = await attestedScene({
    ...scene,
    async prepare(dev) {
      await dev.ask('anvil_setBalance', rollup.address, '0x1');
      await finalize(dev, 3);
    },
  });
  const network: Network = { ...devnet(), name: 'own rollup', layerOne: l1.network.layerOne! };
  const endpoint = await serveMock(l2.node);
  onTestFinished(() => endpoint.close());
  const chains = [
    { kind: 'light', network, endpoints: [endpoint.url] },
    {
      kind: 'light',
      network: l1.network,
      endpoints: l1.endpoints.map(({ url }) => url),
      layerOne: { consensus: l1.servers.map(({ url }) => url), checkpoint: { root: bytesToHex(l1.genesis.root) } },
    },
  ] as const satisfies readonly LightChainOptions[];
  return { l2, l1, network, endpoint, chains, finalize };
}
