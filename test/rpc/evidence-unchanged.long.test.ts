import { expect, test } from 'vitest';
import type { EvidenceBundle, EvidenceClaim } from '../../src/evidence/evidence-bundle.js';
import { verifyEvidence } from '../../src/evidence/verify-evidence.js';
import { devnet } from '../../src/networks/devnet.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { ONE_STORE, STORING } from '../support/access-list-scene.js';
import type { ListJson } from '../support/amsterdam.js';
import { accountAt, word } from '../support/dev-node.js';
import { settledScene } from '../support/settled-scene.js';

const network = devnet({ hardfork: 'amsterdam' });

/** Slot 5 is set to 9 in block 3, slot 6 changes in each block up to 7. The newest finalized block is 10. */
async function scene() {
  const made = await settledScene(1, { chain: { kind: 'devnet', network, mining: 'manual' } });
  const { dev } = made;
  await dev.ask('anvil_setCode', ONE_STORE, STORING);
  await dev.ask('evm_mine');
  const store = async (key: bigint, value: bigint) => {
    const data = `0x${word(key).slice(2)}${word(value).slice(2)}`;
    await dev.ask('eth_sendTransaction', { from: accountAt(0), to: ONE_STORE, data, gas: '0x7a120' });
  };
  await store(5n, 9n);
  await dev.ask('evm_mine');
  for (let block = 4; block <= 7; block++) {
    await store(6n, BigInt(block));
    await dev.ask('evm_mine');
  }
  await dev.ask('anvil_mine', '0x5');
  const root = await made.checkpoint();
  const trust = { network, checkpoint: hexToBytes(root), now: made.clock.now() };
  const open = async (profile = network) => (await made.open({ checkpoint: { root } }, { network: profile })).node;
  return { ...made, open, trust };
}

const claimOf = (key: bigint, from: number, block = 9): EvidenceClaim => ({
  block,
  unchanged: { address: ONE_STORE, key: word(key), from },
});

test('a bundle shows that a slot is unchanged between two blocks, and its value', async () => {
  const { dev, open, trust } = await scene();
  const node = await open();
  for (const [key, from, block] of [
    [5n, 3, 9],
    [6n, 7, 9],
    [77n, 4, 4],
  ] as const) {
    const bundle = JSON.parse(JSON.stringify(await node.exportEvidence(claimOf(key, from, block)))) as EvidenceBundle;
    expect(bundle.history!.blocks).toHaveLength(block - from);
    const verdict = await verifyEvidence(bundle, trust);
    if (!verdict.verified) throw new Error(verdict.message);
    for (const at of [from, block]) {
      const value = await dev.ask<Hex>('eth_getStorageAt', ONE_STORE, word(key), `0x${at.toString(16)}`);
      expect(bytesToHex(verdict.value!)).toBe(value);
    }
  }
  await expect(node.exportEvidence(claimOf(6n, 5))).rejects.toThrow(
    /claim.unchanged: is not so: block 6 changes the slot/,
  );
  const refusals: [unknown, RegExp][] = [
    [claimOf(5n, 10), /claim.unchanged.from: must be the number of a block, 0 to 1024 below/],
    [{ block: 9, unchanged: { address: ONE_STORE, key: word(5n) } }, /claim.unchanged.from/],
    [{ address: ONE_STORE, unchanged: {} }, /claim.unchanged: needs a block/],
  ];
  for (const [claim, message] of refusals)
    await expect(node.exportEvidence(claim as EvidenceClaim)).rejects.toThrow(message);
});

test('a damaged history is refused by its link, and so is a profile whose lists are not complete', async () => {
  const { open, trust } = await scene();
  const bundle = await (await open()).exportEvidence(claimOf(5n, 3));
  type History = {
    header: unknown;
    state: { storageProof: { value: Hex }[] };
    blocks: { header: { stateRoot: Hex }; list: ListJson }[];
  };
  const damages: [string, (history: History) => void, RegExp, string][] = [
    ['a list', ({ blocks }) => blocks[2]!.list.pop(), /HASH_MISMATCH/, 'history.blocks[2].list'],
    [
      'a header',
      ({ blocks }) => {
        blocks[1]!.header.stateRoot = word(1n);
      },
      /HASH_MISMATCH/,
      'history.blocks[1].header.hash',
    ],
    ['another order', ({ blocks }) => void blocks.reverse(), /OTHER_BLOCK|MISMATCH/, 'history.blocks[5].header'],
    [
      'the first header',
      (history) => {
        history.header = history.blocks[0]!.header;
      },
      /OTHER_BLOCK|MISMATCH/,
      'history.header',
    ],
    [
      'the value',
      ({ state }) => {
        state.storageProof[0]!.value = '0x8';
      },
      /VALUE_MISMATCH/,
      'history.state',
    ],
  ];
  for (const [name, damage, reason, at] of damages) {
    const damaged = structuredClone(bundle);
    damage(damaged.history as never);
    const verdict = await verifyEvidence(damaged, trust);
    expect(verdict, name).toMatchObject({ verified: false, link: 'history', reason: expect.stringMatching(reason) });
    expect((verdict as { at: string }).at, name).toContain(at);
  }
  const { history: _, ...without } = bundle;
  const short = { ...bundle, history: { ...bundle.history!, blocks: bundle.history!.blocks.slice(1) } };
  const other = { ...bundle, claim: claimOf(6n, 3) };
  for (const malformed of [without, short, { ...bundle, claim: { block: 9 } }])
    await expect(verifyEvidence(malformed, trust)).rejects.toMatchObject({ code: 'PROOF_MALFORMED' });
  expect(await verifyEvidence(other, trust)).toMatchObject({ verified: false, link: 'history' });
  const { accessLists: unsaid, ...incomplete } = network;
  expect(unsaid).toBe('complete');
  expect(await verifyEvidence(bundle, { ...trust, network: incomplete })).toMatchObject({
    ...{ verified: false, link: 'history', reason: 'LISTS_NOT_COMPLETE' },
  });
  const node = await open(incomplete);
  await expect(node.exportEvidence(claimOf(5n, 3))).rejects.toMatchObject({ reason: 'METHOD_NOT_ENABLED' });
});
