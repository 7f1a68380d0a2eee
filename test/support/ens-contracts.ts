import { namehash } from 'viem/ens';
import type { Hex } from '../../src/primitives/hex.js';
import { type Argument, callData, contracts } from './contracts.js';
import { accountAt } from './dev-node.js';

const CONTRACTS = {
  registry: 'NameRegistry',
  records: 'NameRecords',
  wildcard: 'NameWildcard',
  offchain: 'NameOffchain',
  hostile: 'NameHostile',
} as const;

type Part = keyof typeof CONTRACTS;

/** Where the contracts are. */
export const ENS: Readonly<Record<Part, Hex>> = {
  registry: '0x00000000000c2e074ec69a0dfb2997ba6c7d2e1e',
  records: `0x${'e5'.repeat(19)}01`,
  wildcard: `0x${'e5'.repeat(19)}02`,
  offchain: `0x${'e5'.repeat(19)}03`,
  hostile: `0x${'e5'.repeat(19)}04`,
};

const text = (value: string): { bytes: Hex } => ({ bytes: `0x${Buffer.from(value).toString('hex')}` });

/** A name service on a devnet, and what sets its records. Hashes of names are viem's. */
export async function deployEns(ask: (method: string, ...params: unknown[]) => Promise<unknown>) {
  const all = await contracts();
  for (const part of Object.keys(CONTRACTS) as Part[])
    await ask('anvil_setCode', ENS[part], all[CONTRACTS[part]]!.runtimeCode);
  const send = (part: Part, signature: string, ...args: Argument[]) =>
    ask('eth_sendTransaction', {
      from: accountAt(0),
      to: ENS[part],
      data: callData(all[CONTRACTS[part]], signature, ...args),
      gas: '0x4c4b40',
    });
  const ens = {
    resolver: (name: string, part: Part) => send('registry', 'setResolver(bytes32,address)', namehash(name), ENS[part]),
    async address(name: string, address: Hex, coinType = 60n) {
      await ens.resolver(name, 'records');
      await send('records', 'setAddress(bytes32,uint256,bytes)', namehash(name), coinType, { bytes: address });
    },
    async reverse(address: Hex, name: string) {
      const reverse = `${address.slice(2).toLowerCase()}.addr.reverse`;
      await ens.resolver(reverse, 'records');
      await send('records', 'setName(bytes32,string)', namehash(reverse), text(name));
    },
    tell: (selector: Hex, mode: bigint, answer: Hex = '0x') =>
      send('hostile', 'tell(bytes4,uint256,bytes)', `0x${selector.slice(2).padEnd(64, '0')}`, mode, { bytes: answer }),
  };
  return ens;
}
