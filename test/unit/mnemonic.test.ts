import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import { privateKeyToAddress } from 'viem/accounts';
import { expect, test } from 'vitest';
import { DEV_ACCOUNTS, DEV_MNEMONIC } from '../../src/chain/devnet/state/dev-accounts.js';
import { accountsOfMnemonic } from '../../src/hosts/cli/mnemonic.js';
import { bytesToHex } from '../../src/primitives/hex.js';

const OTHER = 'legal winner thank year wave sausage worth useful legal winner thank yellow';

/** By another library. */
function expected(mnemonic: string, count: number) {
  const root = HDKey.fromMasterSeed(mnemonicToSeedSync(mnemonic));
  return Array.from({ length: count }, (_, i) => {
    const privateKey = bytesToHex(root.derive(`m/44'/60'/0'/0/${i}`).privateKey!);
    return { address: privateKeyToAddress(privateKey).toLowerCase(), privateKey };
  });
}

test('the accounts of a mnemonic are those of other wallets', () => {
  expect(accountsOfMnemonic(DEV_MNEMONIC, 10)).toEqual(DEV_ACCOUNTS);
  expect(accountsOfMnemonic(DEV_MNEMONIC, 30)).toEqual(expected(DEV_MNEMONIC, 30));
  expect(accountsOfMnemonic(`  ${OTHER.replaceAll(' ', '\t ')}\n`, 5)).toEqual(expected(OTHER, 5));
});
