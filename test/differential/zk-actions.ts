import { Common, Hardfork, Mainnet } from '@ethereumjs/common';
import { createTx } from '@ethereumjs/tx';
import { eoaCode7702SignAuthorization } from '@ethereumjs/util';
import { DEV_ACCOUNTS } from '../../src/chain/devnet/state/dev-accounts.js';
import { bytesToHex, type Hex, hexToBytes } from '../../src/primitives/hex.js';
import { type Digits, word } from '../reference/zk-hash.js';
import { keccak, type PlainAccount, type PlainAccounts } from '../reference/zk-state.js';

/* Random transactions on few accounts: contracts that CREATE2 makes, destroys and makes again, delegations, slots. */

export type Random = (bound: number) => number;
export type PlayFork = 'shanghai' | 'prague';
const CHAIN_ID = 4343;

export const address = (number: number): Digits => number.toString(16).padStart(40, '0');
const signer = (index: number): Digits => DEV_ACCOUNTS[index]!.address.slice(2).toLowerCase();
const keyOf = (sender: Digits): Uint8Array => {
  return hexToBytes(DEV_ACCOUNTS.find((account) => account.address.toLowerCase() === `0x${sender}`)!.privateKey);
};

export const FACTORY = address(0xfac);
/** Contracts that delegations name: one program, with and without a byte behind it. */
const LIBRARIES = [address(0x11b1), address(0x11b2)];
const SENDERS = [0, 1, 2].map(signer);
const AUTHORITIES = [5, 6, 7].map(signer);
const STRANGERS = [address(0xe1), address(0xe2)];
export const SLOTS: readonly Digits[] = [0, 1, 2, 3].map(word);
export const LEAVE = 'f'.repeat(64);
const FEE = 2_000_000_000n;

/** Bytes of a program: opcodes as hex, a label as `:name`, a push of its place as `@name`. */
function assemble(source: string): Digits {
  const parts = source.trim().split(/\s+/);
  const places = new Map<string, number>();
  let at = 0;
  for (const part of parts) {
    if (part.startsWith(':')) places.set(part.slice(1), at);
    at += part.startsWith(':') ? 1 : part.startsWith('@') ? 2 : part.length / 2;
  }
  const push = (label: string) => `60${places.get(label)!.toString(16).padStart(2, '0')}`;
  return parts.map((part) => (part[0] === ':' ? '5b' : part[0] === '@' ? push(part.slice(1)) : part)).join('');
}

/** Writes pairs of slot and value; for a slot of ones, SELFDESTRUCT to the address in the value. */
export const REGISTER = assemble(`
  6000
  :loop 80 36 11 15 @end 57
  80 6020 01 35 81 35
  80 19 15 @leave 57
  55 6040 01 @loop 56
  :leave 50 ff
  :end 00`);

/** Input: salt, whether the new contract is called to leave at once, and init code for CREATE2. Reverts if that fails. */
const MAKER = assemble(`
  6040 36 03 80 6040 6000 37
  6000 35 90 6000 34 f5
  80 15 @fail 57
  6020 35 15 @end 57
  6000 19 6000 52 33 6020 52
  6000 6000 6040 6000 6000 85 5a f1 50
  :end 00
  :fail 6000 6000 fd`);

/** Init code that writes slots, and what it leaves as code. */
export interface Kind {
  readonly init: Digits;
  readonly slots: readonly (readonly [Digits, Digits])[];
  readonly code: Digits;
}

function kind(code: Digits, slots: readonly (readonly [number, number])[]): Kind {
  const byte = (value: number) => value.toString(16).padStart(2, '0');
  const writes = slots.map(([key, value]) => `60${byte(value)}60${byte(key)}55`).join('');
  const size = byte(code.length / 2);
  const start = byte(writes.length / 2 + 12);
  // CODECOPY of what follows these twelve bytes, and RETURN.
  const init = `${writes}60${size}60${start}60003960${size}6000f3${code}`;
  return { init, slots: slots.map(([key, value]) => [word(key), word(value)] as const), code };
}

const KINDS = [
  kind(REGISTER, []),
  kind(`${REGISTER}00`, [
    [0, 1],
    [2, 9],
  ]),
  kind('', [[1, 5]]),
];
const SALTS = [1, 2];
export const childOf = (salt: number, { init }: Kind): Digits =>
  keccak(`ff${FACTORY}${word(salt)}${keccak(init)}`).slice(24);
const CHILDREN = SALTS.flatMap((salt) => KINDS.map((made) => childOf(salt, made)));
/** Every account that a proof may be asked for; the last is never there. */
export const ADDRESSES: readonly Digits[] = [
  ...new Set([...CHILDREN, ...CHILDREN, ...AUTHORITIES, ...STRANGERS, FACTORY, ...LIBRARIES, ...SENDERS]),
  address(0xdead),
];

const OTHERS = [...CHILDREN, ...AUTHORITIES, ...AUTHORITIES, ...STRANGERS];

export type Write = readonly [key: Digits, value: Digits];

/** A transaction, as it is sent and as the model reads it. */
export interface Action {
  readonly raw: Hex;
  readonly sender: Digits;
  readonly value: bigint;
  /** Accounts that sign for a delegation, with the nonce that they sign. An address of zero ends a delegation. */
  readonly delegations: readonly { readonly authority: Digits; readonly to: Digits; readonly nonce: bigint }[];
  readonly call:
    | { readonly to: Digits; readonly writes: readonly Write[] }
    | { readonly salt: number; readonly made: Kind; readonly leaves: boolean };
}

export function genesisOf(fork: PlayFork) {
  const alloc: Record<Digits, object> = {};
  for (const sender of [...SENDERS, ...AUTHORITIES.slice(1)])
    alloc[sender] = { balance: `0x${(10n ** 20n).toString(16)}` };
  alloc[FACTORY] = { balance: '0x0', nonce: '0x1', code: `0x${MAKER}` };
  alloc[LIBRARIES[0]!] = { balance: '0x0', nonce: '0x1', code: `0x${REGISTER}` };
  alloc[LIBRARIES[1]!] = { balance: '0x0', nonce: '0x1', code: `0x${REGISTER}00`, storage: { '0x01': '0x07' } };
  const times = fork === 'prague' ? { cancunTime: 0, pragueTime: 0 } : {};
  const config = { chainId: CHAIN_ID, londonBlock: 0, terminalTotalDifficulty: 0, shanghaiTime: 0, ...times };
  return { config, gasLimit: '0x3b9aca00', alloc };
}

export function genesisAccounts(): Map<Digits, PlainAccount> {
  const account = (balance: bigint, nonce: bigint, code: Digits, slots: readonly Write[] = []): PlainAccount => {
    return { nonce, balance, code, slots: new Map(slots) };
  };
  return new Map([
    ...[...SENDERS, ...AUTHORITIES.slice(1)].map((sender) => [sender, account(10n ** 20n, 0n, '')] as const),
    [FACTORY, account(0n, 1n, MAKER)],
    [LIBRARIES[0]!, account(0n, 1n, REGISTER)],
    [LIBRARIES[1]!, account(0n, 1n, `${REGISTER}00`, [[word(1), word(7)]])],
  ]);
}

/** Transactions of one block, signed with the nonces that follow from `accounts`. */
export function randomActions(random: Random, fork: PlayFork, accounts: PlainAccounts): Action[] {
  const nonces = new Map(SENDERS.map((sender) => [sender, accounts.get(sender)!.nonce]));
  const pick = <T>(items: readonly T[]): T => items[random(items.length)]!;
  // Contracts that are there, so that most calls do something.
  const living = CHILDREN.filter((child) => accounts.get(child)?.code);
  return Array.from({ length: 2 + random(8) }, () => {
    const sender = pick(SENDERS);
    const nonce = nonces.get(sender)!;
    nonces.set(sender, nonce + 1n);
    const value = BigInt(random(3) === 0 ? 1 + random(3) : 0);
    const delegations =
      fork === 'prague' && random(3) === 0
        ? Array.from({ length: 1 + random(2) }, () => {
            const authority = pick(AUTHORITIES);
            const current = accounts.get(authority)?.nonce ?? 0n;
            return {
              authority,
              to: pick([...LIBRARIES, address(0)]),
              nonce: current + BigInt(random(5) === 0 ? 1 : 0),
            };
          })
        : [];
    const call =
      random(3) === 0
        ? { salt: pick(SALTS), made: pick(KINDS), leaves: random(4) === 0 }
        : { to: pick(random(3) > 0 && living.length > 0 ? living : OTHERS), writes: randomWrites(random) };
    return { raw: sign({ sender, nonce, value, delegations, call }), sender, value, delegations, call };
  });
}

function randomWrites(random: Random): Write[] {
  const writes = Array.from({ length: random(5) }, (): Write => {
    return [SLOTS[random(SLOTS.length)]!, word(random(2) === 0 ? 0 : 1 + random(3))];
  });
  const heirs = [...STRANGERS, ...CHILDREN, ...SENDERS];
  return random(3) === 0 ? [...writes, [LEAVE, heirs[random(heirs.length)]!.padStart(64, '0')]] : writes;
}

function sign({ sender, nonce, value, delegations, call }: Omit<Action, 'raw'> & { readonly nonce: bigint }): Hex {
  const common = new Common({ chain: { ...Mainnet, chainId: CHAIN_ID }, hardfork: Hardfork.Prague });
  const made = 'made' in call;
  const data = made
    ? `${word(call.salt)}${word(call.leaves ? 1 : 0)}${call.made.init}`
    : call.writes.map((pair) => pair.join('')).join('');
  const authorizationList = delegations.map(({ authority, to, nonce: signed }) => {
    const unsigned = {
      chainId: `0x${CHAIN_ID.toString(16)}`,
      address: `0x${to}`,
      nonce: `0x${signed.toString(16)}`,
    } as const;
    return eoaCode7702SignAuthorization(unsigned, keyOf(authority));
  });
  const fields = {
    type: delegations.length > 0 ? 4 : 2,
    chainId: CHAIN_ID,
    nonce,
    value,
    to: `0x${made ? FACTORY : call.to}` as Hex,
    data: `0x${data}` as Hex,
    gasLimit: 1_000_000n,
    maxFeePerGas: FEE,
    maxPriorityFeePerGas: 1000n,
    ...(delegations.length > 0 && { authorizationList }),
  };
  return bytesToHex(
    createTx(fields as never, { common })
      .sign(keyOf(sender))
      .serialize(),
  );
}
