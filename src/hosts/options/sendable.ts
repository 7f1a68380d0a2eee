import { PlumblineError } from '../../errors.js';

/** Whether this was thrown because a message cannot carry what was to be sent. */
export function isNotPlain(error: unknown): boolean {
  return error instanceof Error && error.name === 'DataCloneError';
}

/** For options that no message carries. Its words name no value: one may hold a key. @param host - `a worker` */
export function notSendable(host: string, cause: unknown): PlumblineError<'INVALID_PARAMETER'> {
  const reason = `${host} takes plain data only: no providers, no functions`;
  return new PlumblineError('INVALID_PARAMETER', `options: ${reason}`, { parameter: 'options', reason }, { cause });
}
