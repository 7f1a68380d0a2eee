import { createRequire } from 'node:module';
import { Common, Mainnet } from '@ethereumjs/common';
import { MerkleStateManager } from '@ethereumjs/statemanager';
import { createLegacyTx } from '@ethereumjs/tx';
import { createVM, type RunTxOpts, runTx } from '@ethereumjs/vm';
import { describe, expect, it } from 'vitest';
import { DEV_ACCOUNTS } from '../../src/chain/devnet/state/dev-accounts.js';
import { genesisChanges } from '../../src/chain/devnet/state/genesis.js';
import { loadSignerRecovery } from '../../src/ethereum/signer.js';
import { StateTrie } from '../../src/ethereum/state-trie.js';
import { parseSignedTransaction } from '../../src/ethereum/transaction.js';
import type { AccountChange } from '../../src/evm/state-overlay.js';
import { runTransaction } from '../../src/evm/transaction.js';
import { concatBytes } from '../../src/primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { FORKS, openMachine } from '../support/evm.js';
import { seededRandom } from '../support/random.js';

/*
 * Transactions of random programs under every fork, beside @ethereumjs/vm on a Merkle state: the same gas, the same
 * outcome and the same state root after each. The interpreter is shared; what is compared is everything around it, such
 * as intrinsic gas, refunds, fees, and which empty accounts stay.
 */

const { createBlock } = createRequire(import.meta.resolve('@ethereumjs/vm'))('@ethereumjs/block') as {
  createBlock: (data: unknown, options: unknown) => NonNullable<RunTxOpts['block']>;
};

await loadSignerRecovery();

const address = (byte: number): Hex => `0x${byte.toString(16).padStart(40, '0')}`;
const CONTRACTS = [0xa1, 0xa2, 0xa3].map(address);
/** An account that is empty and yet there, and two that are not. */
const EMPTY = address(0xe0);
const STRANGERS = [0xe1, 0xe2].map(address);
const COINBASE = address(0xc0);
const SENDER = DEV_ACCOUNTS[0]!;
const TRANSACTIONS = 12;
const GAS_LIMIT = 400_000n;

type Random = (bound: number) => number;

/** One statement that leaves the stack as it was, or ends the program. */
function statement(random: Random): Uint8Array {
  const pick = <T>(items: readonly T[]): T => items[random(items.length)]!;
  const push = (value: number) => Uint8Array.of(0x60, value);
  const who = () => concatBytes(Uint8Array.of(0x73), hexToBytes(pick([...CONTRACTS, ...STRANGERS, EMPTY, COINBASE])));
  const gas = Uint8Array.of(0x61, 0x40 + random(64), 0);
  const op = (...codes: number[]) => Uint8Array.from(codes);
  switch (random(12)) {
    case 0:
    case 1:
    case 2:
      return concatBytes(push(random(3)), push(random(4)), op(0x55)); // SSTORE
    case 3:
    case 4:
      return concatBytes(push(0), push(0), push(0), push(0), push(random(2)), who(), gas, op(0xf1, 0x50)); // CALL
    case 5:
      return concatBytes(push(0), push(0), push(0), push(0), who(), gas, op(pick([0xf4, 0xfa]), 0x50));
    case 6:
      return concatBytes(push(0), push(0), push(random(2)), op(0xf0, 0x50)); // CREATE
    case 7:
      return concatBytes(push(random(9)), push(0), push(0), op(0xa1)); // LOG1
    case 8:
      return concatBytes(who(), op(pick([0x31, 0x3b, 0x3f]), 0x50)); // BALANCE, EXTCODESIZE, EXTCODEHASH
    case 9:
      return concatBytes(push(1 + random(200)), push(3), op(0x0a, 0x50)); // EXP
    case 10:
      return random(3) === 0 ? concatBytes(who(), op(0xff)) : concatBytes(push(random(4)), op(0x54, 0x50)); // SELFDESTRUCT, SLOAD
    default:
      return random(4) === 0
        ? pick([op(0xfe), concatBytes(push(0), push(0), op(0xfd))])
        : op(pick([0x46, 0x48, 0x5f, 0x47]), 0x50);
  }
}

function program(random: Random): Hex {
  return bytesToHex(concatBytes(...Array.from({ length: 1 + random(8) }, () => statement(random))));
}

interface Start {
  readonly alloc: Record<Hex, { nonce: bigint; balance: bigint; code: Hex; storage: Record<Hex, Hex> }>;
}

function start(random: Random): Start {
  const word = (value: number): Hex => `0x${value.toString(16).padStart(64, '0')}`;
  const alloc: Start['alloc'] = {
    [SENDER.address]: { nonce: 0n, balance: 10n ** 20n, code: '0x', storage: {} },
    [EMPTY]: { nonce: 0n, balance: 0n, code: '0x', storage: {} },
  };
  for (const contract of CONTRACTS) {
    const storage = Object.fromEntries([0, 1, 2].map((slot) => [word(slot), word(1 + random(2))]));
    alloc[contract] = { nonce: 1n, balance: BigInt(random(3)), code: program(random), storage };
  }
  return { alloc };
}

async function openLibrary(common: Common, { alloc }: Start) {
  const stateManager = new MerkleStateManager({ common });
  const { Account, Address } = await import('@ethereumjs/util');
  for (const [key, { nonce, balance, code, storage }] of Object.entries(alloc)) {
    const at = new Address(hexToBytes(key as Hex));
    await stateManager.putAccount(at, new Account(nonce, balance));
    if (code !== '0x') await stateManager.putCode(at, hexToBytes(code));
    for (const [slot, value] of Object.entries(storage)) {
      await stateManager.putStorage(at, hexToBytes(slot as Hex), Uint8Array.of(Number(value)));
    }
  }
  return createVM({ common, stateManager });
}

const writes = (changes: readonly AccountChange[]) =>
  changes.map(({ address, after, destroyed, slots }) => ({ address, account: after, clearStorage: destroyed, slots }));

describe('transactions under each fork, beside @ethereumjs/vm', () => {
  it.each(FORKS)('%s', async (hardfork) => {
    const feeMarket = FORKS.indexOf(hardfork) >= FORKS.indexOf('london');
    const baseFee = feeMarket ? 7n : undefined;
    for (let seed = 1; seed <= 3; seed++) {
      const random = seededRandom(1000 * seed + FORKS.indexOf(hardfork));
      const begin = start(random);
      const common = new Common({ chain: Mainnet, hardfork });
      const vm = await openLibrary(common, begin);
      const header = { number: 1, gasLimit: 30_000_000n, coinbase: COINBASE, timestamp: 1, baseFeePerGas: baseFee };
      const block = createBlock({ header }, { common, skipConsensusFormatValidation: true });

      const trie = new StateTrie();
      const before = await trie.write(writes(genesisChanges(begin.alloc)));
      expect(bytesToHex(await vm.stateManager.getStateRoot())).toBe(bytesToHex(before));
      const alloc = Object.fromEntries(
        Object.entries(begin.alloc).map(([key, { nonce, balance, code, storage }]) => {
          return [key, { nonce: `0x${nonce.toString(16)}`, balance: `0x${balance.toString(16)}`, code, storage }];
        }),
      ) as Parameters<typeof openMachine>[0];
      const machine = await openMachine(alloc, hardfork, {
        number: 1,
        timestamp: 1,
        gasLimit: 30_000_000n,
        baseFeePerGas: baseFee ?? 0n,
        coinbase: hexToBytes(COINBASE),
      });

      for (let nonce = 0; nonce < TRANSACTIONS; nonce++) {
        const to = random(4) === 0 ? undefined : [...CONTRACTS, STRANGERS[0]!, EMPTY][random(5)];
        const data = to === undefined ? program(random) : bytesToHex(Uint8Array.of(0, random(256), 0));
        const gasPrice = feeMarket ? 7n + BigInt(random(2)) : BigInt(random(2));
        const fields = { nonce, gasLimit: GAS_LIMIT, gasPrice, value: BigInt(random(2)), data, ...(to && { to }) };
        const tx = createLegacyTx(fields, { common }).sign(hexToBytes(SENDER.privateKey));
        const theirs = await runTx(vm, { tx, block, skipHardForkValidation: true });
        const ours = await runTransaction(machine, parseSignedTransaction(tx.serialize(), 1));
        const name = `seed ${seed}, transaction ${nonce}`;
        expect([name, ours.gasUsed, ours.succeeded]).toEqual([
          name,
          theirs.totalGasSpent,
          theirs.execResult.exceptionError === undefined,
        ]);
        trie.revertTo(before);
        const root = await trie.write(writes(await machine.state.changes()));
        expect(`${name}: ${bytesToHex(root)}`).toBe(`${name}: ${bytesToHex(await vm.stateManager.getStateRoot())}`);
      }
    }
  });
});
