/** Keeps a zk state, applies two blocks to it, and proves and verifies an account. No node, no EVM, no network. */
import { bytesToHex, hexToBytes, loadHasher, openState, verifyLineaProof } from 'plumbline-l2/state';

const state = await openState({ scheme: 'poseidon2' });
const address = hexToBytes('0x2400000000000000000000000000000000000000');
const first = { nonce: 65n, balance: 835n };
const second = { nonce: 66n, balance: 100n };
state.applyBlock(0, [{ address, after: first, destroyed: false, slots: [] }]);
console.log(`block 0: ${bytesToHex(state.root())}`);
state.applyBlock(1, [{ address, before: first, after: second, destroyed: false, slots: [] }]);
console.log(`block 1: ${bytesToHex(state.root())}`);

const stateRoot = state.root();
const verdict = verifyLineaProof(
  await loadHasher('poseidon2'),
  { address, storageKeys: [], stateRoot },
  state.prove(1, address, []),
);
console.log(`verified: ${verdict.verified}, balance ${verdict.account.balance}`);

// A change that does not fit what the state holds changes nothing.
try {
  state.applyBlock(2, [{ address, before: first, after: second, destroyed: false, slots: [] }]);
} catch (error) {
  console.log(`${error.code}: the root is still ${bytesToHex(state.root())}`);
}
