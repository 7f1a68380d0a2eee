import type { MiningMode } from '../../chain/devnet/options.js';
import { bytesToHex } from '../../primitives/hex.js';
import { toQuantity } from '../../primitives/quantity.js';
import { parseAddress, parseBoolean, parseHash } from '../parsing/parse-params.js';
import { developerMethods, parseAmount, parseCount } from './developer.js';

/*
 * Time, mining and snapshots. Names and parameter forms are those of Hardhat Network, Anvil and Ganache, answers too where
 * those agree.
 */

/** Times from here on are milliseconds: nobody waits that many seconds for a block. */
const MILLISECONDS_FROM = 1000;

const snapshot = developerMethods(['evm_snapshot', 'anvil_snapshot'], async (devnet) =>
  toQuantity(await devnet.snapshot()),
);

/** False for an id there is none of, or that is used up. */
const revert = developerMethods(['evm_revert', 'anvil_revert'], (devnet, [id]) => devnet.revert(parseCount(id, 'id')));

/** Answers with the seconds that the clock is now ahead of the wall clock. */
const increaseTime = developerMethods(['evm_increaseTime', 'anvil_increaseTime'], async (devnet, [seconds]) =>
  toQuantity(Math.max(0, await devnet.increaseTime(parseCount(seconds, 'seconds')))),
);

const setNextBlockTimestamp = developerMethods(
  ['evm_setNextBlockTimestamp', 'anvil_setNextBlockTimestamp'],
  async (devnet, [timestamp]) => {
    await devnet.setNextTimestamp(parseCount(timestamp, 'timestamp'));
    return null;
  },
);

/** Seconds from Anvil's clients, milliseconds from Hardhat's. */
const setBlockTimestampInterval = developerMethods(
  ['anvil_setBlockTimestampInterval', 'hardhat_setBlockTimestampInterval'],
  async (devnet, [interval], name) => {
    const given = parseCount(interval, 'interval');
    await devnet.setTimestampInterval(name.startsWith('hardhat') ? Math.floor(given / 1000) : given);
    return null;
  },
);

const removeBlockTimestampInterval = developerMethods(
  ['anvil_removeBlockTimestampInterval', 'hardhat_removeBlockTimestampInterval'],
  async (devnet) => {
    await devnet.setTimestampInterval(undefined);
    return true;
  },
);

/** Switching it off leaves mining by interval as it is. */
const setAutomine = developerMethods(['evm_setAutomine', 'anvil_setAutomine'], async (devnet, [enabled]) => {
  if (parseBoolean(enabled, 'enabled')) await devnet.setMining('auto');
  else if (devnet.mining === 'auto') await devnet.setMining('manual');
  return true;
});

const getAutomine = developerMethods(['anvil_getAutomine', 'hardhat_getAutomine'], ({ mining }) => mining === 'auto');

/** Zero ends it. Anvil counts seconds and Hardhat milliseconds: from 1000 on it is milliseconds. */
const setIntervalMining = developerMethods(
  ['evm_setIntervalMining', 'anvil_setIntervalMining'],
  async (devnet, [interval]) => {
    const given = parseCount(interval, 'interval');
    const intervalSeconds = given >= MILLISECONDS_FROM ? given / 1000 : given;
    const mode: MiningMode = given === 0 ? 'manual' : { intervalSeconds };
    await devnet.setMining(mode);
    return true;
  },
);

/** Seconds, null while no interval is set. */
const getIntervalMining = developerMethods(['anvil_getIntervalMining'], ({ mining }) =>
  typeof mining === 'object' ? mining.intervalSeconds : null,
);

const setNextBlockBaseFeePerGas = developerMethods(
  ['anvil_setNextBlockBaseFeePerGas', 'hardhat_setNextBlockBaseFeePerGas'],
  async (devnet, [baseFee]) => {
    await devnet.setNextBlock({ baseFeePerGas: parseAmount(baseFee, 'baseFeePerGas') });
    return true;
  },
);

const setCoinbase = developerMethods(['anvil_setCoinbase', 'hardhat_setCoinbase'], async (devnet, [address]) => {
  await devnet.setNextBlock({ coinbase: parseAddress(address) });
  return true;
});

const setBlockGasLimit = developerMethods(
  ['evm_setBlockGasLimit', 'anvil_setBlockGasLimit'],
  async (devnet, [limit]) => {
    await devnet.setNextBlock({ gasLimit: parseAmount(limit, 'gasLimit', 63) });
    return true;
  },
);

const dropTransaction = developerMethods(
  ['anvil_dropTransaction', 'hardhat_dropTransaction'],
  async (devnet, [hashParam], name) => {
    const hash = parseHash(hashParam, 'transactionHash');
    const dropped = await devnet.drop(hash);
    return name.startsWith('hardhat') ? dropped : dropped ? bytesToHex(hash) : null;
  },
);

const dropAllTransactions = developerMethods(['anvil_dropAllTransactions'], async (devnet) => {
  await devnet.dropAll();
  return null;
});

export const CHAIN_METHODS = [
  ...snapshot,
  ...revert,
  ...increaseTime,
  ...setNextBlockTimestamp,
  ...setBlockTimestampInterval,
  ...removeBlockTimestampInterval,
  ...setAutomine,
  ...getAutomine,
  ...setIntervalMining,
  ...getIntervalMining,
  ...setNextBlockBaseFeePerGas,
  ...setCoinbase,
  ...setBlockGasLimit,
  ...dropTransaction,
  ...dropAllTransactions,
];
