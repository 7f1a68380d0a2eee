import { DEV_ACCOUNTS, type Hex, type PlumblineNode, TEST_TOKEN } from 'plumbline-l2';
import type { Hasher, HashScheme, LineaProofJson } from 'plumbline-l2/verify';
import { balanceSlot } from '../lib/balance-slot.js';
import { PageError } from '../lib/explain.js';
import type { Anatomy } from '../proofs/anatomy.js';
import type { Check } from '../proofs/checks.js';
import { loadVerifier } from '../proofs/examine.js';
import { layerOneOf, settledBlock, settledRoot } from '../state/layer-one.js';
import { settings } from '../state/settings.js';
import { branchOf, forge, type LieName, storageRootOf } from './lies.js';

/** A balance of the test token as a server proves it, and the root that layer 1 holds. */
export interface Proof {
  readonly scheme: HashScheme;
  readonly block: number;
  readonly slot: Hex;
  readonly root: Hex;
  readonly answer: LineaProofJson;
}

/** What came of checking it, or a forged copy of it. */
export interface Checked {
  readonly block: number;
  readonly root: Hex;
  /** As the server says, in the smallest unit. */
  readonly balance: bigint;
  readonly lie: LieName | undefined;
  readonly verified: boolean;
  readonly checks: readonly Check[];
  /** Of the token contract and of the slot. */
  readonly items: readonly [Anatomy, Anatomy];
  /** Of the token's balances, as its account in the answer has it. */
  readonly storageRoot: Hex;
  /** Hash of the balance that the server says. */
  readonly balanceHash: Hex;
  /** How many hashes the verifier made. */
  readonly hashes: number;
  readonly ms: number;
}

/** Asks a devnet for the token balance of account 1 at its newest final block, with a proof. */
export async function askForProof(node: PlumblineNode): Promise<Proof> {
  const { rollupAddress, hashScheme: scheme } = node.info as Required<typeof node.info>;
  const layerOne = layerOneOf(node, { ...settings.peek(), kind: 'devnet' })!;
  const block = await settledBlock(layerOne, rollupAddress);
  const root = await settledRoot(layerOne, rollupAddress, block);
  if (root === undefined) throw new PageError('LAYER_ONE', `Layer 1 holds no root of block ${block}`);
  const slot = balanceSlot(DEV_ACCOUNTS[1]!.address);
  const answer = (await node.request({
    method: 'linea_getProof',
    params: [TEST_TOKEN, [slot], `0x${block.toString(16)}`],
  })) as LineaProofJson;
  return { scheme, block, slot, root, answer };
}

/** Checks the answer against the root on layer 1, or what a lying server would have made of it. */
export async function check({ scheme, block, slot, root, answer }: Proof, lie: LieName | undefined): Promise<Checked> {
  const { verify, anatomy, checksOf, hasher } = await loadVerifier(scheme);
  await turn();
  const { hexToBytes, bytesToHex, verifyLineaProof } = verify;
  const said = lie === undefined ? answer : forge(answer, lie);
  const request = { address: hexToBytes(TEST_TOKEN), storageKeys: [hexToBytes(slot)], stateRoot: hexToBytes(root) };
  const counted = counting(hasher);
  const began = performance.now();
  const verdict = verifyLineaProof(counted.hasher, request, said);
  const ms = performance.now() - began;
  const { value } = branchOf(said);
  await turn();
  const token = anatomy(hasher, 'accountProof', said.accountProof);
  await turn();
  const account = anatomy(hasher, 'storageProofs[0]', said.storageProofs[0]!);
  await turn();
  return {
    ...{ block, root, lie, ms, verified: verdict.verified, hashes: counted.hashes() },
    balance: BigInt(value),
    storageRoot: storageRootOf(said),
    balanceHash: bytesToHex(hasher.hash(spread(scheme, hexToBytes(value)))),
    checks: checksOf(verdict, said),
    items: [token, account],
  };
}

/** Lets the page go on between two parts of the work. */
function turn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve));
}

/** Counts what a hasher hashes. */
function counting(hasher: Hasher): { readonly hasher: Hasher; readonly hashes: () => number } {
  let hashes = 0;
  const count = (digests: Uint8Array) => {
    hashes += digests.length / 32;
    return digests;
  };
  return {
    hashes: () => hashes,
    hasher: {
      scheme: hasher.scheme,
      hash: (input) => count(hasher.hash(input)),
      hashMany: (inputs, inputBytes) => count(hasher.hashMany(inputs, inputBytes)),
      compress: (state, block) => count(hasher.compress(state, block)),
      climb: (leaves, positions, siblings) => count(hasher.climb(leaves, positions, siblings)),
    },
  };
}

/** A word of 32 bytes as it is hashed (docs/spec/hashing.md 3). */
function spread(scheme: HashScheme, word: Uint8Array): Uint8Array {
  const input = new Uint8Array(64);
  if (scheme === 'mimc') {
    input.set(word.subarray(16), 16);
    input.set(word.subarray(0, 16), 48);
  } else {
    for (const [i, byte] of word.entries()) input[2 * i + (i % 2 === 0 ? 2 : 1)] = byte;
  }
  return input;
}
