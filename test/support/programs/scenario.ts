import { eoaCode7702SignAuthorization } from '@ethereumjs/util';
import type { Alloc } from '../../../conformance/alloc-state.js';
import { DEV_ACCOUNTS } from '../../../src/chain/devnet/state/dev-accounts.js';
import { createdAddress } from '../../../src/ethereum/encode-transaction.js';
import type { TransactionMessage } from '../../../src/evm/transaction-message.js';
import type { Hardfork } from '../../../src/networks/network.js';
import { bigIntToBytes, bytesToBigInt } from '../../../src/primitives/bytes.js';
import type { AccessListEntry, Authorization } from '../../../src/primitives/call-request.js';
import { bytesToHex, type Hex, hexToBytes } from '../../../src/primitives/hex.js';
import { toQuantity } from '../../../src/primitives/quantity.js';
import { precompileInputs } from '../precompile-inputs.js';
import { seededRandom } from '../random.js';
import { addressOf, randomBytes } from '../random-programs.js';
import { code, pick } from './code.js';
import { initCode } from './init-code.js';
import { COINBASE, CONTRACTS, HOLDER, type Setting, STRANGER, type Statement, since } from './setting.js';
import { ending, THEMES } from './statements.js';

/** Sends every transaction. */
export const SENDER = DEV_ACCOUNTS[0]!;
/** Their keys sign authorizations. From Prague on the first three begin with a delegation. */
const AUTHORITIES = DEV_ACCOUNTS.slice(1, 5);
const SENDER_NONCE = 5n;
/** So much that calls with all gas reach the limit of depth: each level keeps a 64th. */
const DEEP_GAS = 40_000_000_000n;
/** Precompiles by their first fork, up to the address. */
const LAST_PRECOMPILE: readonly (readonly [Hardfork, number])[] = [
  ['london', 0x09],
  ['cancun', 0x0a],
  ['prague', 0x11],
  ['osaka', 0x100],
];

/** A state and a transaction on it. The same seed and fork give the same one. */
export interface Scenario {
  readonly name: string;
  readonly hardfork: Hardfork;
  readonly alloc: Alloc;
  readonly message: TransactionMessage;
}

export interface ScenarioOptions {
  /** Only programs of this theme (`THEMES`). */
  readonly theme?: string;
  /** Calls with real input to point evaluation, which a peer may not have. */
  readonly pointEvaluation?: boolean;
  /** Every account that may sign authorizations is there: anvil takes all accounts for existing ones. */
  readonly authoritiesExist?: boolean;
  /** No transactions with blobs: a node takes them with a sidecar only. */
  readonly withoutBlobs?: boolean;
}

export function scenario(hardfork: Hardfork, seed: number, options: ScenarioOptions = {}): Scenario {
  // Neighbouring seeds of the generator begin alike.
  const below = seededRandom(Math.imul(seed, 2_654_435_761) ^ 0x5eed);
  for (let i = 0; i < 8; i++) below(2);
  const theme = options.theme ?? pick(below, Object.keys(THEMES));
  const authorities = AUTHORITIES.map(({ address }) => address.toLowerCase() as Hex);
  const next = bytesToHex(createdAddress({ from: hexToBytes(CONTRACTS[0]!, 20), nonce: 1n }));
  const last = LAST_PRECOMPILE.findLast(([fork]) => since({ hardfork }, fork))![1];
  const setting: Setting = {
    below,
    hardfork,
    accounts: [...CONTRACTS, ...CONTRACTS, STRANGER, HOLDER, COINBASE, next, ...authorities],
    precompiles: precompileInputs().filter(([at]) => at <= last && (at !== 0x0a || options.pointEvaluation === true)),
  };
  const alloc = stateOf(setting, theme, authorities, next, options.authoritiesExist === true);
  const message = messageOf(setting, theme, authorities, options.withoutBlobs !== true);
  return { name: `${hardfork} seed ${seed} (${theme})`, hardfork, alloc, message };
}

function program(setting: Setting, theme: string): Uint8Array {
  const { below } = setting;
  const statements = THEMES[theme]!;
  const ends: readonly Statement[] = theme === 'destruction' ? [ending, ending, selfDestruct] : [ending];
  const count = theme === 'recursion' ? 1 + below(2) : 2 + below(11);
  const body = Array.from({ length: count }, () => pick(below, below(6) === 0 ? THEMES.mixed! : statements)(setting));
  return code(...body, pick(below, ends)(setting));
}

const selfDestruct: Statement = ({ below, accounts }) => code(0x73, hexToBytes(pick(below, accounts), 20), 0xff);

function word(value: number): Hex {
  return `0x${value.toString(16).padStart(64, '0')}`;
}

function stateOf(setting: Setting, theme: string, authorities: readonly Hex[], next: Hex, exist: boolean): Alloc {
  const { below } = setting;
  const alloc: Alloc = {
    [SENDER.address.toLowerCase() as Hex]: { nonce: toQuantity(SENDER_NONCE), balance: toQuantity(10n ** 30n) },
    [HOLDER]: { balance: '0x5' },
  };
  for (const contract of CONTRACTS) {
    const slots = [0, 1, 2].map((slot) => [word(slot), below(3)] as const).filter(([, value]) => value > 0);
    alloc[contract] = {
      nonce: '0x1',
      balance: pick(below, ['0x0', '0x3', '0xde0b6b3a7640000']),
      code: bytesToHex(program(setting, theme)),
      storage: Object.fromEntries(slots.map(([slot, value]) => [slot, word(value)])),
    };
  }
  // The address of the first creation is taken, or has ether alone.
  const taken = below(12);
  if (taken === 0) alloc[next] = { nonce: '0x1', balance: '0x0' };
  if (taken === 1) alloc[next] = { nonce: '0x0', balance: '0x2' };
  for (const authority of authorities) {
    if (below(3) === 0 || exist) alloc[authority] = { nonce: '0x0', balance: '0x9' };
  }
  if (since(setting, 'prague')) {
    const targets = [
      CONTRACTS[1]!,
      pick(below, [authorities[0]!, authorities[1]!, addressOf(4), STRANGER]),
      CONTRACTS[2]!,
    ];
    for (const [i, target] of targets.entries()) {
      alloc[authorities[i]!] = { nonce: '0x1', balance: '0x1', code: `0xef0100${target.slice(2)}` };
    }
  }
  return alloc;
}

function messageOf(setting: Setting, theme: string, authorities: readonly Hex[], blobs: boolean): TransactionMessage {
  const { below } = setting;
  const creates = below(theme === 'creations' ? 4 : 12) === 0;
  const data = creates
    ? below(2) === 0
      ? initCode(setting)
      : program(setting, theme)
    : randomBytes(below, below(100));
  const recipient =
    below(12) > 0 ? CONTRACTS[0]! : pick(below, [...authorities, STRANGER, addressOf(1 + below(17)), COINBASE]);
  const limits = [30_000, 60_000, 100_000, 200_000, 500_000, 1_000_000, 3_000_000, 3_000_000, 10_000_000];
  const accessList = below(5) === 0 ? someAccess(setting) : undefined;
  // From Osaka on a transaction may not have so much gas.
  const isDeep = theme === 'recursion' && !since(setting, 'osaka') && below(6) === 0;
  const extra = creates ? 60_000n : 0n;
  const base: TransactionMessage = {
    from: hexToBytes(SENDER.address, 20),
    to: creates ? undefined : hexToBytes(recipient, 20),
    nonce: SENDER_NONCE,
    gasLimit: isDeep ? DEEP_GAS : BigInt(pick(below, limits) + below(20_000)) + 60n * BigInt(data.length) + extra,
    gasPrice: 9n,
    value: BigInt(pick(below, [0, 0, 1, 7])),
    data,
    ...(accessList !== undefined && { accessList }),
  };
  if (blobs && since(setting, 'cancun') && !creates && below(12) === 0) {
    const blobVersionedHashes = Array.from({ length: 1 + below(3) }, () => code(1, randomBytes(below, 31)));
    const fees = { gasPrice: undefined, maxFeePerGas: 9n, maxPriorityFeePerGas: 1n, maxFeePerBlobGas: 5n };
    return { ...base, ...fees, accessList: accessList ?? [], blobVersionedHashes };
  }
  if (!since(setting, 'prague') || creates || below(5) > 0) return base;
  const authorizationList = someAuthorizations(setting);
  const gasLimit = base.gasLimit + 25_000n * BigInt(authorizationList.length);
  const fees = { gasPrice: undefined, maxFeePerGas: 9n, maxPriorityFeePerGas: 2n };
  return { ...base, ...fees, gasLimit, accessList: accessList ?? [], authorizationList };
}

function someAccess({ below, accounts }: Setting): AccessListEntry[] {
  return Array.from({ length: 1 + below(3) }, () => ({
    address: hexToBytes(pick(below, accounts), 20),
    storageKeys: Array.from({ length: below(3) }, () => bigIntToBytes(BigInt(below(4)), 32)),
  }));
}

/** Of all kinds: for this chain, any or another, with a nonce that fits or not, of accounts with and without a delegation. */
function someAuthorizations({ below }: Setting): Authorization[] {
  return Array.from({ length: 1 + below(3) }, () => {
    const { privateKey } = pick(below, AUTHORITIES);
    const target = below(5) === 0 ? addressOf(0) : pick(below, [...CONTRACTS, addressOf(2), STRANGER]);
    const unsigned = {
      chainId: pick<Hex>(below, ['0x0', '0x1', '0x1', '0x2']),
      address: target,
      nonce: pick<Hex>(below, ['0x0', '0x1', '0x1', '0x2']),
    };
    const signed = eoaCode7702SignAuthorization(unsigned, hexToBytes(privateKey)).map(bytesToBigInt);
    const [chainId, , nonce, yParity, r, s] = signed as [bigint, bigint, bigint, bigint, bigint, bigint];
    return { chainId, address: hexToBytes(target, 20), nonce, yParity, r, s };
  });
}
