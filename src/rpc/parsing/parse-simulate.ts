import type { Withdrawal } from '../../ethereum/ordered-trie.js';
import type { BlockCall, BlockRequest, SimulatedBlockOverrides } from '../../evm/simulation/simulation.js';
import { invalidParams } from '../protocol/rpc-errors.js';
import { parseCallRequest } from './parse-call.js';
import { BLOCK_OVERRIDES, parseBlockOverrides, parseStateOverrides } from './parse-overrides.js';
import {
  optional,
  parseAddress,
  parseBoolean,
  parseHash,
  parseQuantity,
  requireArray,
  requireMembers,
  requireObject,
} from './parse-params.js';

const SUBJECT = 'simulation params';

/** First parameter of `eth_simulateV1`. */
export interface SimulationRequest {
  readonly blocks: readonly BlockRequest[];
  readonly traceTransfers: boolean;
  readonly validation: boolean;
  readonly returnFullTransactions: boolean;
}

/**
 * `{blockStateCalls: [{blockOverrides, stateOverrides, calls}], traceTransfers, validation, returnFullTransactions}`; only
 * the first is required, and it must not be empty.
 *
 * @throws RpcError -32602 that names the member
 * @source ethereum/execution-apis@033ca6e6 tests/eth_simulateV1
 */
export function parseSimulation(value: unknown): SimulationRequest {
  const object = requireObject(value, 'simulation', SUBJECT);
  const blocks = requireArray(object.blockStateCalls, 'blockStateCalls', SUBJECT);
  if (blocks.length === 0) throw invalidParams('blockStateCalls', 'is empty', SUBJECT);
  const flag = (name: string) => optional(object[name], (present) => parseBoolean(present, name, SUBJECT)) ?? false;
  return {
    blocks: blocks.map((block, index) => parseBlock(block, `blockStateCalls[${index}]`)),
    traceTransfers: flag('traceTransfers'),
    validation: flag('validation'),
    returnFullTransactions: flag('returnFullTransactions'),
  };
}

function parseBlock(value: unknown, at: string): BlockRequest {
  const { blockOverrides, stateOverrides, calls } = requireObject(value, at, SUBJECT);
  return {
    overrides: optional(blockOverrides, (present) => parseOverrides(present, `${at}.blockOverrides`)) ?? {},
    stateOverrides: parseStateOverrides(stateOverrides, `${at}.stateOverrides`, { strict: true }),
    calls: optional(calls, (present) => requireArray(present, `${at}.calls`, SUBJECT).map(parseCall)) ?? [],
  };
}

const OVERRIDES = [...BLOCK_OVERRIDES, 'beaconRoot', 'withdrawals'];

/** The block overrides of calls, and those that only a simulated block can have. */
function parseOverrides(value: unknown, at: string): SimulatedBlockOverrides {
  const members = requireObject(value, at, SUBJECT);
  requireMembers(members, OVERRIDES, at, SUBJECT);
  const { beaconRoot, withdrawals, ...plain } = members;
  const root = optional(beaconRoot, (present) => parseHash(present, `${at}.beaconRoot`, SUBJECT));
  const paid = optional(withdrawals, (present) => parseWithdrawals(present, `${at}.withdrawals`));
  return {
    ...parseBlockOverrides(plain),
    ...(root !== undefined && { parentBeaconBlockRoot: root }),
    ...(paid !== undefined && { withdrawals: paid }),
  };
}

function parseWithdrawals(value: unknown, at: string): Withdrawal[] {
  return requireArray(value, at, SUBJECT).map((entry, position) => {
    const path = `${at}[${position}]`;
    const members = requireObject(entry, path, SUBJECT);
    const quantity = (name: string) => parseQuantity(members[name], `${path}.${name}`, SUBJECT, 64);
    return {
      index: quantity('index'),
      validatorIndex: quantity('validatorIndex'),
      address: parseAddress(members.address, `${path}.address`, SUBJECT),
      amount: quantity('amount'),
    };
  });
}

function parseCall(value: unknown): BlockCall {
  const call = parseCallRequest(value);
  const hashes = optional((value as Readonly<Record<string, unknown>>).blobVersionedHashes, (present) =>
    requireArray(present, 'blobVersionedHashes', SUBJECT).map((hash, index) =>
      parseHash(hash, `blobVersionedHashes[${index}]`, SUBJECT),
    ),
  );
  return hashes === undefined ? call : { ...call, blobVersionedHashes: hashes };
}
