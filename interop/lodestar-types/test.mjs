// Objects of light clients of each fork and preset up to Gloas: bytes, roots and JSON equal to those of @lodestar/types 1.50.0.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { check, main } from '../lib.mjs';

const COUNT = Number(process.env.INTEROP_COUNT ?? 1000);
const script = new URL('compare.mjs', import.meta.url).pathname;

main(async () => {
  for (const preset of ['minimal', 'mainnet']) {
    const env = { ...process.env, LODESTAR_PRESET: preset };
    const run = () => promisify(execFile)(process.execPath, [script, preset, String(COUNT)], { env });
    const result = await check(`@lodestar/types 1.50.0, preset ${preset}: each object is built and hashed alike`, run);
    if (result === undefined) continue;
    for (const [fork, compared] of Object.entries(JSON.parse(result.stdout)))
      await check(`${preset}, ${fork}: ${compared} random objects`, () => assert.equal(compared, COUNT));
  }
});
