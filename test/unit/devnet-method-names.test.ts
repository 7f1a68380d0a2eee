import { expect, test } from 'vitest';
import { DEVNET_METHOD_NAMES } from '../../src/rpc/devnet-method-names.js';
import { DEVNET_METHODS } from '../../src/rpc/tables/devnet-methods.js';

test('the names that other nodes refuse are those of the methods of a devnet', () => {
  expect([...DEVNET_METHOD_NAMES].sort()).toEqual(DEVNET_METHODS.map(({ name }) => name).sort());
});
