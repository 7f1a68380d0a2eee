import { describe, expect, it } from 'vitest';
import { joinKey, shownAddress, splitKey, wholeAddress } from '../../demo/state/secrets.js';

const KEY = '0123456789abcdef0123456789abcdef';

/** Addresses with a key in them, and what of each is shown. */
const WITH_KEY: readonly (readonly [address: string, shown: string])[] = [
  [`https://linea.example/v3/${KEY}`, 'https://linea.example/v3/{key}'],
  [`https://rpc.example/v2/${KEY}/more`, 'https://rpc.example/v2/{key}'],
  [`http://127.0.0.1:8545/${KEY}`, 'http://127.0.0.1:8545/{key}'],
  [`https://rpc.example/linea?apikey=${KEY}`, 'https://rpc.example/linea?{key}'],
  [`https://user:${KEY}@rpc.example/linea`, 'https://{key}@rpc.example/linea'],
  [`https://rpc.example/${KEY}?also=${KEY}`, 'https://rpc.example/{key}'],
  // More than one place: all from the first on is the key.
  [`https://user:pass@rpc.example/v3/${KEY}?also=${KEY}`, 'https://{key}'],
  // A token of three parts, a short key behind a version, and letters that a replacement would read as its own.
  [`https://rpc.example/eyJhbGciOiJI.${KEY}.sig_-1`, 'https://rpc.example/{key}'],
  ['https://rpc.example/v2/short-key', 'https://rpc.example/v2/{key}'],
  [`https://rpc.example/?key=$&$$${KEY}`, 'https://rpc.example/?{key}'],
  [`https://rpc.example/linea#${KEY}`, 'https://rpc.example/linea#{key}'],
];

describe('keys in addresses', () => {
  it.each(WITH_KEY)('%s', (address, shown) => {
    const field = splitKey(address);
    expect(field.address).toBe(shown);
    expect(shownAddress(field)).not.toContain(KEY);
    expect(field.address).not.toContain(KEY);
    expect(joinKey(field)).toBe(address);
    expect(wholeAddress(field)).toBe(address);
  });

  it.each(['https://rpc.linea.build', 'http://localhost:8545/l1', '', 'no address', 'https://rpc.example/v3/{key}'])(
    '%s has none',
    (address) => {
      expect(splitKey(address)).toEqual({ address, key: '' });
    },
  );

  it('goes behind an address without a place for it', () => {
    const field = { address: 'https://linea.example/', key: KEY };
    expect(joinKey(field)).toEqual({ url: 'https://linea.example/', apiKey: KEY });
    expect(wholeAddress(field)).toBe(`https://linea.example/v3/${KEY}`);
    expect(shownAddress(field)).toBe('https://linea.example/v3/{key}');
  });

  it('names what is missing or no address, and never the key', () => {
    expect(() => joinKey({ address: 'https://linea.example/v3/{key}', key: '' })).toThrow(/needs its key/);
    expect(() => joinKey({ address: 'ftp://linea.example', key: '' })).toThrow(/not an http/);
    expect(() => joinKey({ address: 'linea.example', key: KEY })).toThrow(
      expect.not.objectContaining({ message: expect.stringContaining(KEY) }),
    );
  });
});
