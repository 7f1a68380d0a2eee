/**
 * Framing of transactions as they are sized (docs/spec/compression.md 3): sender, payload type, prices, gas, receiver,
 * value, and what comes after the calldata. The estimate of a wallet's call has gas price 7; chain ids are those of Linea's
 * networks and of the devnet.
 */
import { CONTRACTS, TOKENS } from './addresses.mjs';
import { ascii, hex, join, rlpInteger, selector, word, zeros } from './encode.mjs';

const CHAIN_IDS = ['82e708', '82e705', '82e703'];
const ONE_ETHER = 10n ** 18n;
const GWEI = 10n ** 9n;

function framing() {
  const segments = [];
  for (const id of CHAIN_IDS) {
    // End of a legacy transaction without calldata; begin of a typed one.
    segments.push(hex(`80 ${id} 8080`), hex(`8080 ${id} 8080`), hex(`000000000000000000000000 ${id} 8080`));
    for (const size of [
      'f8b0',
      'f870',
      'f86f',
      'f86e',
      'f8af',
      'f8d0',
      'f8f0',
      'f90130',
      'f90150',
      'f90210',
      'f90250',
    ]) {
      segments.push(hex(`02 ${size} ${id}`));
    }
    segments.push(hex(`${id} 0180`), hex(`${id} 8080 84`), hex(`${id} 80 8403938700 84`));
  }
  // Plain transfers: gas limit 21000 and receiver; price 7; nothing after the value.
  segments.push(hex('07 825208 94'), hex('82520894'), hex('07 83 0186a0 94'), hex('07 8307a120 94'), hex('0000 80 c0'));
  return segments;
}

function amounts() {
  const inEther = [1n, 5n, 10n, 50n, 100n, 500n].flatMap((n) => [
    n * ONE_ETHER,
    (n * ONE_ETHER) / 1000n,
    (n * ONE_ETHER) / 10_000n,
    (n * ONE_ETHER) / 100_000n,
  ]);
  const values = [...new Set(inEther)].map((wei) => join(rlpInteger(wei), hex('80')));
  const words = [...inEther, 10n ** 6n, 10n ** 7n, 10n ** 8n, 10n ** 9n, 10n ** 21n, 10n ** 24n, 10n ** 27n].map((n) =>
    word(n),
  );
  const gwei = [1n, 2n, 3n].map((n) => rlpInteger(n * GWEI));
  return [
    ...values,
    ...words,
    ...gwei,
    hex('ff'.repeat(32)),
    hex(`${'00'.repeat(12)}${'ff'.repeat(20)}`),
    word('ffffffffffffffff'),
    word(`${'ff'.repeat(16)}`),
  ];
}

/** Ordinary errands with known contracts: what a wallet's user sends most. */
function errands() {
  const transfer = selector('transfer(address,uint256)');
  const approve = selector('approve(address,uint256)');
  const call = (to, method) => join(hex(`94 ${to} 80 b844`), method, zeros(12));
  const segments = [];
  for (const token of Object.values(TOKENS)) {
    segments.push(call(token, approve), call(token, transfer));
    segments.push(join(zeros(12), hex(token), zeros(12)));
  }
  const { weth, usdc, usdt } = TOKENS;
  segments.push(join(hex(`94 ${weth}`), hex('870aa87bee538000 84'), selector('deposit()')));
  segments.push(join(hex(`94 ${weth} 80 a4`), selector('withdraw(uint256)'), zeros(24)));
  const path = (...tokens) => join(word(tokens.length), ...tokens.map((token) => word(token)));
  segments.push(path(weth, usdc), path(usdc, weth), path(weth, usdt), path(usdt, usdc, weth));
  for (const contract of Object.values(CONTRACTS)) {
    segments.push(join(hex(`94 ${contract} 80 b9`)));
    segments.push(join(approve, zeros(12), hex(contract), hex('ff'.repeat(32))));
    segments.push(join(zeros(12), hex(contract), zeros(12)));
  }
  return segments;
}

/** Offsets, lengths and flags that follow each other in ABI data. */
function abiWords() {
  const rows = [
    [0x20, 1, 0x20],
    [0x20, 2, 0x40],
    [0x20, 3, 0x60],
    [0x40, 0x80],
    [0x40, 0xa0],
    [0x40, 0xc0],
    [0x40, 0xe0],
    [0x60, 0xa0],
    [0x60, 0xe0],
    [0x80, 0xc0],
    [0x80, 0x100],
    [0xa0, 0xe0],
    [0xa0, 2],
    [0x80, 2],
    [0x60, 2],
    [0xc0, 2],
    [0x20, 0x44],
    [0x20, 0x64],
    [0x20, 0x84],
    [0x20, 0xa4],
    [0x20, 0xc4],
    [0x20, 0xe4],
    [0x20, 0x104],
    [0x40, 1, 0x20],
    [1, 1, 0x60],
    [0x60, 0x44],
    [0x60, 0x24],
    [0x60, 4],
    [0x80, 0x41],
    [0x41],
    [0x20, 0x41],
    [0x160, 0x180, 0x1a0],
    [0x120, 0x140, 0x160],
    [0x100, 0x120, 0x140],
    [0x1e0, 0x200],
    [0x2a0, 0x2c0],
    [1, 0, 0],
    [0, 0, 0, 1],
    [1, 2, 3, 4, 5, 6, 7, 8],
    [0x1b, 0],
    [0x1c, 0],
    [0x0bb8],
    [0x01f4],
    [0x64],
    [0x2710],
    [0x0a],
    [0x14],
    [0x05],
    [0x03e8],
    [0xe708, 0xe708],
    // Universal router: commands of one or two bytes, then their inputs.
    [0x60, 0xa0, 0x6577b000],
  ];
  const commands = ['0b00', '0b08', '080c', '000c', '0a00', '0a08', '0b000604', '00', '08'].map((text) =>
    join(word(text.length / 2), hex(text), zeros(32 - text.length / 2), word(text.length / 2)),
  );
  return [...rows.map((row) => join(...row.map((value) => word(value)))), ...commands];
}

const TEXTS = [
  'data:application/json,{"p":"lrc-20","op":"mint","tick":"","id":"","amt":"1000"}',
  'data:,{"p":"erc-20","op":"mint","tick":"eths","id":"1","amt":"1000"}',
  'data:application/json;base64,',
  'data:image/svg+xml;base64,',
  '{"name":"","description":"","image":"ipfs://","attributes":[{"trait_type":"","value":""}]}',
  'https://',
  'ipfs://Qm',
  'ipfs://bafybei',
  '.json',
  '{"message":"hello","from":"0x","to":"0x","timestamp":17',
  ' the ',
  ' and ',
];

export function transactionSegments() {
  return [...framing(), ...amounts(), ...errands(), ...abiWords(), ...TEXTS.map(ascii), hex('fe ff')];
}
