// Helios 0.11.1, the other light client of Ethereum for pages: what it ships, and whether it can follow a chain that is made for a test.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { createHeliosProvider } from '@a16z/helios';
import { check, fault, main } from '../lib.mjs';

const NAME = 'Helios 0.11.1';
const ROOT = join(import.meta.dirname, '../..');
const MOST = 0.15;
const NOWHERE = 'http://127.0.0.1:1';

/** Kilobytes of a row of `npm run size`. */
function sizeOf(rows, name) {
  const line = rows.split('\n').find((row) => row.startsWith(name));
  return Number(/([\d.]+) KB gzip/.exec(line)[1]);
}

main(async () => {
  await check(`${NAME}: a page ships at most ${MOST} of its bytes for a light node of Ethereum`, () => {
    const bundle = join(import.meta.dirname, 'node_modules/@a16z/helios/dist/lib.mjs');
    const theirs = gzipSync(readFileSync(bundle), { level: 9 }).length / 1024;
    const rows = execFileSync(process.execPath, [join(ROOT, 'scripts/size.mjs')], { encoding: 'utf8' });
    const page = sizeOf(rows, 'plumbline-l2: entry with its worker client');
    const node = sizeOf(rows, 'worker, light node of layer 1, its consensus included');
    const ratio = (page + node) / theirs;
    console.log(`   ${(page + node).toFixed(1)} KB beside ${theirs.toFixed(0)} KB gzip: ${ratio.toFixed(3)}`);
    assert(ratio <= MOST, String(ratio));
  });
  // So the two cannot be measured over one chain here: their networks are built in, by name.
  await fault(NAME, 'a network is one of its names, and no chain of your own', async () => {
    const options = { executionRpc: NOWHERE, consensusRpc: NOWHERE, dbType: 'config' };
    await assert.rejects(createHeliosProvider({ ...options, network: 'own' }, 'ethereum'), /invalid network: own/);
    await assert.rejects(createHeliosProvider({ ...options, network: { name: 'own', chainId: 1337 } }, 'ethereum'));
  });
});
