import { createHash } from 'node:crypto';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { DEV_ACCOUNTS } from '../../src/chain/devnet/state/dev-accounts.js';
import type { GenesisAccount } from '../../src/chain/devnet/state/genesis.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { type Argument, type Contracts, callData, encodeArguments, word } from './contracts.js';
import { swapScene } from './swap-scene.js';

/** A transaction that an estimate has to be enough for, and what a call tells once it is in a block. */
export interface Action {
  readonly name: string;
  readonly call: {
    readonly from: Hex;
    readonly to?: Hex;
    readonly data?: Hex;
    readonly value?: Hex;
    readonly accessList?: { address: Hex; storageKeys: Hex[] }[];
  };
  /** The call is made after the transaction, and has to return this word. */
  readonly after?: { readonly to: Hex; readonly data: Hex; readonly returns: Hex };
}

export interface EstimateScene {
  readonly alloc: Readonly<Record<Hex, GenesisAccount>>;
  readonly actions: readonly Action[];
  /** Contract of test/contracts/Faults.sol. */
  readonly faults: Hex;
}

const SENDER = DEV_ACCOUNTS[0]!.address;
const PROXY_SLOT: Hex = '0x360894a13ba1a3210667c828492db98dca3e2076cc3735a920a3ca505d382bbc';
const NOBODY: Hex = `0x${'de'.repeat(20)}`;
/** Keccak rounds at the bottom of the nested calls, about two hundred gas each. */
const ROUNDS = 800;

const toWord = (value: bigint | number | Hex): Hex => `0x${word(value)}`;
const at = (number: number): Hex => `0xc0de${number.toString(16).padStart(36, '0')}`;

/** The contracts of the repository in a genesis, and one action for each thing that makes estimates go wrong. */
export function estimateScene(contracts: Contracts): EstimateScene {
  const alloc: Record<Hex, GenesisAccount> = {};
  const deploy = (name: string, storage: Record<Hex, Hex> = {}, balance = 0n): Hex => {
    const address = at(Object.keys(alloc).length + 1);
    alloc[address] = { nonce: 1n, balance, code: contracts[name]!.runtimeCode, storage };
    return address;
  };
  const data = (name: string, signature: string, ...args: Argument[]) => callData(contracts[name], signature, ...args);
  const action = (name: string, contract: string, to: Hex, signature: string, ...args: Argument[]): Action => ({
    name,
    call: { from: SENDER, to, data: data(contract, signature, ...args) },
  });
  const reads = (
    contract: string,
    to: Hex,
    signature: string,
    returns: bigint | number | Hex,
    ...args: Argument[]
  ) => ({
    after: { to, data: data(contract, signature, ...args), returns: toWord(returns) },
  });

  const cells = Object.fromEntries(Array.from({ length: 24 }, (_, i) => [toWord(i), toWord(i + 1)]));
  const [empty, filled, listed] = [deploy('SlotClearer'), deploy('SlotClearer', cells), deploy('SlotClearer', cells)];
  const [nester, catching] = [deploy('Nester'), deploy('Nester')];
  const [factory, factory2] = [deploy('Factory'), deploy('Factory')];
  const token = deploy('TestToken');
  const proxy = deploy('Proxy', { [PROXY_SLOT]: toWord(token) });
  const leaver = deploy('Leaver', { [toWord(0)]: toWord(7) }, 5n);
  const briefLife = deploy('BriefLife');
  const faults = deploy('Faults');
  const precompile = (name: string, returns: bigint | Hex, signature: string, ...args: Argument[]): Action => {
    const to = deploy('Precompiles');
    return { ...action(name, 'Precompiles', to, signature, ...args), ...reads('Precompiles', to, 'kept()', returns) };
  };
  const text: Hex = `0x${'9d'.repeat(70)}`;
  const long: Hex = `0x${'9d'.repeat(4_096)}`;
  const swap = swapScene(contracts, SENDER, NOBODY);

  const actions: Action[] = [
    { name: 'a transfer of money', call: { from: SENDER, to: NOBODY, value: '0x5' } },
    { name: 'an ERC-20 transfer', call: swap.transfer },
    {
      name: 'a two-hop swap',
      call: swap.swap,
      ...reads('TestToken', swap.tokens[2], 'balanceOf(address)', 10n ** 18n + swap.amountOut, SENDER),
    },
    {
      ...action('filling 24 slots', 'SlotClearer', empty, 'fill()'),
      ...reads('SlotClearer', empty, 'cells(uint256)', 24, 23),
    },
    {
      ...action('clearing 24 slots, with refunds', 'SlotClearer', filled, 'clear()'),
      ...reads('SlotClearer', filled, 'cells(uint256)', 0, 23),
    },
    {
      name: 'clearing 24 slots of an access list',
      call: {
        from: SENDER,
        to: listed,
        data: data('SlotClearer', 'clear()'),
        accessList: [{ address: listed, storageKeys: Object.keys(cells) as Hex[] }],
      },
      ...reads('SlotClearer', listed, 'cells(uint256)', 0, 23),
    },
    {
      ...action('calls nested five deep', 'Nester', nester, 'dive(uint256,uint256)', 5, ROUNDS),
      ...reads('Nester', nester, 'done()', hashChain(ROUNDS)),
    },
    action('nested calls that catch the failure below', 'Nester', catching, 'tryDive(uint256,uint256)', 2, ROUNDS),
    {
      ...action('a factory that creates', 'Factory', factory, 'make(uint256)', 77),
      ...reads('Factory', factory, 'count()', 1),
    },
    {
      ...action('a factory that creates with a salt', 'Factory', factory2, 'makeAt(uint256,bytes32)', 77, 5),
      ...reads('Factory', factory2, 'count()', 1),
    },
    {
      name: 'a transaction that creates',
      call: { from: SENDER, data: `${contracts.Child!.creationCode}${encodeArguments([123])}` },
    },
    {
      name: 'a transaction that creates with money',
      call: { from: SENDER, data: contracts.Leaver!.creationCode, value: '0x9' },
    },
    {
      ...action('a delegate call', 'TestToken', proxy, 'mint(address,uint256)', NOBODY, 31),
      ...reads('TestToken', proxy, 'balanceOf(address)', 31, NOBODY),
    },
    action('SELFDESTRUCT of a contract that was there', 'Leaver', leaver, 'leave(address)', NOBODY),
    {
      name: 'SELFDESTRUCT in the transaction that created',
      call: {
        from: SENDER,
        to: briefLife,
        value: '0x3',
        data: data('BriefLife', 'liveAndLeave(address)', NOBODY),
      },
      ...reads('BriefLife', briefLife, 'lives()', 1),
    },
    precompile('ecrecover', RECOVERED.signer, 'recover(bytes32,uint8,bytes32,bytes32)', ...RECOVERED.args),
    precompile('sha256', sha256(text), 'digest(bytes)', { bytes: text }),
    precompile('sha256 of long calldata, which the floor prices', sha256(long), 'digest(bytes)', { bytes: long }),
    precompile('identity', bytesToHex(keccak_256(hexToBytes(text))), 'copy(bytes)', { bytes: text }),
    precompile('modexp', 3n ** 1_000n % P, 'power(uint256,uint256,uint256)', 3, 1_000, P),
    precompile('ecAdd, ecMul and ecPairing', 1n, 'curve()'),
  ];
  return { alloc: { ...swap.alloc, ...alloc }, actions, faults };
}

/** Some prime. */
const P = 2n ** 255n - 19n;

/** Test case "CallEcrecover0" of ethereum/tests (GeneralStateTests/stPreCompiledContracts2). */
const RECOVERED: { readonly signer: Hex; readonly args: readonly Argument[] } = {
  signer: '0xa94f5374fce5edbc8e2a8697c15331677e6ebf0b',
  args: [
    '0x18c547e4f7b0f325ad1e56f57e26c745b09a3e503d86e00e5255ff7f715d3d1c',
    28,
    '0x73b1693892219d736caba55bdb67216e485557ea6b6af75f37096c9aa6a5a75f',
    '0xeeb940b1d03b21e36b0e47e79769f095fe2ab855bd91e3a38756b7d75a9c4549',
  ],
};

function sha256(data: Hex): Hex {
  return `0x${createHash('sha256').update(hexToBytes(data)).digest('hex')}`;
}

/** What test/contracts/Nester.sol works out, by noble. */
function hashChain(rounds: number): Hex {
  let sum = hexToBytes(toWord(rounds));
  for (let i = 0; i < rounds; i++) sum = keccak_256(sum);
  return bytesToHex(sum);
}
