import { invalidParameter, type PlumblineError } from '../../errors.js';

/** Whether this was thrown because a message cannot carry what was to be sent. */
export function isNotPlain(error: unknown): boolean {
  return error instanceof Error && error.name === 'DataCloneError';
}

/** For options that no message carries. Its words name no value: one may hold a key. @param host - `a worker` */
export function notSendable(host: string, cause: unknown): PlumblineError<'INVALID_PARAMETER'> {
  return invalidParameter('options', `${host} takes plain data only: no providers, no functions`, { cause });
}
