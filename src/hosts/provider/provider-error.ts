/** Codes of EIP-1193, for errors that have no JSON-RPC code. */
export const PROVIDER_CODES = { disconnected: 4900 } as const;

/**
 * The error that `request` rejects with: code, message and data of the JSON-RPC error, or a code of EIP-1193.
 *
 * @source EIP-1193, "RPC Errors" and "Provider Errors"
 */
export class ProviderRpcError extends Error {
  override readonly name = 'ProviderRpcError';

  constructor(
    readonly code: number,
    message: string,
    readonly data?: unknown,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}
