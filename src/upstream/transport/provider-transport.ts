import { classifyError } from './classify-error.js';
import { type Call, faultOutcome, type Outcome, saying } from './fault.js';
import { createRedactor } from './redact.js';
import type { Transport } from './transport.js';
import { errorBody } from './wire.js';

/** An EIP-1193 provider: a wallet, a light client, or another plumbline node. */
export interface Eip1193Provider {
  request(args: { readonly method: string; readonly params?: readonly unknown[] }): Promise<unknown>;
}

/** EIP-1193 codes of a provider that refuses to serve this page, or cannot serve now. */
const UNAUTHORIZED = 4100;
const DISCONNECTED = [4900, 4901];

/** Sends calls to a provider, one at a time. URLs in its errors are reduced to their origins. */
export function providerTransport(provider: Eip1193Provider, name: string): Transport {
  const redactor = createRedactor([]);
  return {
    origin: name,
    batchLimit: 1,
    async exchange([call]) {
      return { reply: [await ask(call as Call)], bytesSent: 0, bytesReceived: 0 };
    },
  };

  async function ask({ method, params }: Call): Promise<Outcome> {
    try {
      return { kind: 'result', result: (await provider.request({ method, params })) ?? null };
    } catch (thrown) {
      const error = errorBody(thrown, redactor);
      if (error === undefined || typeof (thrown as { code?: unknown }).code !== 'number')
        return faultOutcome('unavailable', 'the provider failed');
      if (error.code === UNAUTHORIZED) return faultOutcome('configuration', saying(error.message));
      if (DISCONNECTED.includes(error.code)) return faultOutcome('unavailable', saying(error.message));
      return classifyError(error);
    }
  }
}
