import { transferHandlers } from 'comlink';
import { type ErrorCode, type ErrorDetails, PlumblineError } from '../../errors.js';

/**
 * comlink transfers name, message and stack of a thrown error, and drops `code`, `details` and `cause`. This module replaces its
 * `throw` handler. Both sides of a worker have to install it.
 */

interface ThrownValue {
  readonly value: unknown;
}

interface SerializedError {
  readonly kind: 'plumbline' | 'error';
  readonly message: string;
  readonly stack: string | undefined;
  readonly name: string;
  readonly code?: ErrorCode;
  readonly details?: ErrorDetails[ErrorCode];
  readonly cause?: Serialized;
}

/** A thrown value in a form that `postMessage` can send. */
export type Serialized = SerializedError | { readonly kind: 'value'; readonly value: unknown };

/** Converts a thrown value for `postMessage`. */
export function serialize(value: unknown, depth = 0): Serialized {
  if (!(value instanceof Error)) return { kind: 'value', value: cloneable(value) };
  const { name, message, stack } = value;
  const cause = value.cause === undefined || depth > 4 ? {} : { cause: serialize(value.cause, depth + 1) };
  if (value instanceof PlumblineError) {
    return { kind: 'plumbline', name, message, stack, code: value.code, details: cloneable(value.details), ...cause };
  }
  return { kind: 'error', name, message, stack, ...cause };
}

/** The value if structured cloning accepts it, otherwise its text. */
function cloneable<Value>(value: Value): Value {
  try {
    return structuredClone(value);
  } catch {
    return String(value) as Value;
  }
}

/** The thrown value, from a message. */
export function deserialize(serialized: Serialized): unknown {
  if (serialized.kind === 'value') return serialized.value;
  const options = serialized.cause === undefined ? undefined : { cause: deserialize(serialized.cause) };
  const error =
    serialized.kind === 'plumbline'
      ? new PlumblineError(serialized.code!, serialized.message, serialized.details!, options)
      : Object.assign(new Error(serialized.message, options), { name: serialized.name });
  if (serialized.stack !== undefined) error.stack = serialized.stack;
  return error;
}

/** Makes comlink transfer typed errors completely. Calling it twice is harmless. */
export function installErrorTransfer(): void {
  const thrown = transferHandlers.get('throw');
  if (thrown === undefined) return;
  transferHandlers.set('throw', {
    canHandle: thrown.canHandle,
    serialize: (thrownValue: unknown) => [serialize((thrownValue as ThrownValue).value), []],
    deserialize: (serialized: unknown) => {
      throw deserialize(serialized as Serialized);
    },
  });
}
