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
export const AMSTERDAM: i32 = 15;

/** The fork of the current configuration. */
export let FORK: i32 = OSAKA;

/**
 * Prices and limits that forks changed. A row has four pairs: the first fork with a price, and the price; the last pair may repeat.
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
  AMSTERDAM,
  200,
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
  AMSTERDAM,
  11616,
  AMSTERDAM,
  11616,
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
  AMSTERDAM,
  2900,
  AMSTERDAM,
  2900,
  // first access to a slot, besides the warm price
  CHAINSTART,
  0,
  BERLIN,
  2000,
  BERLIN,
  2000,
  BERLIN,
  2000,
  // call that moves ether
  CHAINSTART,
  9000,
  AMSTERDAM,
  11300,
  AMSTERDAM,
  11300,
  AMSTERDAM,
  11300,
  // new account of a call
  CHAINSTART,
  25000,
  AMSTERDAM,
  0,
  AMSTERDAM,
  0,
  AMSTERDAM,
  0,
  // new account of SELFDESTRUCT
  CHAINSTART,
  0,
  TANGERINE_WHISTLE,
  25000,
  AMSTERDAM,
  9000,
  AMSTERDAM,
  9000,
  // CREATE, CREATE2
  CHAINSTART,
  32000,
  AMSTERDAM,
  12000,
  AMSTERDAM,
  12000,
  AMSTERDAM,
  12000,
  // word of init code
  CHAINSTART,
  0,
  SHANGHAI,
  2,
  SHANGHAI,
  2,
  SHANGHAI,
  2,
  // byte of deployed code
  CHAINSTART,
  200,
  AMSTERDAM,
  0,
  AMSTERDAM,
  0,
  AMSTERDAM,
  0,
  // word of deployed code
  CHAINSTART,
  0,
  AMSTERDAM,
  6,
  AMSTERDAM,
  6,
  AMSTERDAM,
  6,
  // state gas of a new account
  CHAINSTART,
  0,
  AMSTERDAM,
  183600,
  AMSTERDAM,
  183600,
  AMSTERDAM,
  183600,
  // state gas of a byte of deployed code
  CHAINSTART,
  0,
  AMSTERDAM,
  1530,
  AMSTERDAM,
  1530,
  AMSTERDAM,
  1530,
  // most bytes of deployed code
  CHAINSTART,
  i32.MAX_VALUE,
  SPURIOUS_DRAGON,
  24576,
  AMSTERDAM,
  65536,
  AMSTERDAM,
  65536,
  // most bytes of init code
  CHAINSTART,
  i32.MAX_VALUE,
  SHANGHAI,
  49152,
  AMSTERDAM,
  131072,
  AMSTERDAM,
  131072,
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
export let CALL_VALUE_GAS: i64 = 0;
export let NEW_ACCOUNT_GAS: i64 = 0;
export let NEW_BENEFICIARY_GAS: i64 = 0;
export let CREATE_GAS: i64 = 0;
export let INIT_WORD_GAS: i64 = 0;
export let CODE_BYTE_GAS: i64 = 0;
export let CODE_WORD_GAS: i64 = 0;
export let NEW_ACCOUNT_STATE: i64 = 0;
export let CODE_BYTE_STATE: i64 = 0;
export let MAX_CODE_BYTES: i64 = 0;
export let MAX_INIT_CODE_BYTES: i64 = 0;

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
  CALL_VALUE_GAS = priceOf(11);
  NEW_ACCOUNT_GAS = priceOf(12);
  NEW_BENEFICIARY_GAS = priceOf(13);
  CREATE_GAS = priceOf(14);
  INIT_WORD_GAS = priceOf(15);
  CODE_BYTE_GAS = priceOf(16);
  CODE_WORD_GAS = priceOf(17);
  NEW_ACCOUNT_STATE = priceOf(18);
  CODE_BYTE_STATE = priceOf(19);
  MAX_CODE_BYTES = priceOf(20);
  MAX_INIT_CODE_BYTES = priceOf(21);
}
