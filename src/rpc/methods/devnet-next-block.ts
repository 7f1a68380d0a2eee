import { parseAddress, parseHash } from '../parsing/parse-params.js';
import { devnetMethods, parseAmount } from './devnet-method.js';

/** Header fields of the next block. */
export const NEXT_BLOCK_METHODS = {
  ...devnetMethods(
    ['anvil_setNextBlockBaseFeePerGas', 'hardhat_setNextBlockBaseFeePerGas'],
    async (devnet, [baseFee]) => {
      await devnet.setNextBlock({ baseFeePerGas: parseAmount(baseFee, 'baseFeePerGas') });
      return true;
    },
  ),

  ...devnetMethods(['hardhat_setPrevRandao'], async (devnet, [value]) => {
    await devnet.setNextBlock({ prevRandao: parseHash(value, 'prevRandao') });
    return true;
  }),

  ...devnetMethods(['anvil_setCoinbase', 'hardhat_setCoinbase'], async (devnet, [address]) => {
    await devnet.setNextBlock({ coinbase: parseAddress(address) });
    return true;
  }),

  ...devnetMethods(['evm_setBlockGasLimit', 'anvil_setBlockGasLimit'], async (devnet, [limit]) => {
    await devnet.setNextBlock({ gasLimit: parseAmount(limit, 'gasLimit', 63) });
    return true;
  }),
};
