import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import type { Chain } from '../../src/chain/chain.js';
import { linea } from '../../src/networks/linea.js';
import { aliasesOf, isIdempotent, isTimed, METHOD_INFO, mayChange } from '../../src/rpc/method-info.js';
import type { MethodInfo } from '../../src/rpc/method-rows.js';
import { METHODS } from '../../src/rpc/methods/chain-methods.generated.js';
import type { RpcContext } from '../../src/rpc/methods/context.js';
import { DEVNET_METHODS } from '../../src/rpc/methods/devnet-methods.generated.js';
import { layerOneTable } from '../../src/rpc/methods/layer-one.js';
import { inspectTable, methodTable } from '../../src/rpc/methods/method-table.js';

const KINDS = ['devnet', 'light', 'replica'] as const;
const L2: Readonly<Record<string, MethodInfo>> = METHOD_INFO.l2;
const ALIASES = new Map(aliasesOf(linea.methodPrefix));

const contextOf = (kind: Chain['kind']) => ({ chain: { kind, network: linea } }) as RpcContext;
const infoOf = (name: string) => L2[ALIASES.get(name) ?? name];

/** Rows of the tables of docs/methods.md: each name, with its class on a devnet, and on a light node or a replica. */
function documentedRows(): [name: string, ...classes: string[]][] {
  return readFileSync(new URL('../../docs/methods.md', import.meta.url), 'utf8')
    .split('\n')
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .filter(([, names]) => names?.startsWith('`'))
    .flatMap(([, names = '', devnet = '', others = '']) => {
      return [...names.matchAll(/`([^`]+)`/g)].map(([, name]): [string, ...string[]] => [
        name!,
        devnet,
        others,
        others,
      ]);
    });
}

describe('the tables of docs/methods.md', () => {
  test('has every method once, with its class on each kind of chain', () => {
    const classes = (name: string) =>
      KINDS.map((kind) => {
        const own = infoOf(name)!.answers[kind];
        return own === 'off' ? '–' : own;
      });
    const names = [...Object.keys(L2), ...ALIASES.keys()];
    const rows = documentedRows().sort(([a], [b]) => a.localeCompare(b));
    expect(rows).toEqual(names.map((name) => [name, ...classes(name)]).sort(([a], [b]) => a!.localeCompare(b!)));
  });
});

describe('every method has its own metadata, and all metadata a method', () => {
  test('JSON-RPC on a devnet', () => {
    const table = methodTable(contextOf('devnet'), DEVNET_METHODS);
    const served = Object.keys(L2).filter((name) => infoOf(name)!.answers.devnet !== 'off');
    const aliases = [...ALIASES].filter(([, name]) => served.includes(name)).map(([alias]) => alias);
    expect(table.names).toEqual([...served, ...aliases].sort());
    for (const name of table.names) {
      expect(table.find(name).name).toBe(ALIASES.get(name) ?? name);
      expect(table.find(name).info, name).toEqual(infoOf(name));
    }
  });

  test.each(['light', 'replica'] as const)('JSON-RPC on a %s: what is off there is not enabled', (kind) => {
    const table = methodTable(contextOf(kind));
    for (const [name, { answers }] of Object.entries(L2)) {
      if (answers[kind] !== 'off') expect(table.find(name).name).toBe(name);
      else expect(() => table.find(name)).toThrowError(expect.objectContaining({ code: 'METHOD_NOT_ENABLED' }));
    }
    expect(() => table.find('debug_setHead')).toThrowError(expect.objectContaining({ code: 'METHOD_NOT_FOUND' }));
  });

  test.each([
    ['inspect', inspectTable()],
    ['l1', layerOneTable([...METHODS, ...DEVNET_METHODS])],
  ] as const)('%s', (layer, table) => {
    const infos: Readonly<Record<string, MethodInfo>> = METHOD_INFO[layer];
    expect(table.names).toEqual(Object.keys(infos).sort());
    for (const name of table.names) expect(table.find(name).info, name).toBe(infos[name]);
  });
});

describe('what may be sent twice', () => {
  // By their names: tools call what only reads get…, and everything else changes the chain. A method whose name says otherwise
  // is added here.
  const changing =
    /^(evm|anvil|hardhat|tenderly)_(?!get|metadata|nodeInfo|dumpState)|^eth_send(Unsigned)?Transaction(Sync)?$|_sendForced|^wallet_sendCalls$/;

  test.each(Object.keys(METHOD_INFO.l2))('%s', (name) => {
    expect(isIdempotent('l2', name), 'effect in METHOD_INFO against the pattern above').toBe(!changing.test(name));
    expect(mayChange('l2', name)).toBe(changing.test(name) || /^eth_sendRawTransaction(Sync)?$/.test(name));
  });

  test('of what the library offers beside JSON-RPC, clearing and importing is sent once', () => {
    const names = Object.keys(METHOD_INFO.inspect);
    expect(names.filter((name) => !isIdempotent('inspect', name))).toEqual(['clear', 'importChain']);
    expect(names.filter((name) => !isTimed('inspect', name))).toEqual(['clear', 'exportChain', 'importChain']);
  });

  test.each(['debug_setHead', 'anvil_setValidator', 'constructor', '__proto__', '', 'setBalance'])(
    'a method that is not in the table, %j, is treated as one that changes the chain each time',
    (name) => {
      for (const layer of ['l2', 'inspect', 'l1'] as const) {
        expect(isIdempotent(layer, name)).toBe(false);
        expect(mayChange(layer, name)).toBe(true);
        expect(isTimed(layer, name)).toBe(true);
      }
    },
  );

  test('an alias is its method', () => {
    for (const name of ['l2_getProof', 'l2_estimateGas', 'status_getProof']) {
      expect([isIdempotent('l2', name), mayChange('l2', name)]).toEqual([true, false]);
    }
  });
});
