import fc from 'fast-check';
import type { Json } from '../damage.js';
import { mutated, mutatedText, strangeValue } from './mutations.js';
import type { Examples } from './requests.js';

/** Texts of request bodies: of each ten, about six requests with changed parameters, then envelopes, batches, broken text. */
export function hostileBodies(...examples: readonly Examples[]): fc.Arbitrary<string> {
  const methods = [...new Set(examples.flatMap((one) => Object.keys(one)))];
  const sets = methods.map((method) => ({ method, params: examples.flatMap((one) => one[method] ?? []) as Json[][] }));
  const valid: fc.Arbitrary<Json> = fc.tuple(fc.constantFrom(...sets), fc.nat(999), fc.nat(999)).map(([set, n, id]) => {
    return { params: set.params[n % set.params.length]!, jsonrpc: '2.0', id, method: set.method };
  });
  const damaged = valid.chain((request) => {
    const { params, ...rest } = request as { params: Json[] };
    return mutated(fc.constant(params)).map((changed): Json => ({ ...rest, params: changed }));
  });
  const envelope = mutated(valid);
  const strangeId = fc.tuple(valid, strangeValue).map(([request, id]): Json => ({ ...(request as object), id }));
  const notification = damaged.map((request): Json => {
    const { id: _, ...rest } = request as { id: Json };
    return rest;
  });
  const any = fc.oneof({ arbitrary: damaged, weight: 6 }, valid, envelope, strangeId, notification, strangeValue);
  const batch = fc
    .tuple(fc.array(any, { maxLength: 4 }), fc.nat(3))
    .map(([items, times]): Json => (items.length === 0 ? [] : [...items, ...Array<Json>(times).fill(items[0]!)]));
  const text = (value: fc.Arbitrary<Json>) => value.map((json) => JSON.stringify(json));
  return fc.oneof(
    { arbitrary: text(damaged), weight: 12 },
    { arbitrary: text(any), weight: 4 },
    { arbitrary: text(batch), weight: 1 },
    { arbitrary: mutatedText(text(fc.oneof(valid, damaged))), weight: 3 },
  );
}
