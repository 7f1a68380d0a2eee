import { expect, test } from 'vitest';
import type { ErrorCode } from '../../src/errors.js';
import { nodeHandle } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { isProviderRpcError, type ProviderRpcError } from '../../src/hosts/provider/provider-error.js';
import type { NodeFault } from '../../src/rpc/protocol/envelope.js';
import { EVERY_ERROR, throwingNode } from '../support/every-error.js';

const node = nodeHandle(throwingNode());

const CODES = Object.keys(EVERY_ERROR) as ErrorCode[];

test.each(CODES)('request rejects with %s as its reason, with the details of it', async (code) => {
  const error = (await node.request<UntypedMethod>({ method: code }).catch((thrown) => thrown)) as ProviderRpcError;
  expect(isProviderRpcError(error, code)).toBe(true);
  if (code === 'INTERNAL') expect(error.details).toEqual({ id: expect.stringMatching(/^[0-9a-f]{8}$/) });
  else expect(error.details).toEqual(EVERY_ERROR[code]);
});

test.each(['INTERNAL', 'TypeError'])(
  'the event `error` has the exception behind an internal error: %s',
  async (method) => {
    const faults: NodeFault[] = [];
    const note = (fault: NodeFault) => void faults.push(fault);
    node.on('error', note);
    const error = (await node
      .request<UntypedMethod>({ method })
      .catch((thrown) => thrown)) as ProviderRpcError<'INTERNAL'>;
    node.removeListener('error', note);
    expect(error.message).toBe(`Internal error (id ${error.details.id})`);
    expect(faults).toMatchObject([{ id: error.details.id, method }]);
    expect(faults[0]!.error.message).toBe(method === 'INTERNAL' ? 'thrown INTERNAL' : 'a secret');
    expect(faults[0]!.error.stack).toContain('every-error');
  },
);

/** Codes whose answer has `data` of its own: what the method or the reference node gives it. */
const OWN_DATA: readonly ErrorCode[] = [
  'EXECUTION_REVERTED',
  'TRANSACTION_REJECTED',
  'TRANSACTION_PENDING',
  'TRANSACTION_TYPE_UNSUPPORTED',
];
/** Codes whose details may have words of the host. */
const BARE: readonly ErrorCode[] = ['KERNEL_UNAVAILABLE', 'WORKER_FAILED', 'STORE_UNAVAILABLE', 'STORE_CORRUPT'];

test.each(CODES)('over HTTP, data has the reason %s, unless the method gives it a meaning', async (method) => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method });
  const response = await node.handle(new Request('http://localhost/', { method: 'POST', body }));
  const { error } = (await response.json()) as { error: { data: { reason: string; details?: object } } };
  if (OWN_DATA.includes(method)) expect(error.data).toBeTypeOf('string');
  else {
    expect(error.data.reason).toBe(method);
    expect(Object.keys(error.data.details ?? {})).toEqual(
      BARE.includes(method) ? [] : method === 'INTERNAL' ? ['id'] : Object.keys(EVERY_ERROR[method]),
    );
  }
});
