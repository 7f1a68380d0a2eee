import { PlumblineError } from '../../errors.js';

/** An error of ours as the result of a method of the library: a JSON-RPC error would leave out what it carries. */
interface Thrown {
  readonly plumblineError: Pick<PlumblineError, 'code' | 'message' | 'details'>;
}

export function thrownResult({ code, message, details }: PlumblineError): Thrown {
  return { plumblineError: { code, message, details } };
}

/** The result of a method. @throws PlumblineError that the method threw */
export function storageResult(answer: unknown): unknown {
  const thrown = (answer as Partial<Thrown> | null)?.plumblineError;
  if (thrown !== undefined) throw new PlumblineError(thrown.code, thrown.message, thrown.details);
  return answer;
}
