import { toQuantity } from '../../primitives/quantity.js';
import { devnetMethods, parseCount } from './devnet-method.js';

/*
 * The clock of a devnet. Names and parameter forms are those of Hardhat Network, Anvil and Ganache; answers too, where those
 * three agree.
 */

export const TIME_METHODS = {
  /** Answers with the seconds that the clock is now ahead of the wall clock. */
  ...devnetMethods(['evm_increaseTime', 'anvil_increaseTime'], async (devnet, [seconds]) =>
    toQuantity(Math.max(0, await devnet.increaseTime(parseCount(seconds, 'seconds')))),
  ),

  /**
   * Sets the clock, forwards or back; it runs on from there. Anvil counts seconds and Ganache milliseconds: under the name that
   * both have, the devnet's tool decides. Answers with the seconds that the clock went forward.
   */
  ...devnetMethods(['anvil_setTime', 'evm_setTime'], async (devnet, [timestamp], { name }) => {
    const given = parseCount(timestamp, 'timestamp');
    const inMilliseconds = name === 'evm_setTime' && devnet.tool === 'ganache';
    return devnet.setTime(inMilliseconds ? Math.floor(given / 1000) : given);
  }),

  ...devnetMethods(['evm_setNextBlockTimestamp', 'anvil_setNextBlockTimestamp'], async (devnet, [timestamp]) => {
    await devnet.setNextTimestamp(parseCount(timestamp, 'timestamp'));
    return null;
  }),

  /** Clients of Anvil send seconds, clients of Hardhat milliseconds. */
  ...devnetMethods(
    ['anvil_setBlockTimestampInterval', 'hardhat_setBlockTimestampInterval'],
    async (devnet, [interval], { name }) => {
      const given = parseCount(interval, 'interval');
      await devnet.setTimestampInterval(name.startsWith('hardhat') ? Math.floor(given / 1000) : given);
      return null;
    },
  ),

  ...devnetMethods(['anvil_removeBlockTimestampInterval', 'hardhat_removeBlockTimestampInterval'], async (devnet) => {
    await devnet.setTimestampInterval(undefined);
    return true;
  }),
};
