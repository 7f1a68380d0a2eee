import { Common, Hardfork, Mainnet } from '@ethereumjs/common';
import { createBlob4844Tx, createEOACode7702Tx } from '@ethereumjs/tx';
import { eoaCode7702SignAuthorization } from '@ethereumjs/util';
import { DEV_ACCOUNTS } from '../../src/chain/devnet/state/dev-accounts.js';
import type { TransactionDiagnosis } from '../../src/diagnosis/diagnosis.js';
import { devnet } from '../../src/networks/devnet.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { PRICE, stranger } from './dev-node.js';
import { signTransaction, type Unsigned } from './sign.js';

/** Calls RIPEMD-160 with one byte, which Linea's prover cannot do at all. */
export const RIPEMD: Hex = `0x13${'00'.repeat(19)}`;
/** Reverts with nothing. */
export const REVERTS: Hex = `0x14${'00'.repeat(19)}`;
const DENIED = stranger('dd');
const alloc = {
  [RIPEMD]: { nonce: 1n, code: '0x60205f60015f5f60035af100' as Hex },
  [REVERTS]: { nonce: 1n, code: '0x5f5ffd' as Hex },
};
export const profile = devnet({ pool: { margin: 0.8, deniedAddresses: [DENIED], delegationsRefused: true } });
export const manual = { chain: { kind: 'devnet', mining: 'manual', network: profile, alloc } } as const;

export const sign = (fields: Partial<Unsigned> = {}, account = 0): Hex =>
  signTransaction(account, { to: stranger('11'), value: 1n, gasLimit: 21_000n, nonce: 0, ...PRICE, ...fields });
/** Checks that fail. */
export const failing = ({ checks }: TransactionDiagnosis) =>
  checks.filter(({ outcome }) => outcome === 'fails').map(({ check }) => check);
/** Checks that could not be made. */
export const unknown = ({ checks }: TransactionDiagnosis) =>
  checks.filter(({ outcome }) => outcome === 'unknown').map(({ check }) => check);

const common = new Common({ chain: { ...Mainnet, chainId: 59_139 }, hardfork: Hardfork.Osaka });
const key = (account: number) => hexToBytes(DEV_ACCOUNTS[account]!.privateKey);
const authorization = (address: Hex) =>
  eoaCode7702SignAuthorization({ chainId: '0xe703', address, nonce: '0x0' }, key(1));
const typeFour = (address: Hex): Hex =>
  bytesToHex(
    createEOACode7702Tx(
      { nonce: 0, gasLimit: 100_000n, to: stranger('11'), ...PRICE, authorizationList: [authorization(address)] },
      { common },
    )
      .sign(key(0))
      .serialize(),
  );
// Signing needs nothing of KZG, but the class asks for it.
const withBlobs = new Common({
  chain: { ...Mainnet, chainId: 59_139 },
  hardfork: Hardfork.Osaka,
  customCrypto: { kzg: {} as never },
});
const typeThree = (): Hex =>
  bytesToHex(
    createBlob4844Tx(
      {
        nonce: 0,
        gasLimit: 21_000n,
        to: stranger('11'),
        ...PRICE,
        maxFeePerBlobGas: 1n,
        blobVersionedHashes: [`0x01${'00'.repeat(31)}`],
      },
      { common: withBlobs },
    )
      .sign(key(0))
      .serialize(),
  );

/** Transactions, the verdict, and the checks that fail. */
export const CASES: readonly (readonly [string, () => Hex, TransactionDiagnosis['verdict'], readonly string[]])[] = [
  ['a transfer', () => sign(), 'will-be-included', []],
  [
    'a price below the cost',
    () => sign({ maxFeePerGas: 1000n, maxPriorityFeePerGas: 1000n }),
    'will-be-refused',
    ['pool-price'],
  ],
  ['a priority fee below the cost', () => sign({ maxPriorityFeePerGas: 1000n }), 'will-be-refused', ['pool-price']],
  ['a price below the base fee', () => sign({ gasPrice: 6n }), 'will-be-refused', ['pool-price', 'base-fee']],
  ['a nonce above the next', () => sign({ nonce: 1 }), 'will-wait', ['nonce-gap']],
  ['a nonce far above', () => sign({ nonce: 201 }), 'will-be-refused', ['nonce-distance']],
  ['a value above the balance', () => sign({ value: 10n ** 30n }), 'will-be-refused', ['funds']],
  ['too much gas', () => sign({ gasLimit: 24_000_001n }), 'will-be-refused', ['gas-limit', 'gas-cap']],
  ['too little gas', () => sign({ gasLimit: 20_999n }), 'will-be-refused', ['gas-minimum']],
  [
    'too much calldata',
    () => sign({ data: `0x${'00'.repeat(60_001)}`, gasLimit: 9_000_000n }),
    'will-be-refused',
    ['calldata'],
  ],
  [
    'a precompile as recipient',
    () => sign({ to: `0x${'04'.padStart(40, '0')}`, gasLimit: 30_000n }),
    'will-be-refused',
    ['recipient'],
  ],
  ['a denied recipient', () => sign({ to: DENIED }), 'will-be-refused', ['denied']],
  ['another chain', () => sign({ chainId: 1 }), 'will-be-refused', ['chain-id']],
  [
    'another chain, as before EIP-1559',
    () => sign({ chainId: 1, gasPrice: 10n ** 9n }),
    'will-be-refused',
    ['chain-id'],
  ],
  ['blobs', typeThree, 'will-be-refused', ['type']],
  ['a delegation', () => typeFour(stranger('ee')), 'will-be-refused', ['type']],
  ['a delegation to a denied address', () => typeFour(DENIED), 'will-be-refused', ['type', 'denied']],
  ['a revert', () => sign({ to: REVERTS, value: 0n, gasLimit: 30_000n }), 'will-be-included', ['execution']],
];
