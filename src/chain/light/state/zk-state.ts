import { type LineaProofJson, provedValues } from '../../../accumulator/proof-shape.js';
import { isPlumblineError } from '../../../errors.js';
import type { Account } from '../../../evm/state-reader.js';
import { bytesToKey } from '../../../primitives/bytes.js';
import { bytesToHex } from '../../../primitives/hex.js';
import { toQuantity } from '../../../primitives/quantity.js';
import { type AccountRequest, hasNoCode, verifyCode } from '../../../proof/ethereum-proof.js';
import type { EndpointGroup } from '../../../upstream/group.js';
import { answerRefused } from '../refused.js';
import type { AccessSet, AccountAccess } from './access-set.js';
import { LightState, type ProvedState, type ProvedStates } from './proved-state.js';

/** The zk state after a finalized block. */
export interface ZkStateSource {
  /** Of the block, on layer 2. */
  readonly number: number;
  /** Root of the zk state, 32 bytes. */
  readonly root: Uint8Array;
  /** A verified answer of `linea_getProof` at the block. @throws PlumblineError as `Settlement.prove` */
  prove(request: AccountRequest, signal?: AbortSignal): Promise<LineaProofJson>;
}

/** Where the code of contracts is fetched, and what is known of states. */
export interface ZkStateParts {
  readonly group: EndpointGroup;
  readonly states: ProvedStates;
}

/**
 * Reads accounts, slots and code in a zk state. Code has the hash and the length that the account names.
 *
 * @param extend - adds to the accesses what will probably be read next
 * @param signal - ends what is being fetched
 */
export function zkState(
  { group, states }: ZkStateParts,
  source: ZkStateSource,
  signal: AbortSignal | undefined,
  extend: (state: ProvedState, accesses: AccessSet) => Promise<AccessSet> = async (_, accesses) => accesses,
): LightState {
  const state = states.at(source.root);
  return new LightState(state, async (accesses) => {
    const open = await extend(state, accesses);
    const proved = await Promise.all([...open].map((access) => proveAccess(source, access, signal)));
    state.take(new Map(proved.map(({ key, account, slots }) => [key, { account, slots }])));
    await Promise.all(
      proved.map(async ({ access, account, codeSize }) => {
        if (account === undefined || codeSize === undefined || hasNoCode(account.codeHash)) return;
        const known = await state.codes.load(account.codeHash);
        if (known !== undefined) requireSize(access.address, known, codeSize);
        else if (access.code) {
          const code = await fetchCode(group, access.address, account.codeHash, codeSize, source.number, signal);
          state.codes.put(account.codeHash, code, access.address);
        }
      }),
    );
  });
}

async function proveAccess(source: ZkStateSource, access: AccountAccess, signal: AbortSignal | undefined) {
  const storageKeys = [...access.slots.values()];
  const proof = await source.prove({ address: access.address, storageKeys }, signal);
  const { account, slots } = provedValues(proof, storageKeys.length);
  // The storage root of the zk account is not that of the ordinary state, so it is left out.
  const read: Account | undefined = account && {
    nonce: account.nonce,
    balance: account.balance,
    codeHash: account.keccakCodeHash,
  };
  return {
    key: bytesToKey(access.address),
    access,
    account: read,
    codeSize: account?.codeSize,
    slots: new Map(storageKeys.map((slot, i) => [bytesToKey(slot), slots[i]!])),
  };
}

/** Code by its hash: as it is now, or after the block if it has changed since. */
async function fetchCode(
  group: EndpointGroup,
  address: Uint8Array,
  codeHash: Uint8Array,
  codeSize: bigint,
  number: number,
  signal: AbortSignal | undefined,
): Promise<Uint8Array> {
  const at = (block: string) =>
    group.request('eth_getCode', [bytesToHex(address), block], {
      ...(signal !== undefined && { signal }),
      accept: (answer) => {
        const verdict = verifyCode(codeHash, answer);
        if (!verdict.verified) throw answerRefused(`code of ${bytesToHex(address)}`, verdict);
        requireSize(address, verdict.code, codeSize);
        return verdict.code;
      },
    });
  try {
    return await at('latest');
  } catch (error) {
    if (!isPlumblineError(error, 'ANSWER_REFUSED') && !isPlumblineError(error, 'UPSTREAM_ERROR')) throw error;
    return at(toQuantity(number));
  }
}

/** @throws PlumblineError `ANSWER_REFUSED` for code of another length than the account names */
function requireSize(address: Uint8Array, { length }: Uint8Array, codeSize: bigint): void {
  if (BigInt(length) === codeSize) return;
  const message = `has ${length} bytes, the account names ${codeSize}`;
  throw answerRefused(`code of ${bytesToHex(address)}`, { verified: false, reason: 'CODE_SIZE', at: '', message });
}
