/** What an endpoint may do in place of answering properly. */
export type MockFault =
  /** Never answers. */
  | { readonly kind: 'silence' }
  /** The headers and half of the body come, then nothing more. */
  | { readonly kind: 'stall' }
  /** Resets the connection; with `midway` after half of the body. */
  | { readonly kind: 'reset'; readonly midway?: boolean }
  | {
      readonly kind: 'status';
      readonly status: number;
      readonly body?: string;
      readonly headers?: Readonly<Record<string, string>>;
    }
  /** Status 429; `retryAfter` is the header as it stands. */
  | { readonly kind: 'rate-limit'; readonly retryAfter?: string; readonly backoffSeconds?: number }
  /** Each call is answered with this error, status 200. */
  | { readonly kind: 'error'; readonly code: number; readonly message: string; readonly data?: unknown }
  /** One error object for whatever was asked; `idNull` in an array. */
  | { readonly kind: 'single-error'; readonly code: number; readonly message: string; readonly inArray?: boolean }
  | { readonly kind: 'html' }
  | { readonly kind: 'truncated' }
  /** Members of a batch last first. */
  | { readonly kind: 'out-of-order' }
  /** Only the first `count` members of a batch. */
  | { readonly kind: 'partial'; readonly count: number }
  /** Members after the first `count` get a rate limit. */
  | { readonly kind: 'partly-limited'; readonly count: number }
  | { readonly kind: 'string-ids' }
  /** Batches above `limit` are refused: by one error, or by a status with text. */
  | { readonly kind: 'batch-limit'; readonly limit: number; readonly message?: string; readonly status?: number }
  /** JSON of this many bytes; `announced` sends a content length. */
  | { readonly kind: 'huge'; readonly bytes: number; readonly announced?: boolean };
