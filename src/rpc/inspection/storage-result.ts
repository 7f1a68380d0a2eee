import { PlumblineError } from '../../errors.js';

/** A typed error as the result of a method of the library: a JSON-RPC error would leave out its code and details. */
interface Thrown {
  readonly plumblineError: Pick<PlumblineError, 'code' | 'message' | 'details'>;
}

export function thrownResult({ code, message, details }: PlumblineError): Thrown {
  return { plumblineError: { code, message, details } };
}

/** The result of a method. @throws PlumblineError the one that the method threw */
export function storageResult(answer: unknown): unknown {
  const thrown = (answer as Partial<Thrown> | null)?.plumblineError;
  if (thrown !== undefined) throw new PlumblineError(thrown.code, thrown.message, thrown.details);
  return answer;
}
