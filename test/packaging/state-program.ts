/**
 * A trie log of one block on the empty Poseidon2 state, and the state root after it: block 0 of the generated chain 6009,
 * whose roots were made and checked by other code than ours here.
 */
export const TRIE_LOG = {
  encoded:
    '0xf9015da0badf8872a9a37097bc5dec1e9e6b4f43eeec532ae5b70e0421b79c6b27b7c1c780f867940805b849745821573bd45ef688f141e508af8de680f84e80f84a018601cacb944de6a056e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421a0c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a4708080f863947dca9cce0bc2faac6ebd04b2484e1c81ad5fa4f680f84a80f8460282faf1a056e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421a0c5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a4708080f86b94d20c1a89b75eee0e787e32f72a8192591f29572aca80876d6e2e8f4b00e780f84880f8440120a056e81f171bcc55a6ff8345e692c0f86e5b48e01b996cadc001622fb5e363b421a0e91bea8d0e2ef1c17e41f527e3a391f6da85f897c81c3d9fd1dbe76e22ac8edf8080',
  root: '0x559b57065c18de3f0c5a116757c7f3a45271ed3c5413bec032e7f30275e2081e',
};

/** What each consumer of `plumbline-l2/state` and `plumbline-l2/hash` runs, given a place for pages. */
export const STATE_PROGRAM = `import { hashAddress, loadHasher as loadHashes } from 'plumbline-l2/hash';
import {
  bytesToHex, checkTraces, decodeTrieLog, hexToBytes, KeyFollower, loadHasher, openPagedState, openState, verifyLineaProof,
  WitnessTrie,
} from 'plumbline-l2/state';

const address = hexToBytes('0x2400000000000000000000000000000000000000');
const [first, second] = [{ nonce: 65n, balance: 835n }, { nonce: 65n, balance: 100n }];

async function one(scheme, pages) {
  const hasher = await loadHasher(scheme);
  const state = await openState({ scheme, pages });
  const parent = state.root();
  const created = state.applyBlockTraced(0, [{ address, after: first, destroyed: false, slots: [] }]);
  await pages.commit(state.takePages());
  const again = await openState({ scheme, pages, check: 'full' });
  const changed = again.applyBlockTraced(1, [{ address, before: first, after: second, destroyed: false, slots: [] }]);
  await pages.commit(again.takePages());
  const stateRoot = changed.root;
  const answer = await (await openPagedState(hasher, pages)).prove(address, []);
  const verdict = verifyLineaProof(hasher, { address, storageKeys: [], stateRoot }, answer);
  const follower = new KeyFollower(hasher, WitnessTrie.empty(hasher), [{ address, slots: [] }]);
  const blocks = [created.traces, changed.traces];
  return {
    roots: [created.root, changed.root].map(bytesToHex),
    checked: checkTraces(hasher, parent, blocks, { order: true }).blockRoots.map(bytesToHex),
    followed: blocks.map((traces) => bytesToHex(follower.follow(traces))),
    balances: [verdict.account.balance, follower.account(address).balance].map(String),
    zeros: bytesToHex((await loadHashes(scheme)).hash(new Uint8Array(32))),
    sameKey: bytesToHex(hashAddress(hasher, address)) === bytesToHex(hashAddress(await loadHashes(scheme), address)),
  };
}

export async function program(openPages, trieLog) {
  const state = await openState({ scheme: 'poseidon2' });
  const { blockNumber, changes } = decodeTrieLog(hexToBytes(trieLog));
  return {
    logged: bytesToHex(state.applyBlock(blockNumber, changes)),
    poseidon2: await one('poseidon2', await openPages('poseidon2')),
    mimc: await one('mimc', await openPages('mimc')),
  };
}
`;

const answers = (first: string, second: string, zeros: string) => ({
  roots: [first, second],
  checked: [first, second],
  followed: [first, second],
  balances: ['100', '100'],
  zeros,
  sameKey: true,
});

/**
 * What has to come of it: the roots of "one account, then its balance becomes 100" in WorldStateStateRootTest.java of Shomei, in
 * its releases 3.2.4 (poseidon2) and 2.3.0 (mimc). The hash of 32 zero bytes is the code hash of its accounts without code.
 */
export const STATE_ANSWERS = {
  logged: TRIE_LOG.root,
  poseidon2: answers(
    '0x6b5d2e111a55e55826396df03ac3d0055dc4a88671edbcc8274db3f0117e0f97',
    '0x2272f54e6eaac537629f136b4c6080c635db2b1135c4f94f4c34fff146c58471',
    '0x0656ab853b3f52840362a8177e217b630c3f876b11e848365145aa24220647fc',
  ),
  mimc: answers(
    '0x04c3c6de7195a187bc89fb4f8b68e93c7d675f1eed585b00d0e1e6241a321f86',
    '0x088b874d3adbf9ab55764d3661ffeeee82f93e621dcc47d9bb2f4dc7aee59648',
    '0x0134373b65f439c874734ff51ea349327c140cde2e47a933146e6f9f2ad8eb17',
  ),
};
