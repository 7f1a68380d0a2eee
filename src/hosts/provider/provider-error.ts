/** Codes of EIP-1193, for what has no JSON-RPC code of its own. */
export const PROVIDER_CODES = { unsupportedMethod: 4200, disconnected: 4900 } as const;

/**
 * What `request` rejects with: the code, message and data of the JSON-RPC error, or a code of EIP-1193.
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
