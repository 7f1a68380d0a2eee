/*
 * The network of plumbline-l2/hardhat: a chain for each connection, fixtures, and the end of a connection. Prints what came of it as JSON.
 */
import { network } from 'hardhat';
import { fixture } from 'plumbline-l2/hardhat';

const first = await network.create('plumbline');
const second = await network.create('plumbline');
const { viem } = first;
const reader = await viem.getPublicClient();
let runs = 0;
const deployed = fixture(first.provider, async () => {
  runs++;
  return viem.deployContract('Counter', [7n]);
});
const counter = await deployed();
await counter.write.set([42n]);
const changed = await counter.read.number();
const same = (await deployed()) === counter;
const restored = await counter.read.number();
await counter.write.set([43n]);
await deployed();
const again = await counter.read.number();
const blocks = [await reader.getBlockNumber(), BigInt(await second.provider.request({ method: 'eth_blockNumber' }))];
const unknown = await first.provider.request({ method: 'no_such' }).catch(({ code }) => code);
await first.close();
await second.close();
const found = { runs, changed, same, restored, again, blocks, unknown };
console.log(`KIT ${JSON.stringify(found, (_, value) => (typeof value === 'bigint' ? Number(value) : value))}`);
