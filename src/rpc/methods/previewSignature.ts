import { isHead } from '../../chain/block.js';
import { loadSignerRecovery } from '../../ethereum/signer.js';
import { RunBudget, type RunLimits } from '../../evm/run-budget.js';
import type { SpeculativeRun } from '../../evm/simulation.js';
import type { StateReader } from '../../evm/state-reader.js';
import type { Use } from '../../preview/signature-families.js';
import { previewSignature, type SignatureRequest } from '../../preview/signature-preview.js';
import { bytesToHex, type Hex, hexToBytes } from '../../primitives/hex.js';
import { COMPUTES } from '../method-rows.js';
import {
  optional,
  parseAddress,
  parseBoolean,
  parseBytes,
  parseHash,
  parseQuantity,
  requireArray,
  requireMembers,
  requireObject,
  requireText,
} from '../parse-params.js';
import { parseBlockReference, requireBlock } from '../resolve-block.js';
import { invalidParams } from '../rpc-errors.js';
import type { SignatureOptions, SignaturePreview, SignatureToPreview } from '../schema/transaction-preview.js';
import { defineMethod } from './context.js';
import { MAX_PREFETCH_BYTES, nextContext, parseKnown, seenByEndpoints } from './previewTransaction.js';

const SUBJECT = 'signature params';
const MAX_CALLS = 32;
const KINDS = ['typedData', 'message', 'hash', 'authorization', 'calls'] as const;

/** `[request, options]`: what a signature would allow. Nothing is signed, and no key is needed. */
export const plumbline_previewSignature = defineMethod<
  [request: SignatureToPreview, options: SignatureOptions],
  SignaturePreview
>('plumbline_previewSignature', COMPUTES, async (context, [requestParam, optionsParam], call) => {
  const { chain, maxAnswerBytes } = context;
  const options = requireObject(optionsParam, 'options', SUBJECT);
  requireMembers(options, ['account', 'origin', 'block', 'known'], 'options', SUBJECT);
  const account = bytesToHex(parseAddress(options.account, 'options.account', SUBJECT));
  const request = parseRequest(requestParam, account);
  const origin = optional(options.origin, (one) => requireText(one, 'options.origin', SUBJECT));
  const known = optional(options.known, parseKnown);
  const reference = parseBlockReference(options.block, { tag: 'latest' }, 'options.block');
  await loadSignerRecovery();
  const target = isHead(reference) ? await chain.head(call) : await requireBlock(context, reference, call);
  const { network } = chain;
  const place = { network, account, origin, known };
  const seen = seenByEndpoints();
  const next = await nextContext(chain, target, undefined, call);
  const from = hexToBytes(account);
  const named = namedIn(request).map((to) => ({ from, to: hexToBytes(to), data: hexToBytes(DOMAIN_SEPARATOR) }));
  const [first = { from, to: from, data: new Uint8Array(0) }] = named;
  const { block: on, state } = await chain.prepare(
    {
      call: first,
      block: target,
      tag: 'tag' in reference && reference.tag !== 'earliest' ? reference.tag : undefined,
      accessLists: false,
      runs: {
        calls: named.length === 0 ? [first] : named,
        coinbase: next.coinbase,
        run: (reader: StateReader, limits: RunLimits, speculativeRun: SpeculativeRun) => {
          const budget = new RunBudget({ ...limits, maxAnswerBytes: MAX_PREFETCH_BYTES });
          return previewSignature({ ...place, block: next, state: reader, budget, speculativeRun }, request);
        },
        onAsk: seen.note,
      },
    },
    call,
  );
  const block = await nextContext(chain, on, undefined, call);
  const budget = new RunBudget({ signal: call.signal, gas: call.gas, maxAnswerBytes });
  return {
    account,
    ...(await previewSignature({ ...place, block, state, budget }, request)),
    trust: { level: await chain.trust(on), block: { number: on.header.number, hash: bytesToHex(on.hash) } },
    seen: seen.list(),
  };
});

const DOMAIN_SEPARATOR: Hex = '0x3644e515';
/** Most accounts that are read at once, before it is known what the runs read. */
const MAX_NAMED = 16;
/** Most values of a message that are looked at for them: an object may contain itself. */
const MAX_LOOKED_AT = 1_024;

/** The accounts that a request names, the contract that it is for first. */
function namedIn(request: SignatureRequest): Hex[] {
  if (request.kind === 'authorization') return [bytesToHex(request.address)];
  if (request.kind === 'calls') return request.calls.map(({ to }) => to).slice(0, MAX_NAMED);
  if (request.kind !== 'typed-data') return [];
  const found = new Set<Hex>();
  const open: unknown[] = [request.data.message, request.data.domain];
  for (let left = MAX_LOOKED_AT; open.length > 0 && left > 0 && found.size < MAX_NAMED; left--) {
    const one = open.pop();
    if (typeof one === 'object' && one !== null) open.push(...Object.values(one).slice(0, MAX_NAMED).reverse());
    else if (typeof one === 'string' && /^0x[0-9a-fA-F]{40}$/.test(one)) found.add(one.toLowerCase() as Hex);
  }
  return [...found];
}

/** @throws RpcError -32602 for what is none of the kinds */
function parseRequest(value: unknown, account: Hex): SignatureRequest {
  const request = requireObject(value, 'request', SUBJECT);
  const kinds = KINDS.filter((kind) => request[kind] !== undefined);
  const [kind] = kinds;
  if (kind === undefined || kinds.length > 1)
    throw invalidParams('request', `must have one of ${KINDS.join(', ')}`, SUBJECT);
  switch (kind) {
    case 'typedData': {
      const { typedData } = request;
      const data = typeof typedData === 'string' ? fromJson(typedData) : typedData;
      return { kind: 'typed-data', data: requireObject(data, 'request.typedData', SUBJECT) };
    }
    case 'message':
      return { kind, message: parseBytes(request.message, 'request.message', SUBJECT) };
    case 'hash':
      return { kind, hash: parseHash(request.hash, 'request.hash', SUBJECT) };
    case 'authorization': {
      const { chainId, address, nonce } = requireObject(request.authorization, 'request.authorization', SUBJECT);
      return {
        kind,
        chainId: parseQuantity(chainId, 'request.authorization.chainId', SUBJECT),
        address: parseAddress(address, 'request.authorization.address', SUBJECT),
        nonce: parseQuantity(nonce, 'request.authorization.nonce', SUBJECT, 64),
      };
    }
    case 'calls': {
      const calls = requireArray(request.calls, 'request.calls', SUBJECT);
      if (calls.length === 0 || calls.length > MAX_CALLS)
        throw invalidParams('request.calls', `must be 1 to ${MAX_CALLS} calls, got ${calls.length}`, SUBJECT);
      return {
        kind,
        chainId: optional(request.chainId, (one) => parseQuantity(one, 'request.chainId', SUBJECT)),
        atomic:
          optional(request.atomicRequired, (one) => parseBoolean(one, 'request.atomicRequired', SUBJECT)) ?? false,
        calls: calls.map((one, i) => parseUse(one, `request.calls[${i}]`, account)),
      };
    }
  }
}

function parseUse(value: unknown, name: string, from: Hex): Use {
  const { to, data, value: wei } = requireObject(value, name, SUBJECT);
  return {
    from,
    to: bytesToHex(parseAddress(to, `${name}.to`, SUBJECT)),
    data: bytesToHex(optional(data, (one) => parseBytes(one, `${name}.data`, SUBJECT)) ?? new Uint8Array(0)),
    value: optional(wei, (one) => parseQuantity(one, `${name}.value`, SUBJECT)) ?? 0n,
  };
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalidParams('request.typedData', 'is not JSON', SUBJECT);
  }
}
