import { expect, it } from 'vitest';
import { explain, PageError } from '../../demo/lib/explain.js';
import { type ErrorCode, PlumblineError } from '../../src/errors.js';
import { ProviderRpcError } from '../../src/hosts/provider/provider-error.js';
import { toRpcError, wireError } from '../../src/rpc/rpc-errors.js';
import { EVERY_ERROR } from '../support/every-error.js';

const UNKNOWN = explain(new Error('something else')).title;

it.each(Object.keys(EVERY_ERROR) as ErrorCode[])('has words for %s, as a page and as HTTP have it', (code) => {
  const thrown = new PlumblineError(code, 'what was said', EVERY_ERROR[code]);
  const told = toRpcError(thrown);
  const { title, advice } = explain(new ProviderRpcError(told));
  expect(title).not.toBe(UNKNOWN);
  expect(advice.length).toBeGreaterThan(10);
  expect(explain(thrown)).toMatchObject({ title, advice });
  // An answer whose data has a meaning of its own is known by its number alone.
  const wire = wireError(told);
  if (typeof wire.data === 'object') expect(explain(wire)).toMatchObject({ title, advice });
});

it('tells what a node refused from what it could not do', () => {
  const refused = (code: ErrorCode) => explain(new PlumblineError(code, '', EVERY_ERROR[code])).refused;
  expect((Object.keys(EVERY_ERROR) as ErrorCode[]).filter(refused).sort()).toEqual([
    'ANSWER_REFUSED',
    'UPSTREAM_DISAGREEMENT',
  ]);
});

it('has words for the errors of the page itself', () => {
  expect(explain(new PageError('FIELD', 'From: not an address')).title).toBe('A field cannot be used');
});
