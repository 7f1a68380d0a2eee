import { expect, test } from 'vitest';
import type { ErrorCode } from '../../src/errors.js';
import { nodeHandle } from '../../src/hosts/provider/node-handle.js';
import { errorReasonChecks } from '../support/error-reason-checks.js';
import { EVERY_ERROR, throwingNode } from '../support/every-error.js';

const node = nodeHandle(throwingNode());

const CODES = Object.keys(EVERY_ERROR) as ErrorCode[];

errorReasonChecks(() => node);

/** Codes whose answer has `data` of its own: what the method or the reference node gives it. */
const OWN_DATA: readonly ErrorCode[] = [
  'EXECUTION_REVERTED',
  'TRANSACTION_REJECTED',
  'TRANSACTION_PENDING',
  'TRANSACTION_TYPE_UNSUPPORTED',
];
/** Codes whose details may have words of the host. */
const BARE: readonly ErrorCode[] = ['KERNEL_UNAVAILABLE', 'WORKER_FAILED', 'STORE_UNAVAILABLE', 'STORE_CORRUPT'];

const hexOfBigInts = (_: string, value: unknown) => (typeof value === 'bigint' ? `0x${value.toString(16)}` : value);

test.each(CODES)('over HTTP, data has the reason %s, unless the method gives it a meaning', async (method) => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method });
  const response = await node.handle(new Request('http://localhost/', { method: 'POST', body }));
  const { error } = (await response.json()) as { error: { data: { reason: string; details?: object } } };
  if (OWN_DATA.includes(method)) expect(error.data).toBeTypeOf('string');
  else {
    expect(error.data.reason).toBe(method);
    if (BARE.includes(method)) expect(error.data).not.toHaveProperty('details');
    else if (method === 'INTERNAL') expect(error.data.details).toEqual({ id: expect.stringMatching(/^[0-9a-f]{8}$/) });
    else expect(error.data.details).toEqual(JSON.parse(JSON.stringify(EVERY_ERROR[method], hexOfBigInts)));
  }
});
