import { BrowserProvider, type Eip1193Provider, EnsPlugin, Network } from 'ethers';
import { expect, test } from 'vitest';
import { devnet } from '../../src/networks/devnet.js';
import type { Hex } from '../../src/primitives/hex.js';
import { devNode, stranger } from '../support/dev-node.js';
import { deployEns, ENS } from '../support/ens-contracts.js';

/** ethers resolves names by calls of its own, from the same registry. */
test('a name and an address are to ethers what they are to the node', async () => {
  const network = { ...devnet(), ens: { registry: ENS.registry } };
  const { node, ask } = await devNode({ chain: { kind: 'devnet', network } });
  const ens = await deployEns(ask);
  const known = new Network('devnet', network.chainId);
  known.attachPlugin(new EnsPlugin(ENS.registry));
  const ethers = new BrowserProvider(node as unknown as Eip1193Provider, known, {
    cacheTimeout: -1,
    staticNetwork: known,
  });
  const [alice, bob] = [stranger('a1'), stranger('b0')];
  await ens.address('alice.eth', alice);
  await ens.reverse(alice, 'alice.eth');
  await ens.reverse(bob, 'alice.eth');
  await ens.resolver('wild.eth', 'wildcard');
  await ens.resolver('empty.eth', 'records');

  const found: (Hex | null)[] = [];
  for (const name of [
    'alice.eth',
    'Alice.ETH',
    'bob.wild.eth',
    'ein.töst.wild.eth',
    'sub.alice.eth',
    'none.eth',
    'empty.eth',
  ]) {
    const own = await node.resolveName(name);
    const address = own.status === 'resolved' ? own.address : null;
    // It does not normalise names by itself.
    expect((await ethers.resolveName(own.name))?.toLowerCase() ?? null, name).toBe(address);
    found.push(address);
  }
  expect(found.map((address) => address !== null)).toEqual([true, true, true, true, false, false, false]);

  const names: (string | null)[] = [];
  for (const address of [alice, bob, stranger('c0')]) {
    const own = await node.lookupAddress(address);
    const name = own.status === 'found' ? own.name : null;
    expect(await ethers.lookupAddress(address)).toBe(name);
    names.push(name);
  }
  expect(names).toEqual(['alice.eth', null, null]);
  ethers.destroy();
});
