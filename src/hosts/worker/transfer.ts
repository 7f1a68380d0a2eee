import { transferHandlers } from 'comlink';
import { type ErrorCode, type ErrorDetails, PlumblineError } from '../../errors.js';

/**
 * comlink carries name, message and stack of what was thrown, and drops `code`, `details` and `cause`. This replaces its
 * `throw` handler; both sides of a worker have to install it.
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

/** Something thrown, as a message carries it. */
export type Serialized = SerializedError | { readonly kind: 'value'; readonly value: unknown };

/** Something thrown, ready to be sent. */
export function serialize(value: unknown, depth = 0): Serialized {
  if (!(value instanceof Error)) return { kind: 'value', value: cloneable(value) };
  const { name, message, stack } = value;
  const cause = value.cause === undefined || depth > 4 ? {} : { cause: serialize(value.cause, depth + 1) };
  if (value instanceof PlumblineError) {
    return { kind: 'plumbline', name, message, stack, code: value.code, details: cloneable(value.details), ...cause };
  }
  return { kind: 'error', name, message, stack, ...cause };
}

/** The value when structured cloning takes it, its text otherwise. */
function cloneable<Value>(value: Value): Value {
  try {
    return structuredClone(value);
  } catch {
    return String(value) as Value;
  }
}

/** What was thrown, out of a message. */
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

/** Makes comlink carry typed errors whole. Calling it twice does no harm. */
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
