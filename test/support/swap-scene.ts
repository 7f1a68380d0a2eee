import { keccak_256 } from '@noble/hashes/sha3.js';
import { tokenBalanceSlot } from '../../src/chain/devnet/state/dev-accounts.js';
import type { GenesisAccount } from '../../src/chain/devnet/state/genesis.js';
import { concatBytes } from '../../src/primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { type Contracts, callData, word } from './contracts.js';

const TOKENS = ['a', 'b', 'c'].map((letter) => `0x70ce${letter.repeat(36)}` as Hex) as [Hex, Hex, Hex];
/** Pair of A and B, then of B and C. */
const PAIRS = ['1', '2'].map((digit) => `0x9a12${digit.repeat(36)}` as Hex) as [Hex, Hex];
const ROUTER: Hex = `0x2047${'3'.repeat(36)}`;

const ETHER = 10n ** 18n;
const RESERVES = [
  [5_000n * ETHER, 12_000n * ETHER],
  [8_000n * ETHER, 3_000n * ETHER],
] as const;

export interface SwapScene {
  /** Genesis accounts: three tokens, two pairs with reserves, the router, and the trader's funds. */
  readonly alloc: Readonly<Record<Hex, GenesisAccount>>;
  readonly tokens: readonly [Hex, Hex, Hex];
  readonly pairs: readonly [Hex, Hex];
  readonly router: Hex;
  /** 100 of A into B and that into C, to the trader, who has approved the router once and for all. */
  readonly swap: { readonly from: Hex; readonly to: Hex; readonly data: Hex };
  /** What the trader gets of C for it, by the pairs' formula. */
  readonly amountOut: bigint;
  /** One of A to another account that holds some. */
  readonly transfer: { readonly from: Hex; readonly to: Hex; readonly data: Hex };
}

const toWord = (value: bigint | Hex): Hex => `0x${word(value)}`;

/** Slot of `key` in the mapping at `slot`. */
function inMapping(key: Hex, slot: bigint | Hex): Hex {
  return bytesToHex(keccak_256(concatBytes(hexToBytes(toWord(key)), hexToBytes(toWord(slot)))));
}

function token(balances: readonly (readonly [Hex, bigint])[], allowances: Record<Hex, Hex>): Record<Hex, Hex> {
  const storage: Record<Hex, Hex> = { ...allowances };
  for (const [owner, amount] of balances) storage[bytesToHex(tokenBalanceSlot(hexToBytes(owner)))] = toWord(amount);
  storage[toWord(2n)] = toWord(balances.reduce((sum, [, amount]) => sum + amount, 0n));
  return storage;
}

/** Storage of a pair as its source lays it out (test/contracts/Swap.sol), after a first trade. */
function pair(token0: Hex, token1: Hex, [reserve0, reserve1]: readonly [bigint, bigint]): Record<Hex, Hex> {
  return {
    [toWord(0n)]: toWord(token0),
    [toWord(1n)]: toWord(token1),
    [toWord(2n)]: toWord((1n << 224n) | (reserve1 << 112n) | reserve0),
    [toWord(3n)]: toWord(1n << 112n),
    [toWord(4n)]: toWord(1n << 112n),
    [toWord(5n)]: toWord(1n),
  };
}

function amountOut(amountIn: bigint, [from, out]: readonly [bigint, bigint]): bigint {
  const paid = amountIn * 997n;
  return (paid * out) / (from * 1000n + paid);
}

/** Two pools and a router with funds in place, as genesis accounts: for devnets, and for any state made from an alloc. */
export function swapScene(contracts: Contracts, trader: Hex, receiver: Hex = `0x${'5e'.repeat(20)}`): SwapScene {
  const { TestToken, Pair, Router } = contracts;
  const [a, b, c] = TOKENS;
  const [ab, bc] = PAIRS;
  const contract = (code: Hex, storage: Record<Hex, Hex>): GenesisAccount => ({ nonce: 1n, code, storage });
  const tokenAt = (balances: readonly (readonly [Hex, bigint])[], allowances: Record<Hex, Hex> = {}) =>
    contract(TestToken!.runtimeCode, token(balances, allowances));
  const approval = { [inMapping(ROUTER, inMapping(trader, 1n))]: toWord(2n ** 256n - 1n) };
  const routes: Record<Hex, Hex> = {};
  for (const [from, to, at] of [
    [a, b, ab],
    [b, a, ab],
    [b, c, bc],
    [c, b, bc],
  ] as const) {
    routes[inMapping(to, inMapping(from, 0n))] = toWord(at);
  }
  const amountIn = 100n * ETHER;
  return {
    alloc: {
      [a]: tokenAt(
        [
          [trader, 1_000n * ETHER],
          [receiver, ETHER],
          [ab, RESERVES[0][0]],
        ],
        approval,
      ),
      [b]: tokenAt([
        [ab, RESERVES[0][1]],
        [bc, RESERVES[1][0]],
      ]),
      [c]: tokenAt([
        [trader, ETHER],
        [bc, RESERVES[1][1]],
      ]),
      [ab]: contract(Pair!.runtimeCode, pair(a, b, RESERVES[0])),
      [bc]: contract(Pair!.runtimeCode, pair(b, c, RESERVES[1])),
      [ROUTER]: contract(Router!.runtimeCode, routes),
    },
    tokens: TOKENS,
    pairs: PAIRS,
    router: ROUTER,
    swap: {
      from: trader,
      to: ROUTER,
      data: callData(Router, 'swap(uint256,uint256,address[],address)', amountIn, 1n, TOKENS, trader),
    },
    amountOut: amountOut(amountOut(amountIn, RESERVES[0]), RESERVES[1]),
    transfer: { from: trader, to: a, data: callData(TestToken, 'transfer(address,uint256)', receiver, ETHER) },
  };
}
