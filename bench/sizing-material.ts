import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { type Material, openMaterial } from '../conformance/area.js';

/** The dictionary that Linea's networks size with, by its name in the fixtures. */
export const NETWORK_DICTIONARY = '25-04-21';

/** The fixtures beside the repository, or undefined where they are not. */
export function compressionFixtures(): Material | undefined {
  const directory = resolve('../shared/fixtures');
  return existsSync(`${directory}/compression/corpus-1.json`) ? openMaterial(directory, 'simd') : undefined;
}
