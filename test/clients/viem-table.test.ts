import { readFileSync } from 'node:fs';
import { BaseError, type Hex } from 'viem';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { serve } from '../../src/hosts/cli/server.js';
import { Anvil, anvilPath } from '../support/anvil.js';
import { lightScene } from '../support/light-node.js';
import { type Endpoint, openEndpoint } from './endpoint.js';
import { PUBLIC_ROWS, type Row, setPublicState } from './viem-table/public-rows.js';
import { clientsOf, openScene, type Scene } from './viem-table/scene.js';
import { TESTER_ROWS } from './viem-table/tester-rows.js';
import { type Expected, WALLET_ROWS } from './viem-table/wallet-rows.js';

const CHAIN_ID = 59_139;
type Rows = Readonly<Record<string, Row | Expected>>;

/** What a call of an action comes to: its value, or who refuses it, and with which code. */
type Outcome = { readonly value: unknown } | { readonly refused: string };

async function outcomeOf(row: Row, scene: Scene): Promise<Outcome> {
  try {
    return { value: await row(scene) };
  } catch (error) {
    if (!(error instanceof BaseError)) throw error;
    const coded = error.walk((cause) => typeof (cause as { code?: unknown }).code === 'number') as {
      code: number;
    } | null;
    return { refused: coded === null ? `by viem: ${error.name}` : String(coded.code) };
  }
}

/** Rows of the table of a section of docs/clients.md: the action, and what is said of it. */
function documented(section: string): [name: string, ...cells: string[]][] {
  const text = readFileSync(new URL('../../docs/clients.md', import.meta.url), 'utf8');
  const [, rest = ''] = text.split(`\n### ${section}\n`);
  return rest
    .split('\n#')[0]!
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter(([, name]) => name?.startsWith('`'))
    .map(([, name = '', ...cells]) => [name.slice(1, -1), ...cells.slice(0, -1)]);
}

const cellOf = (outcome: Outcome) => ('value' in outcome ? 'works' : `refused ${outcome.refused}`);
/** Functions of a client that are no actions. */
const OF_CLIENT = ['extend', 'request'];
/** Names of the functions of a client, those of its `token` with that before them. */
const actionsOf = (client: object) => {
  const named = (from: object, before = '') =>
    Object.entries(from)
      .filter(([name, member]) => typeof member === 'function' && !OF_CLIENT.includes(name))
      .map(([name]) => `${before}${name}`);
  const { token = {} } = client as { token?: object };
  return [...named(client), ...named(token, 'token.')].sort();
};

let ours: Endpoint;
let anvil: Anvil;
let scene: Scene;
let theirs: Scene;

describe.skipIf(anvilPath() === undefined)('every action of viem', () => {
  beforeAll(async () => {
    ours = await openEndpoint({ chain: { kind: 'devnet', tool: 'anvil' } });
    anvil = await Anvil.start('osaka', [], { chainId: CHAIN_ID, accounts: 10 });
    scene = await openScene(ours, CHAIN_ID);
    theirs = await openScene({ http: anvil.url, webSocket: anvil.url.replace('http', 'ws') }, CHAIN_ID);
    for (const one of [scene, theirs]) await setPublicState(one);
  });
  afterAll(async () => {
    await anvil.close();
    await ours.close();
  });

  const sections: [string, Rows, () => object][] = [
    ['Public actions', PUBLIC_ROWS, () => scene.reader],
    ['Wallet actions', WALLET_ROWS, () => scene.wallet],
    ['Test actions', TESTER_ROWS, () => scene.tester],
  ];

  describe.each(sections)('%s', (section, rows, client) => {
    const found: Record<string, string> = {};

    test('has a row', () => {
      expect(Object.keys(rows).sort()).toEqual(actionsOf(client()));
    });

    test.each(Object.entries(rows))('%s: as anvil, or as the EIP says', async (name, row) => {
      const outcome = await outcomeOf('run' in row ? row.run : row, scene);
      found[name] = cellOf(outcome);
      if ('refused' in outcome) return;
      expect(outcome).toEqual('run' in row ? { value: row.is } : await outcomeOf(row, theirs));
    });

    test('is said in docs/clients.md', () => {
      const said = documented(section).map(([name, devnet]) => [name, devnet]);
      expect(said).toEqual(Object.entries(found).sort(([a], [b]) => a.localeCompare(b)));
    });
  });
});

test('every public action of viem on a light node: as on the devnet that it reads, or refused as docs/clients.md says', async () => {
  // Rows send to the devnet directly, too: each read of the light node has to be of its newest block.
  const { dev, light } = await lightScene({ chain: { headMaxAgeMs: 0 } });
  const server = await serve(light, { port: 0 });
  const below = await serve(dev.node, { port: 0 });
  const urlsOf = ({ port }: { readonly port: number }) => ({
    http: `http://127.0.0.1:${port}`,
    webSocket: `ws://127.0.0.1:${port}`,
  });
  try {
    const direct = await openScene(urlsOf(below), CHAIN_ID);
    await setPublicState(direct);
    const { reader, socket, wallet } = clientsOf(urlsOf(server), CHAIN_ID);
    const mined = (hash: Hex) => reader.waitForTransactionReceipt({ hash });
    await direct.tester.mine({ blocks: 1 });
    const found: string[][] = [];
    for (const [name, row] of Object.entries(PUBLIC_ROWS)) {
      const outcome = await outcomeOf(row, { ...direct, reader, socket, wallet, mined });
      found.push([name, cellOf(outcome)]);

      if ('value' in outcome) expect.soft([name, outcome]).toEqual([name, await outcomeOf(row, direct)]);
    }
    expect(documented('Public actions').map(([name, , cell]) => [name, cell])).toEqual(
      found.sort(([a], [b]) => a!.localeCompare(b!)),
    );
  } finally {
    for (const one of [server, below]) await one.close({ graceMs: 100 });
  }
});
