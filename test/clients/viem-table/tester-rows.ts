import { createWalletClient, custom, type Hex, pad, parseEther } from 'viem';
import type { Row } from './public-rows.js';
import { FEES, receiver, type Scene, shapeOf } from './scene.js';
import type { Expected } from './wallet-rows.js';

const STRANGER = '0x00000000000000000000000000000000000000e1';
const OTHER = '0x00000000000000000000000000000000000000e2';
const call = { ...FEES, to: receiver, value: 1n } as const;

const newest = ({ reader }: Scene) => reader.getBlock();
/** Mines a block. @returns it */
async function next(scene: Scene) {
  await scene.tester.mine({ blocks: 1 });
  return newest(scene);
}

/** Sends with automine off, and looks. */
async function pooled<Result>(scene: Scene, look: (hash: Hex) => Promise<Result>): Promise<Result> {
  await scene.tester.setAutomine(false);
  const hash = await scene.wallet.sendTransaction(call);
  try {
    return await look(hash);
  } finally {
    await scene.tester.mine({ blocks: 1 });
    await scene.tester.setAutomine(true);
  }
}

/** Sends as an account whose key no node holds. */
const sendAs = ({ wallet, reader }: Scene, account: Hex) =>
  createWalletClient({ account, chain: wallet.chain, transport: custom(reader) }).sendTransaction(call);

/** The test actions of viem, in its mode for anvil. `reset` comes last. */
export const TESTER_ROWS: Readonly<Record<string, Row | Expected>> = {
  dropTransaction: (scene) =>
    pooled(scene, async (hash) => {
      await scene.tester.dropTransaction({ hash });
      return scene.tester.getTxpoolStatus();
    }),
  // Gzip.
  dumpState: async ({ tester }) => (await tester.dumpState()).slice(0, 6),
  getAutomine: ({ tester }) => tester.getAutomine(),
  getTxpoolContent: (scene) =>
    pooled(scene, async () => {
      const { pending, queued } = await scene.tester.getTxpoolContent();
      return [Object.keys(pending).map((from) => from.toLowerCase()), Object.keys(queued)];
    }),
  getTxpoolStatus: (scene) => pooled(scene, () => scene.tester.getTxpoolStatus()),
  impersonateAccount: async (scene) => {
    await scene.tester.setBalance({ address: STRANGER, value: parseEther('5') });
    await scene.tester.impersonateAccount({ address: STRANGER });
    const { from, status } = await scene.mined(await sendAs(scene, STRANGER));
    return [from, status];
  },
  increaseTime: async (scene) => {
    const before = await newest(scene);
    await scene.tester.increaseTime({ seconds: 5000 });
    return (await next(scene)).timestamp - before.timestamp >= 5000n;
  },
  inspectTxpool: (scene) =>
    pooled(scene, async () => {
      const { pending, queued } = await scene.tester.inspectTxpool();
      const texts = Object.values(pending).flatMap((byNonce) => Object.values(byNonce));
      return [texts.map((text) => text.split(':')[0]!.toLowerCase()), queued];
    }),
  loadState: async ({ tester, reader }) => {
    await tester.setBalance({ address: OTHER, value: 77n });
    const state = await tester.dumpState();
    await tester.setBalance({ address: OTHER, value: 78n });
    await tester.loadState({ state });
    return reader.getBalance({ address: OTHER });
  },
  mine: async ({ tester, reader }) => {
    const before = await reader.getBlock();
    await tester.mine({ blocks: 3, interval: 10 });
    const after = await reader.getBlock();
    return [after.number - before.number, after.timestamp - before.timestamp >= 20n];
  },
  setBlockTimestampInterval: async (scene) => {
    await scene.tester.setBlockTimestampInterval({ interval: 30 });
    const first = await next(scene);
    return (await next(scene)).timestamp - first.timestamp;
  },
  removeBlockTimestampInterval: async (scene) => {
    await scene.tester.removeBlockTimestampInterval();
    const first = await next(scene);
    return (await next(scene)).timestamp - first.timestamp < 30n;
  },
  revert: async ({ tester, reader }) => {
    const id = await tester.snapshot();
    await tester.setBalance({ address: OTHER, value: 5n });
    await tester.mine({ blocks: 1 });
    await tester.revert({ id });
    return reader.getBalance({ address: OTHER });
  },
  sendUnsignedTransaction: async (scene) => {
    const hash = await scene.tester.sendUnsignedTransaction({ from: STRANGER, ...call } as never);
    const { from, status } = await scene.mined(hash);
    return [from, status];
  },
  setAutomine: async ({ tester }) => {
    await tester.setAutomine(false);
    const off = await tester.getAutomine();
    await tester.setAutomine(true);
    return [off, await tester.getAutomine()];
  },
  setBalance: async ({ tester, reader }) => {
    await tester.setBalance({ address: OTHER, value: 1234n });
    return reader.getBalance({ address: OTHER });
  },
  setBlockGasLimit: async (scene) => {
    await scene.tester.setBlockGasLimit({ gasLimit: 60_000_000n });
    return (await next(scene)).gasLimit;
  },
  setCode: async ({ tester, reader }) => {
    await tester.setCode({ address: OTHER, bytecode: '0x60ff' });
    return reader.getCode({ address: OTHER });
  },
  setCoinbase: async (scene) => {
    await scene.tester.setCoinbase({ address: OTHER });
    return (await next(scene)).miner;
  },
  setIntervalMining: async ({ tester }) => {
    await tester.setIntervalMining({ interval: 0 });
    const automine = await tester.getAutomine();
    await tester.setAutomine(true);
    return automine;
  },
  setLoggingEnabled: ({ tester }) => tester.setLoggingEnabled(false),
  setMinGasPrice: ({ tester }) => tester.setMinGasPrice({ gasPrice: 1n }),
  setNextBlockBaseFeePerGas: async (scene) => {
    await scene.tester.setNextBlockBaseFeePerGas({ baseFeePerGas: 12_345n });
    return (await next(scene)).baseFeePerGas;
  },
  setNextBlockTimestamp: async (scene) => {
    const { timestamp } = await newest(scene);
    await scene.tester.setNextBlockTimestamp({ timestamp: timestamp + 999n });
    return (await next(scene)).timestamp - timestamp;
  },
  setNonce: async ({ tester, reader }) => {
    await tester.setNonce({ address: OTHER, nonce: 9 });
    return reader.getTransactionCount({ address: OTHER });
  },
  setRpcUrl: ({ tester }) => tester.setRpcUrl('http://127.0.0.1:9'),
  setStorageAt: async ({ tester, reader }) => {
    await tester.setStorageAt({ address: OTHER, index: 1, value: pad('0x2a') });
    return reader.getStorageAt({ address: OTHER, slot: '0x1' });
  },
  snapshot: async ({ tester }) => shapeOf(await tester.snapshot()),
  stopImpersonatingAccount: async (scene) => {
    await scene.tester.stopImpersonatingAccount({ address: STRANGER });
    return sendAs(scene, STRANGER).then(
      () => 'sent',
      () => 'refused',
    );
  },
  // anvil refuses what viem sends, `forking` without members. Without parameters, it goes back to genesis.
  reset: {
    run: async ({ tester, reader, token }) => {
      await tester.reset();
      return [await reader.getBlockNumber(), await reader.getCode({ address: token })];
    },
    is: [0n, undefined],
  },
};
