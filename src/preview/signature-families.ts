import { DUMMY_SIGNATURE } from '../evm/machine.js';
import { concatBytes } from '../primitives/bytes.js';
import { bytesToHex, type Hex } from '../primitives/hex.js';
import { toQuantity } from '../primitives/quantity.js';
import type { Asset, SignatureFinding } from './preview.js';
import { type Probes, SELECTOR } from './probes.js';
import { ZERO } from './transfers.js';

/*
 * Typed data that is known: what each kind allows, and the calls that use it. Each is recognised by its whole type, so that nothing in it
 * can be left out or added.
 *
 * docs/spec/signatures.md 3 to 5
 */

/** A call that somebody who has the signature can send. */
export interface Use {
  readonly from: Hex;
  readonly to: Hex;
  readonly data: Hex;
  readonly value?: bigint;
}

/** An amount of an asset. */
export interface Lot {
  readonly asset: Asset;
  readonly amount: bigint;
}

interface Nonce {
  readonly told: bigint;
  readonly ask: (state: Probes) => Promise<bigint | undefined>;
  /** `bit`: the answer has the bit of a nonce that is used. `flag`: the answer is not 0 if it is used. */
  readonly kind: 'equal' | 'bit' | 'flag';
}

/** Typed data of a known kind. */
export interface SignatureReading {
  readonly family: string;
  /** Who signs, by what the message says. */
  readonly owner?: Hex | undefined;
  /** Who may use the signature. */
  readonly spenders?: readonly Hex[];
  /** Seconds since 1970 after which it is of no use; undefined for never. */
  readonly deadline?: bigint | undefined;
  /** The calls that use it, as far as they can be run here. `state` is asked what the account has. */
  readonly uses?: (state: Probes) => Promise<readonly Use[]>;
  /** The state that says whether it can still be used: an answer to compare with what is signed. */
  readonly nonce?: Nonce | readonly Nonce[];
  /** Allowances for the first spender, which the uses give. */
  readonly allowances?: readonly { readonly kind: 'erc20' | 'permit2'; readonly token: Hex; readonly amount: bigint }[];
  /** What the account gives and gets if an order is filled. */
  readonly order?: { readonly gives: readonly Lot[]; readonly gets: readonly Lot[] } | undefined;
  /** One transfer: by the spender to any address, up to these amounts, or of an amount to its receiver. */
  readonly transfers?: readonly { readonly token: Hex; readonly amount: bigint }[];
  /** A contract wallet acts in place of the account. */
  readonly actsAs?: Hex;
  /** What the contract wallet pays at least for gas, of a token or, by the zero address, of ether. */
  readonly refund?: { readonly token: Hex; readonly amount: bigint; readonly receiver: Hex } | undefined;
  readonly findings?: readonly SignatureFinding[];
  /** Why what it allows cannot be run. */
  readonly notExecuted?: string;
}

/** What was signed, read strictly. */
export interface Signed {
  readonly account: Hex;
  readonly contract: Hex | undefined;
  /** Without what no type declares. */
  readonly message: Message;
  /** `encodeType` of the primary type. */
  readonly type: string;
  /** The members of the message, each as the word that is hashed. */
  readonly words: ReadonlyMap<string, Uint8Array>;
}

type Message = Readonly<Record<string, unknown>>;

const number = (value: unknown) => BigInt(value as string | number | bigint);
const address = (value: unknown) => String(value).toLowerCase() as Hex;
const struct = (value: unknown) => value as Message;
const list = (value: unknown) => value as readonly Message[];
const hex = (value: unknown) => String(value) as Hex;

const { r, s, v } = DUMMY_SIGNATURE;
const SIGNATURE = bytesToHex(concatBytes(r, s, Uint8Array.of(v)));
const PARTS = [BigInt(v), BigInt(bytesToHex(r)), BigInt(bytesToHex(s))] as const;

type Word = bigint | Hex;
/** An argument: a word, words in a row, or what stands behind the words: bytes, or a list of structs of words. */
type Argument =
  | Word
  | readonly Word[]
  | { readonly bytes: Hex }
  | { readonly items: readonly (readonly Word[])[] }
  | { readonly tuple: readonly Argument[] };

const word = (value: Word) => (typeof value === 'bigint' ? value.toString(16) : value.slice(2)).padStart(64, '0');

/** Arguments by the contract ABI, hex digits. */
function encode(args: readonly Argument[]): string {
  const isWords = (one: Argument): one is Word | readonly Word[] => typeof one !== 'object' || Array.isArray(one);
  const heads = args.reduce((sum, one) => sum + (isWords(one) ? [one].flat().length : 1), 0);
  let [head, tail] = ['', ''];
  for (const one of args) {
    if (isWords(one)) {
      head += ([one].flat() as Word[]).map(word).join('');
      continue;
    }
    head += word(BigInt(32 * heads + tail.length / 2));
    if ('bytes' in one) {
      const digits = one.bytes.slice(2);
      tail += word(BigInt(digits.length / 2)) + digits.padEnd(Math.ceil(digits.length / 64) * 64, '0');
    } else if ('items' in one) tail += word(BigInt(one.items.length)) + one.items.flat().map(word).join('');
    else tail += encode(one.tuple);
  }
  return head + tail;
}

const call = (selector: Hex, ...args: readonly Argument[]): Hex => `${selector}${encode(args)}`;

const DETAILS = 'PermitDetails(address token,uint160 amount,uint48 expiration,uint48 nonce)';
const PERMITTED = 'TokenPermissions(address token,uint256 amount)';
const OFFER =
  'OfferItem(uint8 itemType,address token,uint256 identifierOrCriteria,uint256 startAmount,uint256 endAmount)';
const CONSIDERATION =
  'ConsiderationItem(uint8 itemType,address token,uint256 identifierOrCriteria,uint256 startAmount,uint256 endAmount,address recipient)';
const COMPONENTS =
  'OrderComponents(address offerer,address zone,OfferItem[] offer,ConsiderationItem[] consideration,uint8 orderType,uint256 startTime,uint256 endTime,bytes32 zoneHash,uint256 salt,bytes32 conduitKey,uint256 counter)';
const AUTHORIZED = '(address from,address to,uint256 value,uint256 validAfter,uint256 validBefore,bytes32 nonce)';
const SAFE = (gas: string) =>
  `SafeTx(address to,uint256 value,bytes data,uint8 operation,uint256 safeTxGas,uint256 ${gas},uint256 gasPrice,address gasToken,address refundReceiver,uint256 nonce)`;
const TAKER_ORDER = 'address makerToken,address takerToken,uint128 makerAmount,uint128 takerAmount';

type Reader = (signed: Signed) => SignatureReading;

/** Kinds by their type. */
export const FAMILIES: Readonly<Record<string, Reader>> = {
  'Permit(address owner,address spender,uint256 value,uint256 nonce,uint256 deadline)': permit,
  'Permit(address holder,address spender,uint256 nonce,uint256 expiry,bool allowed)': daiPermit,
  'Permit(address spender,uint256 tokenId,uint256 nonce,uint256 deadline)': tokenPermit,
  [`TransferWithAuthorization${AUTHORIZED}`]: (signed) =>
    authorizedTransfer(signed, '0xe3ee160e', 'transfer-authorization'),
  [`ReceiveWithAuthorization${AUTHORIZED}`]: (signed) =>
    authorizedTransfer(signed, '0xef55bec6', 'receive-authorization'),
  [`PermitSingle(PermitDetails details,address spender,uint256 sigDeadline)${DETAILS}`]: permitSingle,
  [`PermitBatch(PermitDetails[] details,address spender,uint256 sigDeadline)${DETAILS}`]: permitBatch,
  [`PermitTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline)${PERMITTED}`]: (
    signed,
  ) => permitTransfer(signed, undefined),
  [`PermitBatchTransferFrom(TokenPermissions[] permitted,address spender,uint256 nonce,uint256 deadline)${PERMITTED}`]:
    (signed) => permitBatchTransfer(signed, true),
  [SAFE('baseGas')]: safeTransaction,
  [SAFE('dataGas')]: safeTransaction,
  'SafeMessage(bytes message)': () => ({
    family: 'safe-message',
    notExecuted: 'a message of a Safe is a signature for whoever asks the Safe',
    findings: [{ code: 'opaque-hash', severity: 'danger' }],
  }),
  [COMPONENTS + CONSIDERATION + OFFER]: seaportOrder,
  'Order(address sellToken,address buyToken,address receiver,uint256 sellAmount,uint256 buyAmount,uint32 validTo,bytes32 appData,uint256 feeAmount,string kind,bool partiallyFillable,string sellTokenBalance,string buyTokenBalance)':
    cowOrder,
  'Order(uint256 salt,address maker,address receiver,address makerAsset,address takerAsset,uint256 makingAmount,uint256 takingAmount,uint256 makerTraits)':
    oneInchOrder,
  [`LimitOrder(${TAKER_ORDER},uint128 takerTokenFeeAmount,address maker,address taker,address sender,address feeRecipient,bytes32 pool,uint64 expiry,uint256 salt)`]:
    zeroExOrder,
  [`RfqOrder(${TAKER_ORDER},address maker,address taker,address txOrigin,bytes32 pool,uint64 expiry,uint256 salt)`]:
    zeroExOrder,
  [`OtcOrder(${TAKER_ORDER},address maker,address taker,address txOrigin,uint256 expiryAndNonce)`]: zeroExOrder,
  'ExecuteSigned(bytes commands,bytes[] inputs,bytes32 intent,bytes32 data,address sender,bytes32 nonce,uint256 deadline)':
    universalRouter,
  'PackedUserOperation(address sender,uint256 nonce,bytes initCode,bytes callData,bytes32 accountGasLimits,uint256 preVerificationGas,bytes32 gasFees,bytes paymasterAndData)':
    userOperation,
  'Delegation(address delegatee,uint256 nonce,uint256 expiry)': ({ message }) => ({
    family: 'votes',
    deadline: number(message.expiry),
    spenders: [address(message.delegatee)],
    notExecuted: 'votes are delegated, and no asset',
  }),
  'Authorization(address owner,address manager,bool isAllowed,uint256 nonce,uint256 expiry)': (signed) =>
    manager(signed, 'compound', ['owner', 'manager', 'isAllowed', 'expiry']),
  'Authorization(address authorizer,address authorized,bool isAuthorized,uint256 nonce,uint256 deadline)': (signed) =>
    manager(signed, 'morpho', ['authorizer', 'authorized', 'isAuthorized', 'deadline']),
  'DelegationWithSig(address delegator,address delegatee,uint256 value,uint256 nonce,uint256 deadline)': debtDelegation,
  'Delegation(address delegate,address delegator,bytes32 authority,Caveat[] caveats,uint256 salt)Caveat(address enforcer,bytes terms)':
    ({ message, contract, account }) => ({
      family: 'metamask-delegation',
      owner: address(message.delegator),
      spenders: [address(message.delegate)],
      notExecuted: 'what the delegate does with the account is not known',
      findings: [
        granted(
          'manager',
          contract,
          account,
          address(message.delegate),
          list(message.caveats).length === 0 ? 'danger' : 'warning',
        ),
      ],
    }),
  'ForwardRequest(address from,address to,uint256 value,uint256 gas,uint256 nonce,uint48 deadline,bytes data)': ({
    message,
  }) => ({
    family: 'forward-request',
    owner: address(message.from),
    deadline: number(message.deadline),
    uses: async () => [
      { from: address(message.from), to: address(message.to), data: hex(message.data), value: number(message.value) },
    ],
  }),
};

const WITNESS = 'PermitWitnessTransferFrom(TokenPermissions permitted,address spender,uint256 nonce,uint256 deadline,';
const BATCH_WITNESS =
  'PermitBatchWitnessTransferFrom(TokenPermissions[] permitted,address spender,uint256 nonce,uint256 deadline,';

/** @returns undefined for a type that is not known */
export function readFamily(signed: Signed): SignatureReading | undefined {
  const { type } = signed;
  const known = Object.hasOwn(FAMILIES, type) ? FAMILIES[type] : undefined;
  if (known !== undefined) return known(signed);
  const witness = type.startsWith(WITNESS) ? witnessOf(type.slice(WITNESS.length)) : undefined;
  if (witness !== undefined) return permitTransfer(signed, witness);
  if (type.startsWith(BATCH_WITNESS) && witnessOf(type.slice(BATCH_WITNESS.length)) !== undefined)
    return { ...permitBatchTransfer(signed, false), family: 'permit2-witness' };
  if (BULK.test(type) && type.replace(BULK, '') === CONSIDERATION + OFFER + COMPONENTS) return bulkOrder(signed);
  return undefined;
}

const BULK = /^BulkOrder\(OrderComponents(?:\[2\])+ tree\)/;

/** What stands in a type after the members of Permit2. */
interface Witness {
  /** Type of the member. */
  readonly type: string;
  /** As Permit2 takes it from the spender. */
  readonly text: string;
  /** The member. Permit2 has one word for it. */
  readonly name: string;
  /** `encodeType` of it, with the types that it refers to; those of Permit2 are among them. */
  readonly types: string;
}

/** @returns undefined unless it is one member, and the types of Permit2 are its own */
function witnessOf(text: string): Witness | undefined {
  const { type, name, types } = /^(?<type>[^ ,()]+) (?<name>[\w$]+)\)(?<types>.*)$/.exec(text)?.groups ?? {};
  if (type === undefined || !text.includes(`)${PERMITTED}`)) return undefined;
  return { text, type, name: name!, types: types! };
}

const granted = (
  right: Extract<SignatureFinding, { readonly code: 'right-granted' }>['right'],
  token: Hex | undefined,
  owner: Hex,
  spender: Hex,
  severity: 'danger' | 'warning' = 'danger',
): SignatureFinding => ({ code: 'right-granted', severity, right, token: token ?? ZERO, owner, spender });

const NONCES: Hex = '0x7ecebe00';
const MOST = (1n << 256n) - 1n;

function permit({ message, contract }: Signed): SignatureReading {
  const [owner, spender] = [address(message.owner), address(message.spender)];
  const [value, deadline] = [number(message.value), number(message.deadline)];
  return {
    family: 'erc2612-permit',
    owner,
    spenders: [spender],
    deadline,
    ...(contract !== undefined && { allowances: [{ kind: 'erc20', token: contract, amount: value }] }),
    nonce: {
      told: number(message.nonce),
      kind: 'equal',
      ask: (state) => state.word('before', contract!, NONCES, owner),
    },
    uses: async () => [
      { from: spender, to: contract!, data: call('0xd505accf', owner, spender, value, deadline, ...PARTS) },
    ],
  };
}

function daiPermit({ message, contract }: Signed): SignatureReading {
  const [owner, spender] = [address(message.holder), address(message.spender)];
  const [nonce, expiry] = [number(message.nonce), number(message.expiry)];
  const allowed = message.allowed === true ? 1n : 0n;
  return {
    family: 'dai-permit',
    owner,
    spenders: [spender],
    deadline: expiry === 0n ? undefined : expiry,
    ...(contract !== undefined && {
      allowances: [{ kind: 'erc20', token: contract, amount: allowed === 1n ? MOST : 0n }],
    }),
    nonce: { told: nonce, kind: 'equal', ask: (state) => state.word('before', contract!, NONCES, owner) },
    uses: async () => [
      { from: spender, to: contract!, data: call('0x8fcbaf0c', owner, spender, nonce, expiry, allowed, ...PARTS) },
    ],
  };
}

/** ERC-4494: one token of a collection. */
function tokenPermit({ message, contract, account }: Signed): SignatureReading {
  const [spender, id, deadline] = [address(message.spender), number(message.tokenId), number(message.deadline)];
  return {
    family: 'erc4494-permit',
    spenders: [spender],
    deadline,
    // nonces(uint256)
    nonce: {
      told: number(message.nonce),
      kind: 'equal',
      ask: (state) => state.word('before', contract!, '0x141a468c', id),
    },
    findings: [granted('manager', contract, account, spender, 'warning')],
    uses: async () => [
      { from: spender, to: contract!, data: call('0x745a41bb', spender, id, deadline, { bytes: SIGNATURE }) },
    ],
  };
}

/** ERC-3009. */
function authorizedTransfer({ message, contract }: Signed, selector: Hex, family: string): SignatureReading {
  const [from, to, nonce] = [address(message.from), address(message.to), BigInt(hex(message.nonce))];
  const [value, after, before] = [number(message.value), number(message.validAfter), number(message.validBefore)];
  return {
    family,
    owner: from,
    spenders: [to],
    deadline: before,
    ...(contract !== undefined && { transfers: [{ token: contract, amount: value }] }),
    nonce: { told: nonce, kind: 'flag', ask: (state) => state.word('before', contract!, '0xe94a0102', from, nonce) },
    uses: async () => [
      { from: to, to: contract!, data: call(selector, from, to, value, after, before, nonce, ...PARTS) },
    ],
  };
}

const detailsOf = (one: Message): Word[] => [
  address(one.token),
  number(one.amount),
  number(one.expiration),
  number(one.nonce),
];

const allowanceOf = (one: Message) =>
  ({ kind: 'permit2', token: address(one.token), amount: number(one.amount) }) as const;

function permitSingle({ account, message, contract }: Signed): SignatureReading {
  const details = struct(message.details);
  const [spender, deadline] = [address(message.spender), number(message.sigDeadline)];
  return {
    family: 'permit2-single',
    spenders: [spender],
    deadline,
    allowances: [allowanceOf(details)],
    nonce: permit2Nonce(account, contract, details, spender),
    uses: async () => [
      {
        from: spender,
        to: contract!,
        data: call('0x2b67b570', account, [...detailsOf(details), spender, deadline], { bytes: SIGNATURE }),
      },
    ],
  };
}

/** The nonce of Permit2 for a token and a spender is the third word of the answer. */
function permit2Nonce(account: Hex, contract: Hex | undefined, { token, nonce }: Message, spender: Hex): Nonce {
  return {
    told: number(nonce),
    kind: 'equal',
    ask: async (state) => {
      const answer = await state.bytes('before', contract!, '0x927da105', account, address(token), spender);
      return answer === undefined || answer.length < 96 ? undefined : BigInt(bytesToHex(answer.subarray(64, 96)));
    },
  };
}

function permitBatch({ account, message, contract }: Signed): SignatureReading {
  const details = list(message.details);
  const [spender, deadline] = [address(message.spender), number(message.sigDeadline)];
  // Each further one of a token has the next nonce.
  const firsts = [...new Map([...details].reverse().map((one) => [address(one.token), one])).values()];
  return {
    family: 'permit2-batch',
    spenders: [spender],
    deadline,
    allowances: details.map(allowanceOf),
    nonce: firsts.map((one) => permit2Nonce(account, contract, one, spender)),
    uses: async () => [
      {
        from: spender,
        to: contract!,
        data: call(
          '0x2a2d80d1',
          account,
          { tuple: [{ items: details.map(detailsOf) }, spender, deadline] },
          { bytes: SIGNATURE },
        ),
      },
    ],
  };
}

/** What the account has of a token, and Permit2 may take of it. */
async function takeable(state: Probes, token: Hex, account: Hex, contract: Hex, amount: bigint): Promise<bigint> {
  const balance = (await state.word('before', token, SELECTOR.balanceOf, account)) ?? 0n;
  const allowance = (await state.word('before', token, SELECTOR.allowance, account, contract)) ?? 0n;
  return [balance, allowance].reduce((least, one) => (one < least ? one : least), amount);
}

const bitNonce = (account: Hex, contract: Hex | undefined, nonce: bigint): Nonce => ({
  told: nonce,
  kind: 'bit',
  ask: (state) => state.word('before', contract!, '0x4fe02b44', account, nonce >> 8n),
});

function permitTransfer({ account, message, contract, words: own }: Signed, witness?: Witness): SignatureReading {
  const permitted = struct(message.permitted);
  const [token, amount] = [address(permitted.token), number(permitted.amount)];
  const [spender, nonce, deadline] = [address(message.spender), number(message.nonce), number(message.deadline)];
  return {
    family: witness === undefined ? 'permit2-transfer' : 'permit2-witness',
    spenders: [spender],
    deadline,
    nonce: bitNonce(account, contract, nonce),
    transfers: [{ token, amount }],
    ...(witness !== undefined && { order: dutchOrder(witness, message, { token, amount }, account) }),
    uses: async (state) => {
      const taken = await takeable(state, token, account, contract!, amount);
      const words = [[token, amount, nonce, deadline], [spender, taken], account] as const;
      if (witness === undefined)
        return [{ from: spender, to: contract!, data: call('0x30f28b7a', ...words, { bytes: SIGNATURE }) }];
      const type = bytesToHex(new TextEncoder().encode(witness.text));
      const hash = own.get(witness.name)!;
      return [
        {
          from: spender,
          to: contract!,
          data: call('0x137c29fe', ...words, bytesToHex(hash), { bytes: type }, { bytes: SIGNATURE }),
        },
      ];
    },
  };
}

const ORDER_INFO =
  'OrderInfo(address reactor,address swapper,uint256 nonce,uint256 deadline,address additionalValidationContract,bytes additionalValidationData)';

/** Orders of UniswapX, by the types after those of Permit2: the member with the outputs, and that of its least amount. */
export const DUTCH_ORDERS: Readonly<Record<string, readonly [outputs: string, least: string]>> = {
  [`DutchOutput(address token,uint256 startAmount,uint256 endAmount,address recipient)${ORDER_INFO}${PERMITTED}V2DutchOrder(OrderInfo info,address cosigner,address baseInputToken,uint256 baseInputStartAmount,uint256 baseInputEndAmount,DutchOutput[] baseOutputs)`]:
    ['baseOutputs', 'endAmount'],
  [`NonlinearDutchDecay(uint256 relativeBlocks,int256[] relativeAmounts)${ORDER_INFO}${PERMITTED}V3DutchInput(address token,uint256 startAmount,NonlinearDutchDecay curve,uint256 maxAmount,uint256 adjustmentPerGweiBaseFee)V3DutchOrder(OrderInfo info,address cosigner,uint256 startingBaseFee,V3DutchInput baseInput,V3DutchOutput[] baseOutputs)V3DutchOutput(address token,uint256 startAmount,NonlinearDutchDecay curve,address recipient,uint256 minAmount,uint256 adjustmentPerGweiBaseFee)`]:
    ['baseOutputs', 'minAmount'],
  [`LimitOrder(OrderInfo info,address inputToken,uint256 inputAmount,OutputToken[] outputs)${ORDER_INFO}OutputToken(address token,uint256 amount,address recipient)${PERMITTED}`]:
    ['outputs', 'amount'],
};

/** What the outputs of an order are at least, for the account. @returns undefined for a witness that is no order of UniswapX */
function dutchOrder(
  { type, name, types }: Witness,
  message: Message,
  { token, amount }: { token: Hex; amount: bigint },
  account: Hex,
): SignatureReading['order'] {
  const [outputs, least] = (Object.hasOwn(DUTCH_ORDERS, types) && DUTCH_ORDERS[types]) || [];
  if (outputs === undefined || !types.includes(`${type}(`)) return undefined;
  const gets = list(struct(message[name])[outputs])
    .filter((one) => address(one.recipient) === account)
    .map((one) => ({ asset: tokenOrEther(address(one.token)), amount: number(one[least!]) }));
  return { gives: [{ asset: { kind: 'erc20', address: token }, amount }], gets };
}

const tokenOrEther = (token: Hex): Asset =>
  token === ZERO || token === '0xeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee'
    ? { kind: 'native' }
    : { kind: 'erc20', address: token };

function permitBatchTransfer({ account, message, contract }: Signed, isPlain: boolean): SignatureReading {
  const permitted = list(message.permitted).map((one) => ({ token: address(one.token), amount: number(one.amount) }));
  const [spender, nonce, deadline] = [address(message.spender), number(message.nonce), number(message.deadline)];
  return {
    family: 'permit2-batch-transfer',
    spenders: [spender],
    deadline,
    nonce: bitNonce(account, contract, nonce),
    transfers: permitted,
    ...(!isPlain && { notExecuted: 'a batch with a witness is not run' }),
    uses: async (state) => {
      if (!isPlain) return [];
      const details: Word[][] = [];
      for (const { token, amount } of permitted)
        details.push([spender, await takeable(state, token, account, contract!, amount)]);
      const lots = permitted.map(({ token, amount }) => [token, amount] as const);
      const args = [{ tuple: [{ items: lots }, nonce, deadline] }, { items: details }, account, { bytes: SIGNATURE }];
      return [{ from: spender, to: contract!, data: call('0xedd9444b', ...args) }];
    },
  };
}

/** MultiSend and MultiSendCallOnly of Safe 1.3.0 and 1.4.1. */
const MULTI_SEND: readonly Hex[] = [
  '0x38869bf66a61cf6bdb996a6ae40d5853fd43b526',
  '0x9641d764fc13c8b624c04430c7356c1c7c8102e2',
  '0xa238cbeb142c10ef7ad8442c6d1f9e89e07e7761',
  '0x40a2accbd92bca938b02010e17a5b8929b49130d',
];

function safeTransaction({ message, contract }: Signed): SignatureReading {
  const [to, value, data] = [address(message.to), number(message.value), hex(message.data)];
  const from = contract ?? ZERO;
  const isDelegate = number(message.operation) === 1n;
  const batch = isDelegate && MULTI_SEND.includes(to) ? batchOf(from, data) : undefined;
  const findings: SignatureFinding[] = [];
  if (isDelegate && batch === undefined)
    findings.push({ code: 'delegatecall', severity: 'danger', account: from, address: to });
  const price = number(message.gasPrice);
  const refund = {
    token: address(message.gasToken),
    amount: number(message.baseGas ?? message.dataGas) * price,
    receiver: address(message.refundReceiver),
  };
  return {
    family: 'safe-transaction',
    actsAs: from,
    refund: price > 0n ? refund : undefined,
    findings,
    nonce: { told: number(message.nonce), kind: 'equal', ask: (state) => state.word('before', from, '0xaffed0e0') },
    ...(isDelegate && batch === undefined
      ? { notExecuted: 'the Safe would run the code of another contract as its own' }
      : { uses: async () => batch ?? [{ from, to, data, value }] }),
  };
}

/** `multiSend(bytes)`, its list where encoders put it: the contract follows the offset, wherever that leads. */
const MULTI_SEND_DATA = `0x8d80ff0a${'20'.padStart(64, '0')}`;

/** The calls of a MultiSend; undefined where they cannot be read, or one is a DELEGATECALL. */
function batchOf(from: Hex, data: Hex): Use[] | undefined {
  if (!data.toLowerCase().startsWith(MULTI_SEND_DATA)) return undefined;
  const uses: Use[] = [];
  const bytes = data.slice(10 + 128);
  const length = 2 * Number(BigInt(`0x${data.slice(10 + 64, 10 + 128) || '0'}`));
  if (bytes.length < length || bytes.length > Math.ceil(length / 64) * 64) return undefined;
  for (let at = 0; at < length; ) {
    const size = 2 * Number(BigInt(`0x${bytes.slice(at + 106, at + 170) || '0'}`));
    if (bytes.slice(at, at + 2) !== '00' || at + 170 + size > length) return undefined;
    uses.push({
      from,
      to: `0x${bytes.slice(at + 2, at + 42)}`.toLowerCase() as Hex,
      value: BigInt(`0x${bytes.slice(at + 42, at + 106)}`),
      data: `0x${bytes.slice(at + 170, at + 170 + size)}`,
    });
    at += 170 + size;
  }
  return uses;
}

/** Of a Seaport item: its asset. Criteria stand for any id of the collection. */
function itemAsset(one: Message): Asset {
  const type = Number(number(one.itemType));
  const [token, id] = [address(one.token), toQuantity(number(one.identifierOrCriteria))];
  if (type === 0) return { kind: 'native' };
  if (type === 1) return { kind: 'erc20', address: token };
  return { kind: type === 2 || type === 4 ? 'erc721' : 'erc1155', address: token, id };
}

/** @param worse - of two amounts, that which is worse for the account */
const lotOf = (one: Message, worse: 'more' | 'less'): Lot => {
  const [start, end] = [number(one.startAmount), number(one.endAmount)];
  const isStart = worse === 'more' ? start > end : start < end;
  return { asset: itemAsset(one), amount: isStart ? start : end };
};

function seaportOrder(signed: Signed): SignatureReading {
  return seaportOf(signed.message, signed);
}

function seaportOf(message: Message, { account, contract }: Pick<Signed, 'account' | 'contract'>): SignatureReading {
  const offerer = address(message.offerer);
  const gets = list(message.consideration)
    .filter((one) => address(one.recipient) === account)
    .map((one) => lotOf(one, 'less'));
  return {
    family: 'seaport-order',
    owner: offerer,
    deadline: number(message.endTime),
    // getCounter(address)
    nonce: {
      told: number(message.counter),
      kind: 'equal',
      ask: (state) => state.word('before', contract!, '0xf07ec373', offerer),
    },
    order: { gives: list(message.offer).map((one) => lotOf(one, 'more')), gets },
    notExecuted: 'an order runs when somebody fills it',
  };
}

/** Orders of a tree. Those without an offer fill it up. */
const MAX_LEAVES = 64;

function bulkOrder(signed: Signed): SignatureReading {
  const leaves: Message[] = [];
  const open: unknown[] = [signed.message.tree];
  for (let one = open.pop(); one !== undefined; one = open.pop()) {
    if (Array.isArray(one)) for (const inner of one) open.push(inner);
    else if (leaves.length <= MAX_LEAVES && list(struct(one).offer).length > 0) leaves.push(struct(one));
  }
  const orders = leaves.slice(0, MAX_LEAVES).map((one) => seaportOf(one, signed).order!);
  const isCut = leaves.length > MAX_LEAVES;
  return {
    family: 'seaport-bulk',
    order: { gives: orders.flatMap(({ gives }) => gives), gets: orders.flatMap(({ gets }) => gets) },
    notExecuted: 'an order runs when somebody fills it',
    findings: [
      ...(isCut ? [{ code: 'opaque-hash', severity: 'danger' } as const] : []),
      // Each can be filled alone.
      ...orders
        .filter(({ gets }) => gets.every(({ amount }) => amount === 0n))
        .flatMap(({ gives }) => nothingFor(signed.account, gives)),
    ],
  };
}

/** Findings of an order that gives its maker nothing. */
export const nothingFor = (account: Hex, gives: readonly Lot[]): SignatureFinding[] =>
  gives.map(({ asset, amount }) => ({
    code: 'nothing-back',
    severity: 'danger',
    account,
    asset,
    amount: toQuantity(amount),
  }));

const isOwn = (receiver: Hex, account: Hex) => receiver === ZERO || receiver === account;

function cowOrder({ account, message }: Signed): SignatureReading {
  const fee = number(message.feeAmount);
  const receiver = address(message.receiver);
  const gets = { asset: tokenOrEther(address(message.buyToken)), amount: number(message.buyAmount) };
  return {
    family: 'cow-order',
    deadline: number(message.validTo),
    order: {
      gives: [{ asset: tokenOrEther(address(message.sellToken)), amount: number(message.sellAmount) + fee }],
      gets: isOwn(receiver, account) ? [gets] : [],
    },
    findings: isOwn(receiver, account) ? [] : [{ code: 'other-receiver', severity: 'danger', address: receiver }],
    notExecuted: 'an order runs when a solver fills it; its app data may name further calls',
  };
}

function oneInchOrder({ account, message }: Signed): SignatureReading {
  const traits = number(message.makerTraits);
  const receiver = address(message.receiver);
  const expiry = (traits >> 80n) & ((1n << 40n) - 1n);
  const hasExtension = ((traits >> 249n) & 1n) === 1n;
  const gets = { asset: tokenOrEther(address(message.takerAsset)), amount: number(message.takingAmount) };
  return {
    family: 'oneinch-order',
    owner: address(message.maker),
    deadline: expiry === 0n ? undefined : expiry,
    order: {
      gives: [{ asset: tokenOrEther(address(message.makerAsset)), amount: number(message.makingAmount) }],
      gets: isOwn(receiver, account) ? [gets] : [],
    },
    findings: [
      ...(isOwn(receiver, account) ? [] : [{ code: 'other-receiver', severity: 'danger', address: receiver } as const]),
      ...(hasExtension ? [{ code: 'price-unknown', severity: 'warning' } as const] : []),
    ],
    notExecuted: 'an order runs when somebody fills it',
  };
}

function zeroExOrder({ message }: Signed): SignatureReading {
  const expiry = message.expiry === undefined ? number(message.expiryAndNonce) >> 192n : number(message.expiry);
  return {
    family: 'zeroex-order',
    owner: address(message.maker),
    deadline: expiry,
    order: {
      gives: [{ asset: tokenOrEther(address(message.makerToken)), amount: number(message.makerAmount) }],
      gets: [{ asset: tokenOrEther(address(message.takerToken)), amount: number(message.takerAmount) }],
    },
    notExecuted: 'an order runs when somebody fills it',
  };
}

function universalRouter({ message }: Signed): SignatureReading {
  const findings: SignatureFinding[] = [];
  if (BigInt(hex(message.nonce)) === (1n << 256n) - 1n) findings.push({ code: 'replayable', severity: 'danger' });
  if (address(message.sender) === ZERO) findings.push({ code: 'used-by-anyone', severity: 'note' });
  return {
    family: 'universal-router',
    deadline: number(message.deadline),
    findings,
    notExecuted: 'the commands of a router are not decoded',
  };
}

const ENTRY_POINT: Hex = '0x4337084d9e255ff0702461cf8895ce9e3b5ff108';

function userOperation({ message, contract }: Signed): SignatureReading {
  const sender = address(message.sender);
  return {
    family: 'user-operation',
    actsAs: sender,
    uses: async () => [{ from: contract ?? ENTRY_POINT, to: sender, data: hex(message.callData) }],
  };
}

function manager(
  { message, contract }: Signed,
  family: string,
  names: readonly [string, string, string, string],
): SignatureReading {
  const [owner, spender, allowed] = [
    address(message[names[0]]),
    address(message[names[1]]),
    message[names[2]] === true,
  ];
  return {
    family: `${family}-authorization`,
    owner,
    spenders: [spender],
    deadline: number(message[names[3]]),
    findings: allowed ? [granted('manager', contract, owner, spender)] : [],
    notExecuted: 'the contract checks the signature in a way of its own',
  };
}

function debtDelegation({ message, contract }: Signed): SignatureReading {
  const [owner, spender] = [address(message.delegator), address(message.delegatee)];
  const [value, deadline] = [number(message.value), number(message.deadline)];
  return {
    family: 'aave-delegation',
    owner,
    spenders: [spender],
    deadline,
    findings: value > 0n ? [granted('debt', contract, owner, spender)] : [],
    nonce: {
      told: number(message.nonce),
      kind: 'equal',
      ask: (state) => state.word('before', contract!, NONCES, owner),
    },
    // delegationWithSig(address,address,uint256,uint256,uint8,bytes32,bytes32)
    uses: async () => [
      { from: spender, to: contract!, data: call('0x0b52d558', owner, spender, value, deadline, ...PARTS) },
    ],
  };
}
