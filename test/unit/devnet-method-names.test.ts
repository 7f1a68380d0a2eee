import { expect, test } from 'vitest';
import { DEVNET_METHOD_NAMES } from '../../src/rpc/devnet-method-names.js';
import { DEVNET_METHODS } from '../../src/rpc/devnet-methods.js';

test('the method names that other nodes refuse are those of a devnet', () => {
  expect([...DEVNET_METHOD_NAMES].sort()).toEqual(DEVNET_METHODS.map(({ name }) => name).sort());
});
