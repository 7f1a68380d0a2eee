import { expect, it } from 'vitest';
import { explain } from '../../demo/lib/explain.js';
import { PlumblineError } from '../../src/errors.js';
import { toRpcError } from '../../src/rpc/protocol/rpc-errors.js';

it('tells a preview that is too large from other limits with its JSON-RPC code', () => {
  const answer = toRpcError(new PlumblineError('PREVIEW_TOO_LARGE', 'more than 8192 questions', { limit: 8_192 }));
  expect(answer.code).toBe(-32005);
  expect(explain(answer).title).toBe('This is too much to preview');
  const other = toRpcError(new PlumblineError('FILTER_LIMIT', 'more than 128 filters', { limit: 128 }));
  expect(other.code).toBe(-32005);
  expect(explain(other).title).not.toBe('This is too much to preview');
});
