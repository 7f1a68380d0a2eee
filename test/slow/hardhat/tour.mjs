/*
 * Calls the viem plugin and every network helper on the network that TOUR_NETWORK names, and prints what came of it as JSON.
 */
import { network } from 'hardhat';
import { pad, parseEther } from 'viem';

const STRANGER = '0x00000000000000000000000000000000000000e1';
const { viem, networkHelpers: helpers } = await network.create(process.env.TOUR_NETWORK);
const reader = await viem.getPublicClient();
const [owner, other] = await viem.getWalletClients();
const tester = await viem.getTestClient({ mode: 'hardhat' });
const newest = () => reader.getBlock();
const found = {};

/** Mines the block after. */
async function next() {
  await helpers.mine();
  return newest();
}

const steps = {
  async deployContract() {
    const counter = await viem.deployContract('Counter', [7n]);
    found.counter = counter;
    return [counter.address, await counter.read.number()];
  },
  async sendDeploymentTransaction() {
    const { contract, deploymentTransaction } = await viem.sendDeploymentTransaction('Counter', [8n]);
    return [contract.address, deploymentTransaction.nonce];
  },
  async getContractAt() {
    const same = await viem.getContractAt('Counter', found.counter.address);
    await same.write.set([42n]);
    return [await same.read.number(), (await same.getEvents.Set()).map(({ args }) => args)];
  },
  async refused() {
    const error = await found.counter.write.set([5000n]).catch((caught) => caught);
    return [/TooBig\(uint256 value\)\s*\((\d+)\)/.exec(error.message)?.[1]];
  },
  async getWalletClient() {
    const wallet = await viem.getWalletClient(other.account.address);
    const hash = await wallet.sendTransaction({ to: STRANGER, value: 3n });
    return [(await reader.waitForTransactionReceipt({ hash })).status, await reader.getBalance({ address: STRANGER })];
  },
  async testClient() {
    const { number } = await newest();
    await tester.mine({ blocks: 2 });
    return (await newest()).number - number;
  },
  async dropTransaction() {
    await tester.setAutomine(false);
    const hash = await owner.sendTransaction({ to: STRANGER, value: 1n });
    const dropped = await helpers.dropTransaction(hash);
    await tester.setAutomine(true);
    return dropped;
  },
  async setStorageAt() {
    await helpers.setStorageAt(found.counter.address, 0, pad('0x63'));
    return found.counter.read.number();
  },
  getStorageAt: () => helpers.getStorageAt(found.counter.address, 0),
  async impersonateAccount() {
    await helpers.setBalance(STRANGER, parseEther('5'));
    await helpers.impersonateAccount(STRANGER);
    const wallet = await viem.getWalletClient(STRANGER);
    const hash = await wallet.sendTransaction({ to: owner.account.address, value: 1n });
    return (await reader.waitForTransactionReceipt({ hash })).from;
  },
  async stopImpersonatingAccount() {
    await helpers.stopImpersonatingAccount(STRANGER);
    const wallet = await viem.getWalletClient(STRANGER);
    return wallet.sendTransaction({ to: owner.account.address, value: 1n }).then(
      () => 'sent',
      () => 'refused',
    );
  },
  async loadFixture() {
    const { address } = found.counter;
    async function fixture() {
      await found.counter.write.set([1n]);
      return address;
    }
    await helpers.loadFixture(fixture);
    await found.counter.write.set([2n]);
    await helpers.loadFixture(fixture);
    return found.counter.read.number();
  },
  async clearSnapshots() {
    return (await helpers.clearSnapshots()) ?? 'none left';
  },
  async mine() {
    const { number, timestamp } = await newest();
    await helpers.mine(4, { interval: 20 });
    const block = await newest();
    return [block.number - number, block.timestamp - timestamp >= 60n];
  },
  async mineUpTo() {
    const { number } = await newest();
    await helpers.mineUpTo(number + 7n);
    return (await newest()).number - number;
  },
  async setBalance() {
    await helpers.setBalance(STRANGER, 1234);
    return reader.getBalance({ address: STRANGER });
  },
  async setBlockGasLimit() {
    await helpers.setBlockGasLimit(50_000_000);
    return (await next()).gasLimit;
  },
  async setCode() {
    await helpers.setCode(STRANGER, '0x60ff');
    return reader.getCode({ address: STRANGER });
  },
  async setCoinbase() {
    await helpers.setCoinbase(STRANGER);
    return (await next()).miner;
  },
  async setNextBlockBaseFeePerGas() {
    await helpers.setNextBlockBaseFeePerGas(12_345);
    return (await next()).baseFeePerGas;
  },
  async setNonce() {
    await helpers.setNonce(STRANGER, 9);
    return reader.getTransactionCount({ address: STRANGER });
  },
  async setPrevRandao() {
    await helpers.setPrevRandao(99);
    return (await next()).mixHash;
  },
  async takeSnapshot() {
    const snapshot = await helpers.takeSnapshot();
    await helpers.setBalance(STRANGER, 1);
    await helpers.mine();
    await snapshot.restore();
    return reader.getBalance({ address: STRANGER });
  },
  async 'time.increase'() {
    const before = await helpers.time.latest();
    return (await helpers.time.increase(500)) - before >= 500;
  },
  async 'time.increaseTo'() {
    const to = (await helpers.time.latest()) + 1000;
    await helpers.time.increaseTo(to);
    return (await helpers.time.latest()) - to;
  },
  async 'time.latest'() {
    return Number((await newest()).timestamp) - (await helpers.time.latest());
  },
  async 'time.latestBlock'() {
    return Number((await newest()).number) - (await helpers.time.latestBlock());
  },
  async 'time.setNextBlockTimestamp'() {
    const at = (await helpers.time.latest()) + 77;
    await helpers.time.setNextBlockTimestamp(at);
    return Number((await next()).timestamp) - at;
  },
  'time.duration': () => helpers.time.duration.days(2),
};

const results = {};
for (const [name, step] of Object.entries(steps)) {
  try {
    results[name] = await step();
  } catch (error) {
    results[name] = `failed: ${error.message}`;
  }
}
const names = (from, before = '') =>
  Object.entries(from)
    .filter(([, member]) => typeof member === 'function')
    .map(([name]) => `${before}${name}`);
const stack = await found.counter.write.set([5000n]).catch((error) => {
  const texts = [];
  for (let cause = error; cause !== undefined; cause = cause.cause) texts.push(cause.stack);
  return texts.join('\n');
});
const all = {
  results,
  helpers: [...names(helpers), ...names(helpers.time, 'time.')],
  solidityLines: /Counter\.sol:\d+/.exec(stack)?.[0] ?? null,
};
console.log(`TOUR ${JSON.stringify(all, (_, value) => (typeof value === 'bigint' ? `${value}n` : value))}`);
