// Lodestar's light client 1.28.1, unmodified, follows the simulated beacon chain of a devnet at /l1.
import './preset.mjs';
import assert from 'node:assert/strict';
import { setTimeout as wait } from 'node:timers/promises';
import { getClient } from '@lodestar/api';
import { createChainForkConfig } from '@lodestar/config';
import { minimalChainConfig } from '@lodestar/config/configs';
import { Lightclient, LightclientEvent } from '@lodestar/light-client';
import { LightClientRestTransport } from '@lodestar/light-client/transport';
import { createInlineNode } from 'plumbline-l2/inline';
import { serve } from 'plumbline-l2-cli';
import { atEnd, check, main, until } from '../lib.mjs';

const NAME = 'Lodestar light client 1.28.1';
/** Periods have 64 slots of a second: these are four, in part. */
const SECONDS = Number(process.env.INTEROP_SECONDS ?? 230);
const GENESIS_TIME = 1_700_000_000;
const presentPeriod = () => Math.floor((Date.now() / 1000 - GENESIS_TIME) / 64);
const bytes = (hex) => Uint8Array.from(Buffer.from(hex.slice(2), 'hex'));
const version = (place) => bytes(`0x0${place}e70300`);
const forks = ['ALTAIR', 'BELLATRIX', 'CAPELLA', 'DENEB', 'ELECTRA', 'FULU'];
const config = createChainForkConfig({
  ...minimalChainConfig,
  SECONDS_PER_SLOT: 1,
  SLOT_DURATION_MS: 1000,
  MIN_GENESIS_TIME: GENESIS_TIME,
  GENESIS_FORK_VERSION: version(0),
  ...Object.fromEntries(
    forks.flatMap((fork, at) => [
      [`${fork}_FORK_EPOCH`, 0],
      [`${fork}_FORK_VERSION`, version(at + 1)],
    ]),
  ),
});

async function follow(baseUrl, root, ms) {
  const api = getClient({ baseUrl }, { config });
  const { data: genesis } = await (await fetch(`${baseUrl}/eth/v1/beacon/genesis`)).json();
  const refused = [];
  const note = (_, context, error) => refused.push(`${error?.message ?? ''} ${JSON.stringify(context ?? {})}`);
  const nothing = () => {};
  const client = await Lightclient.initializeFromCheckpointRoot({
    config,
    logger: { error: note, warn: note, info: nothing, debug: nothing, verbose: nothing, trace: nothing },
    genesisData: { genesisTime: Number(genesis.genesis_time), genesisValidatorsRoot: genesis.genesis_validators_root },
    transport: new LightClientRestTransport(api),
    checkpointRoot: bytes(root),
  });
  const finalized = new Set();
  const heads = new Set();
  client.emitter.on(LightclientEvent.lightClientFinalityHeader, ({ beacon }) => finalized.add(beacon.slot));
  client.emitter.on(LightclientEvent.lightClientOptimisticHeader, ({ beacon }) => heads.add(beacon.slot));
  void client.start();
  await wait(ms);
  client.stop();
  return { finalized, heads, refused, client };
}

main(async () => {
  const node = await createInlineNode();
  const server = await serve(node, { port: 0 });
  atEnd(() => node.close());
  atEnd(() => server.close());
  const baseUrl = `http://127.0.0.1:${server.port}/l1`;
  const block = () => node.request({ method: 'evm_mine', params: [] });
  for (let at = 0; at < 6; at++) await block();
  const blocks = setInterval(block, 3_000);
  atEnd(() => clearInterval(blocks));
  const rootAt = async (id) => {
    const reply = await fetch(`${baseUrl}/eth/v1/beacon/headers/${id}`);
    return reply.ok && (await reply.json()).data.root;
  };
  const old = await check(`${NAME}: it starts from a root of 30 periods ago`, async () => {
    const url = `${baseUrl}/eth/v1/beacon/light_client/updates?start_period=${presentPeriod() - 30}&count=1`;
    const [update] = await (await fetch(url, { headers: { accept: 'application/json' } })).json();
    const root = await rootAt(update.data.finalized_header.beacon.slot);
    assert(root);
    return follow(baseUrl, root, 30_000);
  });
  if (old === undefined) return;
  await check(`${NAME}: it is led through each period to the present one, and no update is refused`, () => {
    assert.deepEqual(old.refused, []);
    const { beacon } = old.client.getFinalized();
    assert(presentPeriod() - Math.floor(beacon.slot / 64) <= 1, `${beacon.slot}`);
  });
  const root = await until('there is a finalized beacon block', () => rootAt('finalized'));
  const result = await check(`${NAME}: it starts from a finalized root and runs for ${SECONDS} s`, () =>
    follow(baseUrl, root, SECONDS * 1000),
  );
  if (result === undefined) return;
  await check(`${NAME}: no update is refused`, () => assert.deepEqual(result.refused, []));
  await check(`${NAME}: finality moves, over ${Math.floor(SECONDS / 64)} periods`, () => {
    const slots = [...result.finalized].sort((a, b) => a - b);
    assert(slots.length > SECONDS / 15, `${slots.length} finalized headers`);
    assert(
      Math.floor(slots.at(-1) / 64) - Math.floor(slots[0] / 64) >= Math.floor(SECONDS / 64) - 1,
      `${slots[0]} to ${slots.at(-1)}`,
    );
  });
  await check(`${NAME}: heads move`, () => assert(result.heads.size > SECONDS / 15, `${result.heads.size} heads`));
  await check(`${NAME}: its finalized header is the devnet's`, async () => {
    const { beacon } = result.client.getFinalized();
    const { data } = await (await fetch(`${baseUrl}/eth/v1/beacon/headers/${beacon.slot}`)).json();
    assert.equal(data.header.message.state_root, `0x${Buffer.from(beacon.stateRoot).toString('hex')}`);
  });
});
