import { headerHash } from '../../src/ethereum/header.js';
import { bytesToHex, type Hex } from '../../src/primitives/hex.js';
import { readHeader } from '../../src/proof/headers.js';

/** A header before London as JSON-RPC has it, of zeros but for its number, with its hash. */
export function headerJson(number: number): Readonly<Record<string, unknown>> & { readonly hash: Hex } {
  const zeros = (bytes: number) => `0x${'00'.repeat(bytes)}`;
  const hashes = ['parentHash', 'sha3Uncles', 'stateRoot', 'transactionsRoot', 'receiptsRoot', 'mixHash'];
  const fields = {
    ...Object.fromEntries(hashes.map((name) => [name, zeros(32)])),
    ...Object.fromEntries(['difficulty', 'gasLimit', 'gasUsed', 'timestamp'].map((name) => [name, '0x0'])),
    number: `0x${number.toString(16)}`,
    miner: zeros(20),
    logsBloom: zeros(256),
    nonce: zeros(8),
    extraData: '0x',
  };
  return { ...fields, hash: bytesToHex(headerHash(readHeader(fields))) };
}
