import { describe, expect, test } from 'vitest';
import type { Block } from '../../src/chain/block.js';
import type { Chain } from '../../src/chain/chain.js';
import { LightBlock } from '../../src/chain/light/heads/light-block.js';
import type { BlockHeader } from '../../src/ethereum/header.js';
import * as uncles from '../../src/rpc/methods/blocks.js';
import type { RpcContext } from '../../src/rpc/methods/context.js';

const HASH = new Uint8Array(32).fill(7);
const HEX = `0x${'07'.repeat(32)}`;
/** keccak256 of the RLP of an empty list, from the yellow paper; and of no list at all. */
const NONE = '1dcc4de8dec75d7aab85b567b6ccd41ad312451b948a7413f0a142fd40d49347';
const SOME = 'c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470';

const methods = [
  [uncles.eth_getUncleCountByBlockNumber, ['0x3'], '0x0'],
  [uncles.eth_getUncleCountByBlockHash, [HEX], '0x0'],
  [uncles.eth_getUncleByBlockNumberAndIndex, ['0x3', '0x0'], null],
  [uncles.eth_getUncleByBlockHashAndIndex, [HEX, '0x0'], null],
] as const;

function contextWith(block: Block | undefined): RpcContext {
  return { chain: { block: async () => block } as unknown as Chain } as RpcContext;
}
const lightWith = (sha3Uncles: string) =>
  new LightBlock({ number: 3, sha3Uncles: Buffer.from(sha3Uncles, 'hex') } as unknown as BlockHeader, HASH);

describe.each(methods)('%o', ({ name, handle }, params, none) => {
  test(`${name}: a header without uncles answers`, async () => {
    expect(await handle(contextWith(lightWith(NONE)), params, {})).toBe(none);
  });

  test(`${name}: a block that is not there`, async () => {
    expect(await handle(contextWith(undefined), params, {})).toBeNull();
  });

  test(`${name}: a header that names uncles, whose number a light node does not know`, async () => {
    const refused = { code: 'ANSWER_REFUSED', details: { check: 'UNCLES_MISMATCH', what: 'uncles of block 3' } };
    await expect(async () => handle(contextWith(lightWith(SOME)), params, {})).rejects.toMatchObject(refused);
  });
});
