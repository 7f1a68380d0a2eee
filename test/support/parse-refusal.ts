import { expect } from 'vitest';
import { RpcError, toRpcError } from '../../src/rpc/rpc-errors.js';

/** The -32602 message of what `parse` throws. */
export function refusal(parse: () => unknown): string {
  try {
    parse();
  } catch (error) {
    expect(error).toBeInstanceOf(RpcError);
    expect(toRpcError(error).code).toBe(-32602);
    return toRpcError(error).message;
  }
  throw new Error('was accepted');
}

/** An address with a capital. */
export const ADDRESS = '0x10000000000000000000000000000000000000Aa';
/** 32 bytes of 0xab. */
export const WORD = `0x${'ab'.repeat(32)}`;
/** What a parameter that was left out comes as. */
export const ABSENT = [undefined, null];
