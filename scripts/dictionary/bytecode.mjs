/**
 * Fragments of contract code, as Solidity compilers write them. Words are separated so that each fragment can also be
 * written with PUSH0 (5f) in place of PUSH1 0 (6000), as compilers do since Shanghai.
 */
import { ascii, hashOf, hex, join, selector, word, zeros } from './encode.mjs';
import { ERRORS, EVENTS, HASHED_TEXTS } from './signatures.mjs';

const FRAGMENTS = [
  // Start of creation code and of run-time code, with and without a constructor.
  '6080 6040 52 34 80 15 6100 10 57 6000 80 fd 5b 50',
  '6080 6040 52 34 80 15 61000f 57 6000 80 fd 5b 50 61',
  '6080 6040 52 34 80 15 600f 57 6000 80 fd 5b 50 60 3f 80 601d 6000 39 6000 f3 fe 6080 6040 52 6000 80 fd fe',
  '80 6100 20 6000 39 6000 f3 fe 6080 6040 52 34 80 15 6100 10 57 6000 80 fd 5b 50 6004 36 10 6100',
  '6004 36 10 6100 57 57 6000 35 60e0 1c 80 63',
  '57 80 63 70a08231 14 6101 57 80 63 715018a6 14 6101 57 80 63 8da5cb5b 14 6101 57 80 63 95d89b41 14 6101 57 80 63 a9059cbb 14 6101 57 80 63 dd62ed3e 14 6101 57 80 63 f2fde38b 14 6101 57',
  '80 63 06fdde03 14 6100 57 80 63 095ea7b3 14 6100 57 80 63 18160ddd 14 6100 57 80 63 23b872dd 14 6100 57 80 63 313ce567 14 6100 57',
  '80 63 01ffc9a7 14 6100 57 80 63 081812fc 14 6100 57 80 63 42842e0e 14 6100 57 80 63 6352211e 14 6100 57 80 63 a22cb465 14 6100 57 80 63 b88d4fde 14 6100 57 80 63 c87b56dd 14 6100 57 80 63 e985e9c5 14 6100 57',
  '80 63 40c10f19 14 6101 57 80 63 42966c68 14 6101 57 80 63 79cc6790 14 6101 57 80 63 3659cfe6 14 6101 57 80 63 4f1ef286 14 6101 57 80 63 52d1902d 14 6101 57 80 63 8129fc1c 14 6101 57 80 63 8456cb59 14 6101 57 80 63 5c975abb 14 6101 57',
  // Storage access, checks of the caller, return values.
  '5b 6000 54 6001 6001 60a0 1b 03 16 33 14 6100 57 6040 51 62461bcd 60e5 1b 81 52 6004 01 6100 90 6100 56 5b 60 40 51 80 91 03 90 fd 5b',
  '33 6000 90 81 52 6020 81 90 52 6040 90 20 54 90 56 5b',
  '6001 6001 60a0 1b 03 16 6000 90 81 52 6020 81 90 52 6040 90 20 80 54',
  '6001 6001 60a0 1b 03 81 16 6000 90 81 52 6001 6020 52 6040 90 20 54',
  '6001 6001 60a0 1b 03 19 16 6001 6001 60a0 1b 03 92 90 92 16 91 90 91 17 90 55',
  '6040 51 6001 6001 60a0 1b 03 90 91 16 81 52 6020 01 6040 51 80 91 03 90 f3 5b',
  '6040 51 90 81 52 6020 01 6100 56 5b 34 80 15 6100 57 6000 80 fd 5b 50 6100',
  '6040 51 90 15 15 81 52 6020 01 6100 56 5b',
  '5b 34 80 15 6100 57 6000 80 fd 5b 50 6100 6100 36 6004 6100 56 5b 6100 56 5b 6040 51 6100 91 90 6100 56 5b 60 40 51 80 91 03 90 f3 5b',
  '5b 6100 6100 36 6004 6101 56 5b 6100 56 5b 00 5b 34 80 15 6100 57 6000 80 fd 5b 50 6101',
  '73 ffffffffffffffffffffffffffffffffffffffff 16 73 ffffffffffffffffffffffffffffffffffffffff 16 81 52 6020 01 90 81 52 6020 01 6000 20',
  '6000 80 60 00 90 54 90 61 01 00 0a 90 04 73 ffffffffffffffffffffffffffffffffffffffff 16 90 50 90 56 5b',
  '61 01 00 0a 81 54 81 73 ffffffffffffffffffffffffffffffffffffffff 02 19 16 90 83 73 ffffffffffffffffffffffffffffffffffffffff 16 02 17 90 55 50',
  '80 60 00 90 80 73 ffffffffffffffffffffffffffffffffffffffff 16 81 52 6020 01 90 81 52 6020 01 6000 20 60 00 82 82 54 6100 91 90 6100 56 5b 92 50 50 81 90 55 50',
  // ABI decoding, optimised.
  '5b 80 35 6001 6001 60a0 1b 03 81 16 81 14 6100 57 6000 80 fd 5b 91 90 50 56 5b',
  '5b 6000 6020 82 84 03 12 15 6100 57 6000 80 fd 5b 6100 82 6100 56 5b 93 92 50 50 50 56 5b',
  '5b 6000 6020 82 84 03 12 15 6100 57 6000 80 fd 5b 50 35 91 90 50 56 5b',
  '5b 6000 6020 82 84 03 12 15 6100 57 6000 80 fd 5b 81 51 80 15 15 81 14 6100 57 6000 80 fd 5b 93 92 50 50 50 56 5b',
  '5b 6000 6020 82 84 03 12 15 6100 57 6000 80 fd 5b 50 51 91 90 50 56 5b',
  '5b 6000 80 6040 83 85 03 12 15 6100 57 6000 80 fd 5b 6100 83 6100 56 5b 94 6020 93 90 93 01 35 93 50 50 50 56 5b',
  '5b 6000 80 6040 83 85 03 12 15 6100 57 6000 80 fd 5b 6100 83 6100 56 5b 91 50 6100 6020 84 01 6100 56 5b 90 50 92 50 92 90 50 56 5b',
  '5b 6000 80 6000 6060 84 86 03 12 15 6100 57 6000 80 fd 5b 6100 84 6100 56 5b 92 50 6100 6020 85 01 6100 56 5b 91 50 6040 84 01 35 90 50 92 50 92 50 92 56 5b',
  '5b 634e487b71 60e0 1b 6000 52 6041 6004 52 6024 6000 fd 5b 604051 601f 82 01 601f 19 16 81 01 67ffffffffffffffff 81 11 82 82 10 17 15 6100 57 6100 6100 56 5b 6040 52 91 90 50 56 5b',
  '5b 6000 82 601f 83 01 12 6100 57 6000 80 fd 5b 81 35 67ffffffffffffffff 81 11 15 6100 57 6000 80 fd 5b 60 20 83 01 91 50 83 60 20 82 60 05 1b 85 01 01 11 15 6100 57 6000 80 fd 5b 92 50 92 90 50 56 5b',
  '5b 60 01 81 81 1c 90 82 16 80 6100 57 607f 82 16 91 50 5b 6020 82 10 81 03 6100 57 634e487b71 60e0 1b 6000 52 6022 6004 52 6024 6000 fd 5b 50 91 90 50 56 5b',
  '634e487b71 60e0 1b 6000 52 6011 6004 52 6024 6000 fd 5b 80 82 01 80 82 11 15 6100 57 6100 6100 56 5b 92 91 50 50 56 5b 81 81 03 81 81 11 15 6100 57 6100 6100 56 5b',
  '634e487b71 60e0 1b 6000 52 6032 6004 52 6024 6000 fd 5b 6000 60 01 82 01 6100 57 6100 6100 56 5b 50 60 01 01 90 56 5b',
  '80 82 02 81 15 82 82 04 84 14 17 6100 57 6100 6100 56 5b 92 91 50 50 56 5b 6000 82 6100 57 634e487b71 60e0 1b 6000 52 6012 6004 52 6024 6000 fd 5b 50 04 90 56 5b',
  '5b 6000 6020 80 83 52 83 51 80 60 20 85 01 52 6000 5b 81 81 10 15 6100 57 85 81 01 83 01 51 85 82 01 6040 01 52 82 01 6100 56 5b 50 6000 6040 82 86 01 01 52 6040 601f 19 601f 83 01 16 85 01 01 92 50 50 50 92 91 50 50 56 5b',
  '5b 60 20 60 00 83 52 83 51 80 60 20 85 01 52 60 00 5b 81 81 10 15 61',
  '80 54 6100 90 6100 56 5b 80 601f 01 6020 80 91 04 02 6020 01 6040 51 90 81 01 6040 52 80 92 91 90 81 81 52 6020 01 82 80 54 6100 90 6100 56 5b 80 15 6100 57 80 601f 10 6100 57 61 01 00 80 83 54 04 02 83 52 91 6020 01 91 6100 56 5b 82 01 91 90 6000 52 6020 6000 20 90 5b 81 54 81 52 90 60 01 01 90 6020 01 80 83 11 6100 57 82 90 03 601f 16 82 01 91 5b 50 50 50 50 50 90 50 90 56 5b',
  // ABI coding, not optimised.
  '6000 80 fd 5b 6000 73 ffffffffffffffffffffffffffffffffffffffff 82 16 90 50 91 90 50 56 5b 6000 6100 82 6100 56 5b 90 50 91 90 50 56 5b 6100 81 6100 56 5b 81 14 6100 57 6000 80 fd 5b 50 56 5b 6000 81 35 90 50 6100 81 6100 56 5b 92 91 50 50 56 5b',
  '6000 81 90 50 91 90 50 56 5b 6100 81 6100 56 5b 81 14 6100 57 6000 80 fd 5b 50 56 5b 6000 81 35 90 50 6100 81 6100 56 5b 92 91 50 50 56 5b',
  '6000 80 6040 83 85 03 12 15 6100 57 6100 6100 56 5b 5b 6000 6100 85 82 86 01 6100 56 5b 92 50 50 6020 6100 85 82 86 01 6100 56 5b 91 50 50 92 50 92 90 50 56 5b',
  '6000 6020 82 84 03 12 15 6100 57 6100 6100 56 5b 5b 6000 6100 84 82 85 01 6100 56 5b 91 50 50 92 91 50 50 56 5b',
  '6000 6020 82 01 90 50 6100 6000 83 01 84 6100 56 5b 92 91 50 50 56 5b 6000 81 15 15 90 50 91 90 50 56 5b 6100 81 6100 56 5b 82 52 50 50 56 5b',
  '6000 82 82 52 6020 82 01 90 50 92 91 50 50 56 5b 60 00 5b 83 81 10 15 6100 57 80 82 01 51 81 84 01 52 6020 81 01 90 50 6100 56 5b 60 00 84 84 01 52 50 50 50 50 56 5b 6000 601f 19 601f 83 01 16 90 50 91 90 50 56 5b',
  '7f 4e487b7100000000000000000000000000000000000000000000000000000000 6000 52 6022 6004 52 6024 6000 fd 5b 6000 60 02 82 04 90 50 60 01 82 16 80 6100 57 607f 82 16 91 50 5b 6020 82 10 81 03 6100 57 6100 6100 56 5b 50 91 90 50 56 5b',
  '7f 4e487b7100000000000000000000000000000000000000000000000000000000 6000 52 6011 6004 52 6024 6000 fd 5b 6000 6100 82 6100 56 5b 91 50 6100 83 6100 56 5b 92 50 82 82 01 90 50 80 82 11 15 6100 57 6100 6100 56 5b 5b 92 91 50 50 56 5b',
  '7f 4e487b7100000000000000000000000000000000000000000000000000000000 6000 52 6041 6004 52 6024 6000 fd 5b 6040 51 90 50 90 56 5b',
  '6040 51 7f 08c379a000000000000000000000000000000000000000000000000000000000 81 52 6004 01 6100 90 6100 56 5b 60 40 51 80 91 03 90 fd 5b',
  '6040 51 62461bcd 60e5 1b 81 52 6020 6004 82 01 52 601f 6024 82 01 52 7f',
  '6044 82 01 52 6064 01 6100 56 5b 6040 51 62461bcd 60e5 1b 81 52 6020 6004 82 01 52 6026 6024 82 01 52 7f',
  '6044 82 01 52 60 64 82 01 52 6084 01 6100 56 5b',
  // Calls to others, events, proxies.
  '6040 51 6024 01 6040 51 6020 81 83 03 03 81 52 90 6040 52 90 7bffffffffffffffffffffffffffffffffffffffffffffffffffffffff 19 16 6020 82 01 80 51 7bffffffffffffffffffffffffffffffffffffffffffffffffffffffff 83 81 83 16 17 83 52 50 50 50 50',
  '6040 51 6001 6001 60e0 1b 03 19 60e0 84 90 1b 16 81 52 6001 6001 60a0 1b 03 90 91 16 6004 82 01 52 6024 01 6020 6040 51 80 83 03 81 6000 87 5a f1 15 80 15 6100 57 3d 6000 80 3e 3d 6000 fd 5b 50 50 50 50 6040 51 3d 601f 19 601f 82 01 16 82 01 80 6040 52 50 81 01 90 6100 91 90 6100 56 5b',
  '6020 6040 51 80 83 03 81 86 5a fa 15 80 15 6100 57 3d 6000 80 3e 3d 6000 fd 5b 50 50 50 50 6040 51 3d 601f 19 601f 82 01 16 82 01 80 6040 52 50 81 01 90 6100 91 90 6100 56 5b',
  '6000 80 84 6001 6001 60a0 1b 03 16 84 60 40 51 6100 91 90 6100 56 5b 6000 60 40 51 80 83 03 81 85 5a f4 91 50 50 3d 80 6000 81 14 6100 57 60 40 51 91 50 601f 19 60 3f 3d 01 16 82 01 60 40 52 3d 82 52 3d 6000 6020 84 01 3e 6100 56 5b 60 60 91 50 5b 50 91 50 91 50',
  '36 6000 80 37 6000 80 36 6000 84 5a f4 3d 6000 80 3e 80 80 15 6100 57 3d 6000 f3 5b 3d 6000 fd',
  '3d 60 2d 80 60 0a 3d 39 81 f3 36 3d 3d 37 3d 3d 3d 36 3d 73',
  '5a f4 3d 82 80 3e 90 3d 91 60 2b 57 fd 5b f3',
];

/** Messages that require() carries in older contracts. */
const MESSAGES = [
  'Ownable: caller is not the owner',
  'Ownable: new owner is the zero address',
  'ERC20: transfer amount exceeds balance',
  'ERC20: transfer amount exceeds allowance',
  'ERC20: insufficient allowance',
  'ERC20: transfer from the zero address',
  'ERC20: transfer to the zero address',
  'ERC20: approve from the zero address',
  'ERC20: approve to the zero address',
  'ERC20: mint to the zero address',
  'ERC20: burn from the zero address',
  'ERC20: burn amount exceeds balance',
  'ERC20: decreased allowance below zero',
  'ERC721: invalid token ID',
  'ERC721: approval to current owner',
  'ERC721: caller is not token owner or approved',
  'ERC721: transfer to non ERC721Receiver implementer',
  'ERC721: token already minted',
  'ERC721: address zero is not a valid owner',
  'ERC1155: caller is not token owner or approved',
  'SafeMath: addition overflow',
  'SafeMath: subtraction overflow',
  'SafeMath: multiplication overflow',
  'SafeERC20: low-level call failed',
  'SafeERC20: ERC20 operation did not succeed',
  'Address: low-level call with value failed',
  'Address: insufficient balance for call',
  'Address: call to non-contract',
  'Address: unable to send value, recipient may have reverted',
  'ReentrancyGuard: reentrant call',
  'Pausable: paused',
  'Pausable: not paused',
  'Initializable: contract is already initialized',
  'Initializable: contract is not initializing',
  'AccessControl: account is missing role',
  'ECDSA: invalid signature length',
  'ERC1967: new implementation is not a contract',
  'TransferHelper: TRANSFER_FAILED',
  'Not enough ETH',
  'Insufficient balance',
  'Transfer failed',
];

const PUSH32 = hex('7f');

function paddedText(text) {
  const bytes = ascii(text);
  return join(PUSH32, bytes, zeros((32 - (bytes.length % 32)) % 32), hex('604482015260'));
}

/** Metadata that compilers append: two hashes whose bytes differ, around them what does not. */
const VERSIONS = [7, 9, 10, 17, 18, 19, 20, 24, 25, 26, 28, 30];
const metadata = VERSIONS.map((minor) => join(hex('64736f6c634300'), Uint8Array.of(8, minor), hex('0033')));

/** ERC-1967 slots: hash of the name, less one. */
function proxySlot(name) {
  const value = BigInt(`0x${Buffer.from(hashOf(name)).toString('hex')}`) - 1n;
  return join(PUSH32, word(value));
}

export function bytecodeSegments() {
  return [
    ...FRAGMENTS.flatMap((text) => [
      hex(text),
      hex(text.split(' ').join('|').replaceAll('6000', '5f').replaceAll('|', '')),
    ]),
    ...MESSAGES.map(paddedText),
    hex('a2646970667358221220'),
    hex('fea2646970667358221220'),
    ...metadata,
    ...EVENTS.map((event) => join(PUSH32, hashOf(event))),
    ...HASHED_TEXTS.map((text) => join(PUSH32, hashOf(text))),
    ...ERRORS.map((error) => join(hex('60405163'), selector(error), hex('60e01b815260'))),
    proxySlot('eip1967.proxy.implementation'),
    proxySlot('eip1967.proxy.admin'),
    proxySlot('eip1967.proxy.beacon'),
  ];
}
