import { type Material, openMaterial } from '../conformance/area.js';
import { FIXTURE_DIRECTORIES } from '../test/support/fixtures.js';

/** The dictionary that Linea's networks size with, by its name in the fixtures. */
export const NETWORK_DICTIONARY = '25-04-21';

/** The fixtures, or undefined where the recorded transactions and the networks' dictionaries are not there. */
export function compressionFixtures(): Material | undefined {
  const material = openMaterial(FIXTURE_DIRECTORIES, 'simd');
  return material.has('compression/corpus-1.json') ? material : undefined;
}
