import { expect, test } from 'vitest';
import { TEST_TOKEN as token } from '../../src/chain/devnet/state/dev-accounts.js';
import type { Hex } from '../../src/primitives/hex.js';
import { accountAt, stranger, word } from '../support/dev-node.js';
import { lightScene } from '../support/light-node.js';
import type { SeenCall } from '../support/mock-chain.js';
import { transferCalldata } from '../support/sign.js';

interface ProofJson {
  readonly accountProof: readonly Hex[];
  readonly codeHash: Hex;
  readonly balance: Hex;
  readonly nonce: Hex;
  storageProof: { readonly key: Hex }[];
}

const EMPTY_CODE = '0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470';

/**
 * Proofs as Besu gives them, by its source (hyperledger/besu 01884ba WorldStateProofProvider, 0ae725c GetProofResult): slots
 * in ascending order of their keys, each once, keys without leading zeros; of a missing account none, whatever was asked.
 */
function asBesu({ method }: SeenCall, result: unknown): unknown {
  if (method !== 'eth_getProof') return result;
  const proof = result as ProofJson;
  const isMissing = proof.codeHash === EMPTY_CODE && BigInt(proof.balance) === 0n && BigInt(proof.nonce) === 0n;
  const byKey = new Map(proof.storageProof.map((slot) => [BigInt(slot.key), slot]));
  const ascending = [...byKey].sort(([a], [b]) => (a < b ? -1 : 1));
  proof.storageProof = ascending.map(([key, slot]) => ({ ...slot, key: `0x${key.toString(16)}` as Hex }));
  if (isMissing) proof.storageProof = [];
  return proof;
}

const transfer = { from: accountAt(0), to: token, data: transferCalldata(accountAt(1), 5n) };

test.each<[string, ...unknown[]]>([
  ['eth_getProof', token, [word(9n), '0x2', '0x0', '0x2'], 'latest'],
  ['eth_getProof', stranger('99'), ['0x2', '0x1'], 'latest'],
  ['eth_getStorageAt', stranger('99'), '0x2', 'latest'],
  ['eth_getStorageValues', { [token]: ['0x3', '0x2'], [stranger('99')]: ['0x1'] }, 'latest'],
  ['eth_call', { to: token, data: `0x70a08231${word(BigInt(accountAt(1))).slice(2)}` }, 'latest'],
  ['linea_estimateGas', transfer],
  ['eth_createAccessList', transfer, 'latest'],
])('%s by the proofs of Besu', async (method, ...params) => {
  const { dev, ask, endpoints } = await lightScene({ endpoints: [{ tamper: asBesu }, { tamper: asBesu }] });
  await dev.transfer(0, { nonce: 0 });
  expect(await ask(method, ...params)).toEqual(await dev.ask(method, ...params));
  expect(endpoints[0]!.seen.flat().some((call) => call.method === 'eth_getProof')).toBe(true);
});

test('a proof of no nodes that is null, as Erigon has it of an account that is not there', async () => {
  const tamper = ({ method }: SeenCall, result: unknown) => {
    if (method === 'eth_getProof') for (const slot of (result as ProofJson).storageProof) noNodes(slot);
    return result;
  };
  const { dev, ask } = await lightScene({ endpoints: [{ tamper }] });
  const question = ['eth_getProof', stranger('99'), ['0x2', '0x1'], 'latest'] as const;
  expect(await ask(...question)).toEqual(await dev.ask(...question));
  await expect(ask('eth_getStorageAt', token, '0x2', 'latest')).rejects.toMatchObject({ message: /NODE_MISSING/ });
});

const noNodes = (slot: object) => Object.assign(slot, { proof: null });

test('proofs of slots that an execution reads in any order of keys are accepted', async () => {
  const asked: string[][] = [];
  const tamper = (call: SeenCall, result: unknown) => {
    if (call.method === 'eth_getProof') asked.push(call.params[1] as string[]);
    return asBesu(call, result);
  };
  const mock = { tamper, missing: ['eth_createAccessList'] };
  const { dev, ask } = await lightScene({ endpoints: [mock, mock] });
  for (let i = 1; i < 6; i++) {
    const call = { ...transfer, data: transferCalldata(accountAt(i), 5n) };
    expect(await ask('linea_estimateGas', call)).toEqual(await dev.ask('linea_estimateGas', call));
  }
  expect(asked.some((keys) => keys.join() !== [...keys].sort().join())).toBe(true);
});
