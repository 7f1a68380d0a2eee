import type { RequestArguments } from '../../src/hosts/provider/provider.js';
import type { Eip1193Provider } from '../../src/upstream/json-rpc.js';

/** A devnet's layer 1, and what that leaves out: blocks by their hash. */
export function withBlocksByHash(layerOne: Eip1193Provider): Eip1193Provider {
  const blockAt = (number: string) => layerOne.request({ method: 'eth_getBlockByNumber', params: [number, false] });
  return {
    async request(asked: RequestArguments) {
      if (asked.method !== 'eth_getBlockByHash') return layerOne.request(asked);
      const [hash] = asked.params as readonly string[];
      let block = (await blockAt('latest')) as { hash: string; number: string } | null;
      while (block !== null && block.hash !== hash) {
        const below = Number(block.number) - 1;
        block = below < 0 ? null : ((await blockAt(`0x${below.toString(16)}`)) as typeof block);
      }
      return block;
    },
  };
}
