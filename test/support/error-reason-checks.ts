import { expect, test } from 'vitest';
import type { ErrorCode } from '../../src/errors.js';
import type { PlumblineNode } from '../../src/hosts/provider/node-handle.js';
import type { UntypedMethod } from '../../src/hosts/provider/provider.js';
import { isProviderRpcError, type ProviderRpcError } from '../../src/hosts/provider/provider-error.js';
import type { NodeFault } from '../../src/rpc/envelope.js';
import { EVERY_ERROR } from './every-error.js';

/** Tests of a node whose methods throw each error of `EVERY_ERROR`. @param nodeOf - called when a test runs */
export function errorReasonChecks(nodeOf: () => PlumblineNode): void {
  const rejected = (method: string) =>
    nodeOf()
      .request<UntypedMethod>({ method })
      .catch((thrown) => thrown);

  test.each(Object.keys(EVERY_ERROR) as ErrorCode[])(
    'request rejects with %s as its reason, with the details of it',
    async (code) => {
      const error = (await rejected(code)) as ProviderRpcError;
      expect(isProviderRpcError(error, code)).toBe(true);
      if (code === 'INTERNAL') expect(error.details).toEqual({ id: expect.stringMatching(/^[0-9a-f]{8}$/) });
      else expect(error.details).toEqual(EVERY_ERROR[code]);
    },
  );

  test.each(['INTERNAL', 'TypeError'])(
    'the event `error` has the exception behind an internal error: %s',
    async (method) => {
      const faults: NodeFault[] = [];
      const note = (fault: NodeFault) => void faults.push(fault);
      nodeOf().on('error', note);
      const error = (await rejected(method)) as ProviderRpcError<'INTERNAL'>;
      nodeOf().removeListener('error', note);
      expect(error.message).toBe(`Internal error (id ${error.details.id})`);
      expect(faults).toMatchObject([{ id: error.details.id, method }]);
      expect(faults[0]!.error.message).toBe(method === 'INTERNAL' ? 'thrown INTERNAL' : 'a secret');
      expect(faults[0]!.error.stack).toContain('every-error');
    },
  );
}
