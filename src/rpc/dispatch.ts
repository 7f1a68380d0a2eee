import type { Reply } from './envelope.js';
import type { MethodCallOptions } from './method.js';

/** Parsed payload in (object or array), reply out; never rejects. Hosts are glue over this. */
export type Dispatch = (payload: unknown, call?: MethodCallOptions) => Promise<Reply>;
