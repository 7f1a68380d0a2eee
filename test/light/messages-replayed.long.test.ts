import { keccak256 } from 'viem';
import { describe, expect, test } from 'vitest';
import type { Hex } from '../../src/primitives/hex.js';
import { fixtureJson, hasFixture } from '../support/fixtures.js';
import { MESSAGE_SERVICE, messageRecord, messageScene, record } from '../support/message-scene.js';

/*
 * Finalizations of the production contracts: their logs are replayed on a rollup, their roots are put on layer 1. What a claim has to be
 * stands in the fixture, and the production verifier has taken it.
 */

interface ReplayedLog {
  readonly address: Hex;
  readonly topics: readonly Hex[];
  readonly data: Hex;
  readonly blockNumber: number;
}

interface ReplayedMessage {
  readonly hash: Hex;
  readonly block: number;
  readonly from: Hex;
  readonly to: Hex;
  readonly fee: string;
  readonly value: string;
  readonly nonce: string;
  readonly data: Hex;
}

interface Replayed {
  readonly id: string;
  readonly depth: number;
  readonly firstBlock: number;
  readonly lastBlock: number;
  readonly roots: readonly Hex[];
  readonly messages: readonly ReplayedMessage[];
  /** Left out of the larger ones. */
  readonly logs?: readonly ReplayedLog[];
  readonly proofs: readonly {
    readonly leaf: number;
    readonly leafIndex: number;
    readonly root: Hex;
    readonly siblings: readonly Hex[];
    readonly feeRecipient: Hex;
    readonly claimCalldataHash: Hex;
  }[];
}

interface Trees {
  readonly environment: { readonly layerTwo: { readonly messageService: Hex } };
  readonly finalizations: readonly Replayed[];
}

const FILE = 'messages/trees.json';
const IDS = [
  '03-n2-d5',
  '06-n33-d5',
  '07-n100-d5',
  '09-n20-d3',
  '10-n300-d8',
  '11-n3-d1',
  '12-n40-d10',
  '15-n3-d32',
  '17-n6-d5',
];
/** Most records in one transaction. */
const AT_ONCE = 8;

/** Transactions of each block. The service is where the scene has it, contracts that look the same are where they were. */
function blocksOf({ firstBlock, lastBlock, logs, messages }: Replayed, service: Hex) {
  const all =
    logs?.map((log) => ({ ...log, text: record(log.topics, log.data) })) ??
    messages.map((one) => ({
      address: service,
      topics: [1, 2, 3, 4],
      blockNumber: one.block,
      text: messageRecord(
        { ...one, fee: BigInt(one.fee), value: BigInt(one.value), nonce: BigInt(one.nonce) },
        one.hash,
      ),
    }));
  return Array.from({ length: lastBlock - firstBlock + 1 }, (_, i) => {
    const transactions: { at: Hex; records: Hex[] }[] = [];
    for (const { address, topics, text } of all.filter(({ blockNumber }) => blockNumber === firstBlock + i)) {
      if (topics.length !== 4) continue;
      const at = address === service ? MESSAGE_SERVICE : address;
      if (transactions.at(-1)?.at !== at || transactions.at(-1)!.records.length === AT_ONCE)
        transactions.push({ at, records: [] });
      transactions.at(-1)!.records.push(text);
    }
    return transactions;
  });
}

describe.skipIf(!hasFixture(FILE))('claims of replayed finalizations are those of the production contracts', () => {
  test.each(IDS)('%s', async (id) => {
    const { environment, finalizations } = fixtureJson<Trees>(FILE);
    const own = finalizations.find((one) => one.id === id)!;
    const { firstBlock, lastBlock, roots, depth, messages, proofs } = own;
    const { open } = await messageScene(blocksOf(own, environment.layerTwo.messageService), [
      { first: 1, last: lastBlock - firstBlock + 1, roots, anchored: roots, depth },
    ]);
    const node = await open();
    expect(proofs.length).toBeGreaterThan(0);
    for (const { leaf, leafIndex, root, siblings, feeRecipient, claimCalldataHash } of proofs) {
      const { hash, block, nonce } = messages[leaf]!;
      const claim = await node.prepareClaim(hash, { fromBlock: block - firstBlock + 1, feeRecipient });
      expect(claim, hash).toMatchObject({
        status: 'anchored',
        message: { hash, nonce: `0x${BigInt(nonce).toString(16)}` },
        ...{ leafIndex, root, siblings, depth },
      });
      if ('transaction' in claim) expect(keccak256(claim.transaction.data)).toBe(claimCalldataHash);
    }
  });
});
