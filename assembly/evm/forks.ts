/** The forks in order; the host names one by its index. */
export const CHAINSTART: i32 = 0;
export const HOMESTEAD: i32 = 1;
export const TANGERINE_WHISTLE: i32 = 2;
export const SPURIOUS_DRAGON: i32 = 3;
export const BYZANTIUM: i32 = 4;
export const CONSTANTINOPLE: i32 = 5;
export const PETERSBURG: i32 = 6;
export const ISTANBUL: i32 = 7;
export const BERLIN: i32 = 8;
export const LONDON: i32 = 9;
export const PARIS: i32 = 10;
export const SHANGHAI: i32 = 11;
export const CANCUN: i32 = 12;
export const PRAGUE: i32 = 13;
export const OSAKA: i32 = 14;

/** The fork of the current configuration. */
export let FORK: i32 = OSAKA;

/**
 * Prices that forks changed. A row has four pairs: the first fork with a price, and the price; the last pair may repeat.
 * From Berlin on, the prices of reading accounts and slots are those of a warm access (EIP-2929).
 */
const PRICES: StaticArray<i32> = [
  // SLOAD
  CHAINSTART,
  50,
  TANGERINE_WHISTLE,
  200,
  ISTANBUL,
  800,
  BERLIN,
  100,
  // BALANCE
  CHAINSTART,
  20,
  TANGERINE_WHISTLE,
  400,
  ISTANBUL,
  700,
  BERLIN,
  100,
  // EXTCODESIZE, EXTCODECOPY
  CHAINSTART,
  20,
  TANGERINE_WHISTLE,
  700,
  BERLIN,
  100,
  BERLIN,
  100,
  // EXTCODEHASH
  CHAINSTART,
  400,
  ISTANBUL,
  700,
  BERLIN,
  100,
  BERLIN,
  100,
  // calls
  CHAINSTART,
  40,
  TANGERINE_WHISTLE,
  700,
  BERLIN,
  100,
  BERLIN,
  100,
  // SELFDESTRUCT
  CHAINSTART,
  0,
  TANGERINE_WHISTLE,
  5000,
  TANGERINE_WHISTLE,
  5000,
  TANGERINE_WHISTLE,
  5000,
  // byte of an exponent
  CHAINSTART,
  10,
  SPURIOUS_DRAGON,
  50,
  SPURIOUS_DRAGON,
  50,
  SPURIOUS_DRAGON,
  50,
  // refund of a cleared slot
  CHAINSTART,
  15000,
  LONDON,
  4800,
  LONDON,
  4800,
  LONDON,
  4800,
  // refund of a destroyed contract
  CHAINSTART,
  24000,
  LONDON,
  0,
  LONDON,
  0,
  LONDON,
  0,
  // first access to an account, besides the warm price
  CHAINSTART,
  0,
  BERLIN,
  2500,
  BERLIN,
  2500,
  BERLIN,
  2500,
  // first access to a slot, besides the warm price
  CHAINSTART,
  0,
  BERLIN,
  2000,
  BERLIN,
  2000,
  BERLIN,
  2000,
];

export let SLOAD_GAS: i64 = 0;
export let BALANCE_GAS: i64 = 0;
export let EXTCODE_GAS: i64 = 0;
export let EXTCODEHASH_GAS: i64 = 0;
export let CALL_GAS: i64 = 0;
export let SELFDESTRUCT_GAS: i64 = 0;
export let EXP_BYTE_GAS: i64 = 0;
export let CLEAR_REFUND: i64 = 0;
export let SELFDESTRUCT_REFUND: i64 = 0;
export let COLD_ACCOUNT_GAS: i64 = 0;
export let COLD_SLOT_GAS: i64 = 0;

function priceOf(row: i32): i64 {
  let price: i32 = 0;
  for (let i = row * 8; i < row * 8 + 8; i += 2) if (FORK >= PRICES[i]) price = PRICES[i + 1];
  return <i64>price;
}

export function setFork(fork: i32): void {
  FORK = fork;
  SLOAD_GAS = priceOf(0);
  BALANCE_GAS = priceOf(1);
  EXTCODE_GAS = priceOf(2);
  EXTCODEHASH_GAS = priceOf(3);
  CALL_GAS = priceOf(4);
  SELFDESTRUCT_GAS = priceOf(5);
  EXP_BYTE_GAS = priceOf(6);
  CLEAR_REFUND = priceOf(7);
  SELFDESTRUCT_REFUND = priceOf(8);
  COLD_ACCOUNT_GAS = priceOf(9);
  COLD_SLOT_GAS = priceOf(10);
}
