/** The page under test: a devnet in the package's own worker, and one estimate. */
import { createNode } from '../../src/index.js';
import type { Hex } from '../../src/primitives/hex.js';
import { leaveResult, PAGE_CALL } from './page-call.js';

// Served beside the worker of the package; see bench/page-site.ts.
const node = await createNode();
const { gasLimit } = (await node.request({ method: 'linea_estimateGas', params: [PAGE_CALL] })) as { gasLimit: Hex };
leaveResult(gasLimit);
