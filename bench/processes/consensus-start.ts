/** A fresh process that loads the light client of layer 1, verifies a bootstrap and a finality update: `FILE`. */
import { readFile } from 'node:fs/promises';

const [file] = process.argv.slice(2);
const scenario = JSON.parse(await readFile(file!, 'utf8'));
const root = Uint8Array.from(Buffer.from(scenario.trustedBlockRoot.slice(2), 'hex'));

const started = performance.now();
const [
  { processLightClientUpdates },
  { objectFrom },
  { initializeLightClientStore },
  { publicBeaconNetwork },
  { finish },
] = await Promise.all([
  import('../../src/consensus/rules.js'),
  import('../../src/consensus/containers.js'),
  import('../../src/consensus/rules.js'),
  import('../../src/networks/beacon-networks.js'),
  import('../../src/scheduling/pieces.js'),
]);
const MAINNET = publicBeaconNetwork(1)!;
const answer = ({ version, json }: { version: string; json: unknown }) => ({ version, data: json });
const bootstrap = objectFrom(MAINNET, 'bootstrap', answer(scenario.bootstrap));
const verdict = initializeLightClientStore(MAINNET, bootstrap, {
  root,
  currentSlot: Number.MAX_SAFE_INTEGER,
  maxAgeSlots: Number.MAX_SAFE_INTEGER,
});
if (!verdict.verified) throw new Error(verdict.reason);
const step = scenario.steps.find(({ op }: { op: string }) => op === 'finality');
const finality = objectFrom(MAINNET, 'finalityUpdate', answer(step.object));
const pieces = processLightClientUpdates(MAINNET, verdict.store, [finality], step.currentSlot);
const { applied } = await finish(pieces, () => undefined);
const ms = performance.now() - started;
if (applied.length !== 1) throw new Error('the finality update was refused');

const { blsVerification } = await import('../consensus-yardstick.js');
const verify = blsVerification();
const times = Array.from({ length: 9 }, () => {
  const begun = performance.now();
  verify();
  return performance.now() - begun;
});
times.sort((a, b) => a - b);
console.log(JSON.stringify({ ms, verifyMs: times[4] }));
