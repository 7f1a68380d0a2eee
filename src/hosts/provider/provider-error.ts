import { type ErrorCode, type ErrorDetails, isPlumblineError } from '../../errors.js';
import { nodeClosed } from './transport.js';

/** Codes of EIP-1193, for errors that have no JSON-RPC code. */
export const PROVIDER_CODES = { unsupportedMethod: 4200, disconnected: 4900 } as const;

/**
 * The error with which `request` rejects. It has code, message and data of the JSON-RPC error, or a code of EIP-1193. `reason` is the
 * code that docs/errors.md explains. Use it to tell errors apart.
 *
 * @example
 * try {
 *   await node.request({ method: 'linea_getProof', params: [address, [], 'finalized'] });
 * } catch (error) {
 *   if (isProviderRpcError(error, 'ANSWER_REFUSED')) console.warn(`${error.details.origin} failed ${error.details.check}`);
 *   else throw error;
 * }
 *
 * @source EIP-1193, "RPC Errors" and "Provider Errors"
 */
export class ProviderRpcError<C extends ErrorCode = ErrorCode> extends Error {
  override readonly name = 'ProviderRpcError';
  readonly code: number;
  readonly data: unknown;
  readonly reason: C;
  readonly details: ErrorDetails[C];

  /** As of `PlumblineError`: of any copy of the package. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return value instanceof Error && value.name === 'ProviderRpcError';
  }

  constructor({ code, message, data, reason, details }: ProviderRpcErrorParts<C>, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
    this.data = data;
    this.reason = reason;
    this.details = details;
  }
}

/** What a `ProviderRpcError` has. */
export interface ProviderRpcErrorParts<C extends ErrorCode> {
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
  readonly reason: C;
  readonly details: ErrorDetails[C];
}

/**
 * Returns true for an error of `request`. With `reason`, only for an error with that reason. TypeScript then knows the type of its
 * details.
 *
 * @example
 * ```ts
 * import { isProviderRpcError } from 'plumbline-l2';
 * import { createInlineNode } from 'plumbline-l2/inline';
 *
 * const node = await createInlineNode();
 * try {
 *   await node.request({ method: 'eth_getBlockByNumber', params: ['newest' as 'latest', false] });
 * } catch (error) {
 *   if (!isProviderRpcError(error, 'INVALID_PARAMETER')) throw error;
 *   error.code; // => -32602
 * }
 * await node.close();
 * ```
 */
export function isProviderRpcError<C extends ErrorCode>(error: unknown, reason?: C): error is ProviderRpcError<C> {
  return error instanceof ProviderRpcError && (reason === undefined || error.reason === reason);
}

/** The error of a request to a node that has ended. @param cause - why: `NODE_CLOSED`, `WORKER_FAILED` or another */
export function disconnected(message: string, cause: unknown): ProviderRpcError {
  const { code: reason, details } = isPlumblineError(cause) ? cause : nodeClosed();
  return new ProviderRpcError({ code: PROVIDER_CODES.disconnected, message, reason, details }, { cause });
}
