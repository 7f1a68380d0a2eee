import { PlumblineError } from '../../errors.js';
import type { ClaimSearch, Messages } from '../../messages/find-claim.js';
import type { ClaimPreparation, DepositStatus, MessageList, MessageProofJson } from '../../messages/withdrawal.js';
import { isLayerOne } from '../../networks/network.js';
import type { Hex } from '../../primitives/hex.js';
import type { Method, MethodCallOptions } from '../method.js';
import { needsRollup } from '../method-info.js';
import { PROVES } from '../method-rows.js';
import { optional, parseAddress, parseHash, requireMembers, requireObject } from '../parse-params.js';
import { invalidParams } from '../rpc-errors.js';
import { defineMethod, type RpcContext } from './context.js';

const SUBJECT = 'message params';

/** `node.messages`: `{ address, fromBlock, toBlock }`. */
export const messages: Method<RpcContext>['handle'] = async (context, [query], call): Promise<MessageList> => {
  const all = await messagesOf(context, 'messages');
  const { address, fromBlock, toBlock, ...others } = requireObject(query, 'query', SUBJECT);
  requireMembers(others, [], 'query', SUBJECT);
  const range = { from: parseNumber(fromBlock, 'query.fromBlock'), to: parseNumber(toBlock, 'query.toBlock') };
  await requireRange(context, range, 'query', call);
  return all.list({ address: parseAddress(address, 'query.address', SUBJECT), ...range }, bounded(context, call));
};

/** `node.prepareClaim`: the hash of a message, and options. */
export const prepareClaim: Method<RpcContext>['handle'] = async (
  context,
  [hash, options],
  call,
): Promise<ClaimPreparation> => claimOf(context, 'prepareClaim', hash, options, call);

/** `node.depositStatus`: the hash of a message from layer 1. */
export const depositStatus: Method<RpcContext>['handle'] = async (context, [hash], call): Promise<DepositStatus> => {
  const all = await messagesOf(context, 'depositStatus');
  return all.deposit(parseHash(hash, 'hash', SUBJECT), bounded(context, call));
};

/** `[hash]`: as `node.prepareClaim`. Also answers to the network's prefix, and to `l2_getMessageProof`. */
export const linea_getMessageProof = defineMethod<[hash: Hex], MessageProofJson>(
  'linea_getMessageProof',
  PROVES,
  async (context, [hash], call) => {
    const found = await claimOf(context, 'linea_getMessageProof', hash, undefined, call);
    if (!('siblings' in found)) return found;
    const { siblings: proof, ...claim } = found;
    return { ...claim, proof };
  },
);

async function claimOf(
  context: RpcContext,
  method: string,
  hash: unknown,
  options: unknown,
  call: MethodCallOptions,
): Promise<ClaimPreparation> {
  const all = await messagesOf(context, method);
  const given = optional(options, (present) => requireObject(present, 'options', SUBJECT)) ?? {};
  requireMembers(given, ['fromBlock', 'toBlock', 'feeRecipient'], 'options', SUBJECT);
  const from = optional(given.fromBlock, (present) => parseNumber(present, 'options.fromBlock'));
  const to = optional(given.toBlock, (present) => parseNumber(present, 'options.toBlock'));
  if (from === undefined && to !== undefined) throw invalidParams('options.toBlock', 'needs fromBlock', SUBJECT);
  const search: ClaimSearch = {
    hash: parseHash(hash, 'hash', SUBJECT),
    blocks: from === undefined ? undefined : { from, to: to ?? from },
    feeRecipient: optional(given.feeRecipient, (present) => parseAddress(present, 'options.feeRecipient', SUBJECT)),
  };
  if (search.blocks !== undefined) await requireRange(context, search.blocks, 'options', call);
  return all.claim(search, bounded(context, call));
}

/** @throws PlumblineError `METHOD_NOT_ENABLED` with what is missing */
async function messagesOf({ messages: open, chain: { kind, network } }: RpcContext, method: string): Promise<Messages> {
  const found = await open?.();
  if (found !== undefined) return found;
  const reason = isLayerOne(network)
    ? needsRollup(method, network.name)
    : kind === 'devnet'
      ? `${method}: this devnet has no layer 1, or its profile no messageService; ask a light node of the network`
      : `${method} needs endpoints of layer 1 (layerOne), and messageService, rollup.rootDepthsSlot and rollup.claimedSlot of the profile`;
  throw new PlumblineError('METHOD_NOT_ENABLED', reason, { method, reason });
}

/** @throws RpcError -32602 */
function parseNumber(value: unknown, parameter: string): number {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return value as number;
  throw invalidParams(parameter, 'must be the number of a block, from 0 to 2^53 - 1', SUBJECT);
}

/** As the range of `eth_getLogs`. @throws RpcError -32602 */
async function requireRange(
  { chain }: RpcContext,
  { from, to }: { readonly from: number; readonly to: number },
  path: string,
  { signal }: MethodCallOptions,
): Promise<void> {
  if (from > to) throw invalidParams(`${path}.fromBlock`, 'is above toBlock', SUBJECT);
  if (to > (await chain.head({ signal })).header.number)
    throw invalidParams(`${path}.toBlock`, 'is above the head', SUBJECT);
}

const bounded = ({ maxAnswerBytes }: RpcContext, { signal, note }: MethodCallOptions) => ({
  signal,
  note,
  maxAnswerBytes,
});
