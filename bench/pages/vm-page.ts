/** The yardstick: the same search over @ethereumjs/vm, in a worker too. */
import type { Hex } from '../../src/primitives/hex.js';
import { leaveResult } from './page-call.js';

const worker = new Worker(new URL('./vm-worker.js', import.meta.url), { type: 'module' });
worker.onmessage = ({ data }: MessageEvent<Hex>) => leaveResult(data);
