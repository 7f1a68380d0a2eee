/** Texts by the codes in assembly/evm/exceptions.ts. */
const EXCEPTIONS: readonly (string | undefined)[] = [
  undefined,
  'revert',
  'out of gas',
  'stack underflow',
  'stack overflow',
  'invalid JUMP',
  'invalid opcode',
  'static state change',
  'insufficient balance',
  'call depth exceeded',
  'create collision',
  'out of gas',
  'code size to deposit exceeds maximum code size',
  'invalid bytecode deployed',
  'initcode exceeds max initcode size',
  'nonce overflow',
  'precompile failed',
  'return data out of bounds',
];

/** Why an execution failed, by its code; undefined for the code 0, which is none. */
export function exceptionText(code: number): string | undefined {
  return code === 0 ? undefined : (EXCEPTIONS[code] ?? 'internal error');
}
