import { PlumblineError } from '../errors.js';
import type { HashScheme } from './contracts.js';
import { STATUS } from './trie-exports.js';

/** The error for a negative result of the trie module. */
export function trieRefusal(scheme: HashScheme, status: number, memoryBytes: number): PlumblineError {
  switch (status) {
    case STATUS.notCanonical:
      return new PlumblineError('HASH_INPUT_NOT_CANONICAL', `a word of the ${scheme} input is not below the modulus`, {
        scheme,
      });
    case STATUS.reservedKey:
      return outOfRange('hkey', 'that of head or tail', 'between the keys of head and tail');
    case STATUS.trieFull:
      return outOfRange('leaf position', String(2 ** 32 - 1), '2^32 - 2');
    case STATUS.badPosition:
      return outOfRange('leaf position', 'not in use', 'below nextFreeNode');
    case STATUS.noMemory:
      return new PlumblineError(
        'KERNEL_OUT_OF_MEMORY',
        `the kernel needs more than ${memoryBytes} bytes of memory, and the engine gives no more`,
        {
          kernel: 'trie',
          memoryBytes,
        },
      );
    default:
      return new PlumblineError('INTERNAL', `the trie kernel returned the unknown status ${status}`, {
        reason: `status ${status}`,
      });
  }
}

function outOfRange(what: string, value: string, limit: string): PlumblineError<'OUT_OF_RANGE'> {
  return new PlumblineError('OUT_OF_RANGE', `${what} is ${value}, must be ${limit}`, { what, value, limit });
}
