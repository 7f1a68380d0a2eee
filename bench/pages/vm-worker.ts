/** Genesis in the state of @ethereumjs/vm as it comes, and the search that plumbline makes, run by run. */
import { devAlloc } from '../../src/chain/devnet/state/genesis.js';
import { TRANSACTION_GAS_CAP } from '../../src/evm/common.js';
import { besuSearch } from '../../src/evm/gas.js';
import { devnet } from '../../src/networks/devnet.js';
import { hexToBytes } from '../../src/primitives/hex.js';
import { toQuantity } from '../../src/primitives/quantity.js';
import { transactionRuns } from '../estimate-runs.js';
import { PAGE_CALL } from './page-call.js';

const network = devnet();
const context = {
  number: 1,
  timestamp: Math.floor(Date.now() / 1000),
  gasLimit: network.blockGasLimit,
  baseFeePerGas: 7n,
  coinbase: hexToBytes(`0x${'c0'.repeat(20)}`),
  prevRandao: new Uint8Array(32),
  blockHash: async () => new Uint8Array(32),
};
const run = await transactionRuns('merkle', { network, alloc: devAlloc(), context, call: PAGE_CALL });
const { gasLimit } = await besuSearch(run, { ceiling: TRANSACTION_GAS_CAP, plain: false });
postMessage(toQuantity(gasLimit));
