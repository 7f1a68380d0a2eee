import { afterAll, beforeAll } from 'vitest';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import { createNode } from '../../src/hosts/worker/client.js';
import { errorReasonChecks } from '../support/error-reason-checks.js';

// Through a worker.

let node: PlumblineNode;
beforeAll(async () => {
  const worker = new Worker(new URL('../support/throwing-worker.ts', import.meta.url), { type: 'module' });
  node = await createNode({ worker });
});
afterAll(() => node.close());

errorReasonChecks(() => node);
