import { privateToAddress } from '@ethereumjs/util';
import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import { expect, test } from 'vitest';
import { DEV_ACCOUNTS, DEV_MNEMONIC } from '../../src/chain/devnet/state/dev-accounts.js';
import { bytesToHex } from '../../src/primitives/hex.js';

test('the dev accounts are those of the mnemonic (derived by @scure/bip32)', () => {
  const root = HDKey.fromMasterSeed(mnemonicToSeedSync(DEV_MNEMONIC));
  const derived = DEV_ACCOUNTS.map((_, index) => {
    const key = root.derive(`m/44'/60'/0'/0/${index}`).privateKey!;
    return { address: bytesToHex(privateToAddress(key)), privateKey: bytesToHex(key) };
  });
  expect(DEV_ACCOUNTS).toEqual(derived);
  expect(DEV_ACCOUNTS).toHaveLength(10);
});
