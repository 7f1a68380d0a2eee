import { describe, expect, it } from 'vitest';
import { differsFromRecord, differsInShape, parseIoFile } from '../../conformance/io-file.js';

// Format and comparison: docs/spec/json-rpc.md 8.

describe('an .io file', () => {
  it('pairs requests with answers and knows examples from records', () => {
    const file = parseIoFile(
      '// one\n>> {"id":1}\n<< {"id":1,"result":"0x1"}\n\n>> {"id":2}\n<< {"id":2,"result":null}\n',
    );
    expect(file).toEqual({
      specOnly: false,
      exchanges: [
        { request: '{"id":1}', response: { id: 1, result: '0x1' } },
        { request: '{"id":2}', response: { id: 2, result: null } },
      ],
    });
    expect(parseIoFile('// speconly: only the schema.\n>> {}\n<< {"result":1}').specOnly).toBe(true);
  });

  it.each(['', '// only a comment', '>> {}', '<< {}', '>> {}\n>> {}\n<< {}', '>> {}\n<< {"result"', 'eth_call'])(
    'is refused when it is %j',
    (text) => {
      expect(() => parseIoFile(text)).toThrow();
    },
  );
});

describe('answers', () => {
  const error = (code: number, message: string, data?: string) => ({
    id: 1,
    error: { code, message, ...(data !== undefined && { data }) },
  });

  it('are compared as JSON, whatever the order of members', () => {
    const record = { id: 1, result: { a: '0x1', b: ['0x2', null] } };
    expect(differsFromRecord(record, { result: { b: ['0x2', null], a: '0x1' }, id: 1 })).toBeUndefined();
    for (const result of [
      { a: '0x1', b: ['0x2'] },
      { a: '0x01', b: ['0x2', null] },
      { a: '0x1', b: ['0x2', null], c: 1 },
      { a: '0x1' },
      null,
    ]) {
      expect(differsFromRecord(record, { id: 1, result })).toBeTypeOf('string');
    }
    expect(differsFromRecord(record, { ...record, id: 2 })).toBeTypeOf('string');
  });

  it('of errors are compared by code and data alone, also within results', () => {
    const record = error(3, 'execution reverted: why', '0x08');
    expect(differsFromRecord(record, error(3, 'Execution reverted', '0x08'))).toBeUndefined();
    expect(differsFromRecord(record, error(3, 'execution reverted: why'))).toBeTypeOf('string');
    expect(differsFromRecord(record, error(-32000, 'execution reverted: why', '0x08'))).toBeTypeOf('string');
    const inside = (message: string, code: number) => ({ result: [{ calls: [error(code, message)] }] });
    expect(differsFromRecord(inside('a', 3), inside('b', 3))).toBeUndefined();
    expect(differsFromRecord(inside('a', 3), inside('a', 4))).toBeTypeOf('string');
  });

  it('to examples have the shape of the example', () => {
    const record = { id: 1, result: { gas: '0x5208', list: [{ key: '0x00' }], name: 'x' } };
    const other = { id: 1, result: { gas: '0x1', list: [], name: 'y', more: 1 } };
    expect(differsInShape(record, other)).toBeUndefined();
    for (const result of [
      { ...other.result, gas: 21_000 },
      { ...other.result, gas: 'much' },
      { ...other.result, list: {} },
      { ...other.result, list: [{ key: null }] },
      { gas: '0x1', list: [] },
    ]) {
      expect(differsInShape(record, { id: 1, result })).toBeTypeOf('string');
    }
    expect(differsInShape(record, error(3, 'no'))).toBeTypeOf('string');
    expect(differsInShape(error(3, 'a', '0x01'), error(3, 'b', '0x02'))).toBeUndefined();
    expect(differsInShape(error(3, 'a', '0x01'), error(3, 'b'))).toBeTypeOf('string');
  });
});
