import { keccak_256 } from '@noble/hashes/sha3.js';
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js';
import { describe, expect, test } from 'vitest';
import { explain } from '../../demo/lib/explain.js';
import { decodedError, ERRORS } from '../../demo/lib/reverts.js';
import { LEVELS, toneOf, trustMeaning, trustWords, weakest } from '../../demo/lib/trust.js';

describe('the scale of trust (docs/security.md)', () => {
  const levels = Object.keys(LEVELS) as (keyof typeof LEVELS)[];

  test('what rests on the word of one server is amber, whatever was checked above it', () => {
    for (const level of ['plain', 'finalized'] as const) {
      for (const kind of ['proved', 'computed'] as const) expect(toneOf({ class: kind, level })).toBe('warn');
    }
    for (const level of levels) expect(toneOf({ class: 'forwarded', level })).toBe('warn');
    expect(toneOf({ class: 'forwarded' })).toBe('warn');
    expect(toneOf(undefined)).toBe('warn');
  });

  test('several servers that agree are neither checked nor one word', () => {
    expect(toneOf({ class: 'proved', level: 'linked' })).toBe('agreed');
    expect(weakest('agreed', 'good')).toBe('agreed');
    expect(weakest('agreed', 'warn')).toBe('warn');
  });

  test('a chain has the tone of its weakest link', () => {
    expect(toneOf({ class: 'held' }, { class: 'proved', level: 'settled' })).toBe('good');
    expect(toneOf({ class: 'forwarded' }, { class: 'proved', level: 'settled' })).toBe('warn');
  });

  test('words and meaning name the weakest link, and the node’s own terms', () => {
    expect(trustWords({ class: 'computed', level: 'plain' })).toBe('computed here · one server names the block');
    expect(trustWords({ class: 'held', level: 'held' })).toBe('this page’s own');
    for (const level of levels) expect(trustMeaning({ class: 'proved', level })).toContain(`“${level}”`);
  });
});

describe('errors', () => {
  test('each declared error has the selector of its signature', () => {
    for (const [selector, declared] of Object.entries(ERRORS)) {
      const signature = declared.replace(/(\w+) \w+/g, '$1').replaceAll(', ', ',');
      expect(bytesToHex(keccak_256(utf8ToBytes(signature))).slice(0, 8), signature).toBe(selector);
    }
  });

  test('data that is too short for its error is named by its selector', () => {
    const error = { code: 3, message: 'Execution reverted', data: '0xdb42144d00' };
    expect(decodedError(error)?.text).toContain('0xdb42144d');
    expect(explain(error).title).toBe('The transaction would revert');
  });

  test('a text of the contract stays as the node gives it', () => {
    const data = `0x08c379a0${'20'.padStart(64, '0')}${'2'.padStart(64, '0')}${'6e6f'.padEnd(64, '0')}`;
    const error = { code: 3, message: 'Execution reverted (no)', data };
    expect(decodedError(error)).toBeUndefined();
    expect(explain(error).message).toBe('Execution reverted (no)');
  });

  test('an unknown error says where to look', () => {
    expect(explain(new Error('something else')).advice).toContain('Log');
  });
});
