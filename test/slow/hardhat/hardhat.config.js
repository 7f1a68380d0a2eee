import networkHelpers from '@nomicfoundation/hardhat-network-helpers';
import viem from '@nomicfoundation/hardhat-viem';
import { defineConfig } from 'hardhat/config';
import { plumblineDevnet } from 'plumbline-l2/hardhat';

export default defineConfig({
  plugins: [viem, networkHelpers, plumblineDevnet()],
  // solc-js of the repository: Hardhat would load a compiler from the network.
  solidity: { version: '0.8.30', path: process.env.SOLC },
  networks: {
    /** Hardhat's own, in this process: what it does is what is expected. */
    own: { type: 'edr-simulated', chainType: 'l1', chainId: 59_139, hardfork: 'osaka' },
    served: { type: 'http', chainType: 'l1', url: process.env.PLUMBLINE_URL ?? 'http://127.0.0.1:8545' },
  },
});
