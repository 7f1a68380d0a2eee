import { keccak_256 } from '@noble/hashes/sha3.js';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { SignatureFinding, SignatureOptions, SignatureToPreview } from '../../src/index.js';
import { DUTCH_ORDERS, FAMILIES } from '../../src/preview/signature-families.js';
import { bytesToHex, type Hex } from '../../src/primitives/hex.js';
import { type Contracts, contracts } from '../support/contracts.js';
import { accountAt, type DevNode, devNode, stranger, word } from '../support/dev-node.js';
import {
  DOMAINS,
  members,
  orderComponents,
  PERMIT2,
  SAFE,
  TOKEN,
  TYPES,
  type TypedData,
  typed,
} from '../support/signatures.js';

const [account, attacker] = [accountAt(0), accountAt(1)];
const DAPP = stranger('da');
const SWEEPER = stranger('5e');
const NFT = stranger('f7');
const MOST = (1n << 256n) - 1n;
const MOST_160 = (1n << 160n) - 1n;
const FAR = 4_000_000_000n;
const HELD = 1_000n * 10n ** 18n;

let compiled: Contracts;
beforeAll(async () => {
  compiled = await contracts();
});

let dev: DevNode;
beforeEach(async () => {
  dev = await devNode();
  const { ask } = dev;
  const place = async (address: Hex, name: string) => ask('anvil_setCode', address, compiled[name]!.runtimeCode);
  await place(TOKEN, 'SignedToken');
  await place(PERMIT2, 'Permits');
  await place(SAFE, 'SafeLike');
  for (const address of [DAPP, SWEEPER, NFT, DOMAINS.seaport.verifyingContract])
    await ask('anvil_setCode', address, '0x00');
  const send = (data: string, to = TOKEN) => ask('eth_sendTransaction', { from: account, to, data });
  await send(`0x40c10f19${word(BigInt(account)).slice(2)}${word(HELD).slice(2)}`);
  // The supply is larger than what the account has.
  await send(`0x40c10f19${word(BigInt(accountAt(5))).slice(2)}${word(10n * HELD).slice(2)}`);
  // As a wallet that has used Permit2 before.
  await send(`0x095ea7b3${word(BigInt(PERMIT2)).slice(2)}${word(MOST).slice(2)}`);
});

const preview = (request: SignatureToPreview, options: Partial<SignatureOptions> = {}) =>
  dev.node.previewSignature(request, { account, ...options });
const previewTyped = (data: TypedData, options?: Partial<SignatureOptions>) =>
  preview({ typedData: data as never }, options);

const permit = (fields: object = {}) =>
  typed('permit', DOMAINS.token, { owner: account, spender: DAPP, value: MOST, nonce: 0n, deadline: FAR, ...fields });
const single = (amount: bigint, spender: Hex = DAPP, fields: object = {}) =>
  typed('permitSingle', DOMAINS.permit2, {
    details: { token: TOKEN, amount, expiration: FAR, nonce: 0n, ...fields },
    spender,
    sigDeadline: FAR,
  });
const transferFrom = (amount: bigint, spender: Hex = DAPP) =>
  typed('permitTransfer', DOMAINS.permit2, { permitted: { token: TOKEN, amount }, spender, nonce: 7n, deadline: FAR });
const listing = (consideration: object[], offer: object[] = [{ itemType: 2, token: NFT, id: 7n, amount: 1n }]) =>
  orderComponents(account, offer, consideration);
const toMe = (amount: bigint) => ({ itemType: 0, token: stranger('00'), id: 0n, amount, recipient: account });

const ZERO_HASH = `0x${'ab'.repeat(32)}` as const;
const approveAll = (token: Hex): { to: Hex; data: Hex } => ({
  to: token,
  data: `0x095ea7b3${word(BigInt(attacker)).slice(2)}${word(MOST).slice(2)}`,
});
const safeTx = (fields: object) =>
  typed('safeTx', DOMAINS.safe, {
    to: attacker,
    value: 0n,
    data: '0x',
    operation: 0,
    safeTxGas: 0n,
    baseGas: 0n,
    gasPrice: 0n,
    gasToken: stranger('00'),
    refundReceiver: stranger('00'),
    nonce: 0n,
    ...fields,
  });
const signIn = (domain: string) =>
  bytesToHex(
    new TextEncoder().encode(
      `${domain} wants you to sign in with your Ethereum account:\n${account}\n\nWelcome.\n\nURI: https://${domain}/login\nVersion: 1\nChain ID: 59139\nNonce: 12345678\nIssued At: 2026-01-01T00:00:00Z`,
    ),
  );

interface Shape {
  readonly request: () => SignatureToPreview;
  readonly options?: Partial<SignatureOptions>;
  readonly severity: SignatureFinding['severity'];
  /** One of its findings of that severity. */
  readonly code: SignatureFinding['code'];
}
const data = (make: () => TypedData) => () => ({ typedData: make() as never }) satisfies SignatureToPreview;
const authorization = (address: Hex, chainId: Hex, nonce: Hex = '0x3') =>
  ({ authorization: { address, chainId, nonce } }) satisfies SignatureToPreview;

/** docs/spec/signatures.md 5. The account has sent three transactions. */
const SHAPES: Record<string, Shape> = {
  '1 eth_sign of the hash of a transaction': {
    request: () => ({ hash: ZERO_HASH }),
    severity: 'danger',
    code: 'opaque-hash',
  },
  '2 ERC-2612 permit, maximal, far deadline': {
    request: data(() => permit()),
    severity: 'danger',
    code: 'unlimited-approval',
  },
  '3 verifyingContract as a decimal number': {
    request: data(() => ({ ...permit(), domain: { ...DOMAINS.token, verifyingContract: BigInt(TOKEN).toString() } })),
    severity: 'danger',
    code: 'malformed',
  },
  '4 Permit2 single, maximal': {
    request: data(() => single(MOST_160)),
    severity: 'danger',
    code: 'unlimited-approval',
  },
  '5 Permit2 batch over all tokens': {
    request: data(() =>
      typed('permitBatch', DOMAINS.permit2, {
        details: [{ token: TOKEN, amount: MOST_160, expiration: FAR, nonce: 0n }],
        spender: DAPP,
        sigDeadline: FAR,
      }),
    ),
    severity: 'danger',
    code: 'unlimited-approval',
  },
  '6 Permit2 by an old allowance': { request: data(() => transferFrom(HELD)), severity: 'danger', code: 'loses-all' },
  '7 a spender without code': {
    request: data(() => permit({ spender: stranger('77'), value: 5n })),
    severity: 'danger',
    code: 'spender-without-code',
  },
  '8 Seaport: nothing to the signer': { request: data(() => listing([])), severity: 'danger', code: 'nothing-back' },
  '9 Seaport: an ERC-20 is offered': {
    request: data(() => listing([], [{ itemType: 1, token: TOKEN, id: 0n, amount: HELD }])),
    severity: 'danger',
    code: 'nothing-back',
  },
  '10 Seaport: what comes back goes to the attacker': {
    request: data(() => listing([{ ...toMe(10n ** 18n), recipient: attacker }])),
    severity: 'danger',
    code: 'nothing-back',
  },
  '11 private listing at 0 ETH': {
    request: data(() => listing([toMe(0n), { itemType: 2, token: NFT, id: 7n, amount: 1n, recipient: attacker }])),
    severity: 'danger',
    code: 'nothing-back',
  },
  '12 relist: all items, to a contract of the attacker': {
    request: data(() =>
      listing(
        [{ ...toMe(1n), recipient: attacker }],
        [1n, 2n, 3n].map((id) => ({ itemType: 2, token: NFT, id, amount: 1n })),
      ),
    ),
    severity: 'danger',
    code: 'nothing-back',
  },
  '13 a root that is signed blind': {
    request: data(() => ({
      types: { EIP712Domain: TYPES.domain, Root: [{ name: 'root', type: 'bytes32' }] },
      primaryType: 'Root',
      domain: DOMAINS.token,
      message: { root: ZERO_HASH },
    })),
    severity: 'danger',
    code: 'opaque-hash',
  },
  '14 the hash of an order by personal_sign': {
    request: () => ({ message: ZERO_HASH }),
    severity: 'danger',
    code: 'opaque-hash',
  },
  '15 EIP-7702 to a sweeper': {
    request: () => authorization(SWEEPER, '0xe703'),
    severity: 'danger',
    code: 'delegated',
  },
  '16 EIP-7702 for every chain': {
    request: () => authorization(SWEEPER, '0x0'),
    severity: 'danger',
    code: 'delegated',
  },
  '17 many approvals in one batch': {
    request: () => ({ calls: [approveAll(TOKEN), { to: DAPP, value: '0x1' }], atomicRequired: true }),
    severity: 'danger',
    code: 'unlimited-approval',
  },
  '18 a Safe runs foreign code': {
    request: data(() => safeTx({ to: SWEEPER, operation: 1, data: approveAll(TOKEN).data })),
    severity: 'danger',
    code: 'delegatecall',
  },
  '19 sign-in for the domain of another site': {
    request: () => ({ message: signIn('bank.example') }),
    options: { origin: 'https://evil.example' },
    severity: 'danger',
    code: 'origin-differs',
  },
  '20 typed data of another chain': {
    request: data(() => typed('permit', { ...DOMAINS.token, chainId: 1 }, permit().message)),
    severity: 'danger',
    code: 'other-chain',
  },
  '21 members that no type declares': {
    request: data(() => ({ ...permit({ value: 5n }), message: { ...permit({ value: 5n }).message, free: 'money' } })),
    severity: 'warning',
    code: 'undeclared-member',
  },
  '22 a nonce that is still to come': {
    request: data(() => permit({ nonce: 9n })),
    severity: 'danger',
    code: 'future-nonce',
  },
};

describe('the shapes of phishing', () => {
  test.each(Object.entries(SHAPES))('%s', async (_, { request, options, severity, code }) => {
    const { findings } = await preview(request(), options);
    expect(findings.map((one) => [one.severity, one.code])).toContainEqual([severity, code]);
    if (severity === 'warning') expect(findings.map((one) => one.severity)).not.toContain('danger');
  });

  test('and a nonce to come of an authorization, and of a Safe', async () => {
    const codes = async (request: SignatureToPreview) => (await preview(request)).findings.map(({ code }) => code);
    expect(await codes(authorization(SWEEPER, '0xe703', '0x9'))).toContain('future-nonce');
    expect(await codes(data(() => safeTx({ nonce: 4n }))())).toContain('future-nonce');
  });
});

describe('what is shown is what is signed, and what runs', () => {
  const bytes = (digits: string) =>
    word(BigInt(digits.length / 2)).slice(2) + digits.padEnd(Math.ceil(digits.length / 64) * 64, '0');
  const packed = (to: Hex, callData: Hex) =>
    `00${to.slice(2)}${word(0n).slice(2)}${word(BigInt(callData.length / 2 - 1)).slice(2)}${callData.slice(2)}`;
  const MULTI_SEND: Hex = '0x38869bf66a61cf6bdb996a6ae40d5853fd43b526';
  const multiSend = (digits: string) => safeTx({ to: MULTI_SEND, operation: 1, data: `0x8d80ff0a${digits}` });
  const codesOf = async (given: TypedData, severity?: SignatureFinding['severity']) =>
    (await previewTyped(given)).findings
      .filter((one) => severity === undefined || one.severity === severity)
      .map(({ code }) => code);

  test('a MultiSend whose list stands elsewhere than the first one is foreign code', async () => {
    const evil = bytes(packed(TOKEN, approveAll(TOKEN).data));
    const decoy = bytes(packed(stranger('11'), '0x'));
    const offset = (value: number) => word(BigInt(value)).slice(2);
    expect(await codesOf(multiSend(offset(32) + evil), 'danger')).toEqual(['unlimited-approval']);
    expect(await codesOf(multiSend(offset(32 + decoy.length / 2) + decoy + evil), 'danger')).toEqual(['delegatecall']);
    expect(await codesOf(multiSend(offset(32) + decoy + evil), 'danger')).toEqual(['delegatecall']);
  });

  test('a refund in a token that takes a tenth of what the Safe has, or more, is a danger', async () => {
    await dev.ask('eth_sendTransaction', {
      ...{ from: account, to: TOKEN },
      data: `0x40c10f19${word(BigInt(SAFE)).slice(2)}${word(1_000_000n).slice(2)}`,
    });
    const refund = async (fields: object) =>
      (await previewTyped(safeTx({ to: stranger('11'), refundReceiver: attacker, ...fields }))).findings.filter(
        ({ code }) => code === 'pays-refund',
      );
    const paid = { code: 'pays-refund', address: attacker };
    const [few, most] = [1n, 100n].map((gasPrice) => ({ baseGas: 1_000n, gasPrice, gasToken: TOKEN }));
    expect(await refund(most!)).toEqual([{ ...paid, severity: 'danger', token: TOKEN, amount: '0x186a0' }]);
    expect(await refund(few!)).toEqual([{ ...paid, severity: 'warning', token: TOKEN, amount: '0x3e8' }]);
    expect(await refund({ baseGas: 1_000n, gasPrice: 1n })).toMatchObject([{ severity: 'warning', amount: '0x3e8' }]);
    expect(await refund({})).toEqual([]);
  });

  const PERMITTED = members('address token,uint256 amount');
  /** A transfer by Permit2 with a witness, of types and a message of one's own. */
  const withWitness = (
    member: string,
    types: Record<string, string>,
    own: object,
    amount = HELD,
    isBatch = false,
  ): TypedData => ({
    types: {
      EIP712Domain: TYPES.domain.filter(({ name }) => name !== 'version'),
      [isBatch ? 'PermitBatchWitnessTransferFrom' : 'PermitWitnessTransferFrom']: members(
        `TokenPermissions${isBatch ? '[]' : ''} permitted,address spender,uint256 nonce,uint256 deadline,${member}`,
      ),
      TokenPermissions: PERMITTED,
      ...Object.fromEntries(Object.entries(types).map(([name, text]) => [name, members(text)])),
    },
    primaryType: isBatch ? 'PermitBatchWitnessTransferFrom' : 'PermitWitnessTransferFrom',
    domain: DOMAINS.permit2,
    message: {
      permitted: isBatch ? [{ token: TOKEN, amount: String(amount) }] : { token: TOKEN, amount: String(amount) },
      ...{ spender: DAPP, nonce: '7', deadline: String(FAR), ...own },
    },
  });
  const bait = { outputs: [{ token: stranger('00'), amount: '1000', endAmount: '1000', recipient: account }] };

  test('a witness of any name is run, and one that is not signed brings nothing', async () => {
    const note = { note: { number: '1' } };
    for (const more of [{}, { witness: bait }]) {
      const { findings, order, effects } = await previewTyped(
        withWitness('Note note', { Note: 'uint256 number' }, { ...note, ...more }),
      );
      expect(order).toBeNull();
      expect(effects?.calls).toMatchObject([{ status: 'success', transfers: [{ asset: { address: TOKEN } }] }]);
      expect(findings).toContainEqual(expect.objectContaining({ code: 'transfer-allowed', severity: 'danger' }));
    }
    const word32 = withWitness('bytes32 note', {}, { note: ZERO_HASH });
    expect((await previewTyped(word32)).effects?.calls).toMatchObject([{ status: 'success' }]);
  });

  test('a witness that is no order which is known brings nothing, whatever it has', async () => {
    const fake = { Fake: 'Out[] outputs', Out: 'address token,uint256 amount,address recipient' };
    const outputs = [{ token: stranger('00'), amount: '1000', recipient: account }];
    const given = withWitness('Fake witness', fake, { witness: { outputs } }, HELD);
    expect(await previewTyped(given)).toMatchObject({ family: 'permit2-witness', order: null });
    expect(await codesOf(given, 'danger')).toContain('transfer-allowed');
    const text = { ...fake, Out: 'address token,string amount,address recipient' };
    const lots = { witness: { outputs: [{ token: stranger('00'), amount: 'lots', recipient: account }] } };
    expect(await previewTyped(withWitness('Fake witness', text, lots))).toMatchObject({ order: null });
  });

  const INFO =
    'address reactor,address swapper,uint256 nonce,uint256 deadline,address additionalValidationContract,bytes additionalValidationData';
  /** @source Uniswap/UniswapX; the hash of the type is in docs/spec/signatures.md 3 */
  const V2 = {
    V2DutchOrder:
      'OrderInfo info,address cosigner,address baseInputToken,uint256 baseInputStartAmount,uint256 baseInputEndAmount,DutchOutput[] baseOutputs',
    OrderInfo: INFO,
    DutchOutput: 'address token,uint256 startAmount,uint256 endAmount,address recipient',
  };
  const v2 = (recipient: Hex, more: object = {}) =>
    withWitness('V2DutchOrder witness', V2, {
      witness: {
        info: {
          ...{ reactor: DAPP, swapper: account, nonce: '7', deadline: String(FAR) },
          ...{ additionalValidationContract: stranger('00'), additionalValidationData: '0x' },
        },
        ...{ cosigner: stranger('c0'), baseInputToken: TOKEN },
        ...{ baseInputStartAmount: String(HELD), baseInputEndAmount: String(HELD) },
        baseOutputs: [{ token: stranger('00'), startAmount: '1200', endAmount: '1000', recipient }],
        ...more,
      },
    });

  test('an order of UniswapX gives what its signed outputs give the account, and nothing else', async () => {
    expect((await previewTyped(v2(account))).order?.gets).toEqual([{ asset: { kind: 'native' }, amount: '0x3e8' }]);
    const other = await previewTyped(v2(attacker, bait));
    expect(other.order?.gets).toEqual([]);
    expect(other.findings.filter(({ severity }) => severity === 'danger').map(({ code }) => code)).toContain(
      'nothing-back',
    );
  });

  test('a batch with a witness, which is not run, says what may be transferred', async () => {
    const given = withWitness('Note witness', { Note: 'uint256 number' }, { witness: { number: '1' } }, MOST, true);
    expect(await previewTyped(given)).toMatchObject({ effects: null, evidence: { notExecuted: expect.any(String) } });
    expect(await codesOf(given, 'danger')).toContain('transfer-allowed');
  });

  const batch = (details: readonly object[]) =>
    typed('permitBatch', DOMAINS.permit2, { details, spender: DAPP, sigDeadline: FAR });

  test('a use that is refused now, or needs more gas than a transaction has, says what the message allows', async () => {
    const token = { token: TOKEN, amount: MOST_160, expiration: FAR, nonce: 0n };
    const second = { ...token, token: stranger('ee'), nonce: 1n };
    expect(await codesOf(batch([token, second]), 'danger')).toEqual(
      expect.arrayContaining(['unlimited-approval', 'future-nonce']),
    );
    const others = Array.from({ length: 700 }, (_, i) => ({
      ...token,
      token: `0x${(0xabc0000n + BigInt(i)).toString(16).padStart(40, '0')}`,
      amount: 1n,
    }));
    const { findings, evidence } = await previewTyped(batch([token, ...others]));
    expect(findings).toContainEqual(
      expect.objectContaining({ code: 'unlimited-approval', severity: 'danger', token: TOKEN, spender: DAPP }),
    );
    expect(evidence.notExecuted).toContain('more gas than a transaction may have');
  });

  test('a slot of the account that a library writes is found, as in a preview of the call', async () => {
    const { ask } = dev;
    // DELEGATECALL of the rest of the data, to a library whose code writes slot 1.
    const [library, wallet] = [stranger('1b'), stranger('a1')];
    await ask('anvil_setCode', library, '0x600160015500');
    await ask('anvil_setCode', wallet, `0x5f5f60205f73${library.slice(2)}5af400`);
    await ask('anvil_setCode', account, `0xef0100${wallet.slice(2)}`);
    const call = { to: account, data: '0x12345678' } as const;
    const written = { code: 'delegate-write', severity: 'danger', account, slot: '0x1', target: library };
    expect((await dev.node.previewTransaction({ from: account, ...call })).warnings).toContainEqual(written);
    expect((await preview({ calls: [call] })).findings).toContainEqual(written);
  });

  test('a message that contains itself ends, as does one with very many members that no type declares', async () => {
    const self: Record<string, unknown> = { x: '1' };
    self.self = self;
    const types = { EIP712Domain: [], T: [{ name: 'x', type: 'uint256' }] };
    const given = (message: object) => ({ types, primaryType: 'T', domain: {}, message });
    expect((await previewTyped(given(self))).findings).toContainEqual({
      ...{ code: 'undeclared-member', severity: 'warning', at: 'message.self' },
    });
    const undeclared = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`z${i}`, 0]));
    const many = (await previewTyped(given({ x: 1, ...undeclared(1_000) }))).findings;
    expect(many.filter(({ code }) => code === 'undeclared-member')).toHaveLength(101);
    expect((await previewTyped(given({ x: 1, ...undeclared(30_000) }))).findings).toMatchObject([
      { code: 'malformed' },
    ]);
  });
});

describe('ordinary signatures have no danger', () => {
  const ORDINARY: Record<string, () => SignatureToPreview> = {
    'an exact permit': data(() => permit({ value: 5n * 10n ** 18n, deadline: FAR })),
    'a permit that takes an approval back': data(() => permit({ value: 0n })),
    'a Permit2 approval of a part': data(() => single(5n)),
    'a Permit2 transfer of a part': data(() => transferFrom(5n)),
    'a fair listing': data(() => listing([toMe(10n ** 18n)])),
    'a payment by authorization': data(() =>
      typed('transfer', DOMAINS.token, {
        from: account,
        to: stranger('77'),
        value: 5n,
        validAfter: 0n,
        validBefore: FAR,
        nonce: ZERO_HASH,
      }),
    ),
    'a listing of two tokens, for a token and ether': data(() =>
      listing(
        [toMe(1n), { ...toMe(7n), itemType: 1, token: TOKEN }],
        [1n, 2n].map((id) => ({ itemType: 2, token: NFT, id, amount: 1n })),
      ),
    ),
    'a listing with a fee for the market': data(() => listing([toMe(100n), { ...toMe(3n), recipient: attacker }])),
    'an offer of tokens for an item': data(() =>
      listing(
        [{ itemType: 2, token: NFT, id: 7n, amount: 1n, recipient: account }],
        [{ itemType: 1, token: TOKEN, id: 0n, amount: 5n }],
      ),
    ),
    'a permit whose nonce is used': data(() => permit({ value: 5n, nonce: 0n, deadline: 1n })),
    'an approval for this block alone': data(() => single(5n, DAPP, { expiration: 0n })),
    'a batch of an exact approval and a call': () => ({
      calls: [
        { to: TOKEN, data: `0x095ea7b3${word(BigInt(DAPP)).slice(2)}${word(5n).slice(2)}` },
        { to: DAPP, data: '0x12345678' },
      ],
    }),
    'a call of a contract': () => ({ calls: [{ to: DAPP, data: '0x12345678' }], atomicRequired: true }),
    'a Safe that approves a part': data(() =>
      safeTx({ to: TOKEN, data: `0x095ea7b3${word(BigInt(DAPP)).slice(2)}${word(5n).slice(2)}` }),
    ),
    'a payment from a Safe': data(() => safeTx({ value: 0n })),
    'a message of bytes': () => ({ message: '0x00ff' }),
    'a long text': () => ({ message: bytesToHex(new TextEncoder().encode('I accept the terms.\n'.repeat(50))) }),
    'a delegation that is taken back': () => authorization(stranger('00'), '0xe703'),
    'a text': () => ({ message: bytesToHex(new TextEncoder().encode('Hello, Linea!\n')) }),
  };
  test.each(Object.entries(ORDINARY))('%s', async (_, request) => {
    const { findings } = await preview(request());
    expect(findings.filter(({ severity }) => severity === 'danger')).toEqual([]);
  });

  test('a sign-in at its own domain', async () => {
    expect((await preview({ message: signIn('bank.example') }, { origin: 'https://BANK.example' })).findings).toEqual(
      [],
    );
  });
});

describe('the preview of a signature', () => {
  test('says that the signature was supposed, and on which state', async () => {
    const { digest, evidence, family, trust } = await previewTyped(permit());
    expect(family).toBe('erc2612-permit');
    expect(evidence.supposed).toEqual({ precompile: 1, digest, signer: account });
    expect(trust).toMatchObject({ level: 'held', block: { number: 3 } });
  });

  test('supposes nothing but this very signature', async () => {
    // The owner of the message is another account, for which nothing was supposed.
    const { effects, findings, evidence } = await previewTyped(permit({ owner: attacker }));
    expect(findings).toContainEqual({ code: 'other-signer', severity: 'warning', address: attacker });
    expect(effects!.calls[0]!.status).toBe('reverted');
    expect(effects!.calls[0]!.approvals).toEqual([]);
    expect(evidence.notExecuted).toBe('the contract refuses it now');
  });

  test('finds a domain that is not that of the contract', async () => {
    const { findings } = await previewTyped(typed('permit', { ...DOMAINS.token, name: 'Sined' }, permit().message));
    expect(findings).toContainEqual(
      expect.objectContaining({ code: 'domain-differs', severity: 'danger', address: TOKEN }),
    );
  });

  test('is a method of JSON-RPC, too', async () => {
    const request = { hash: ZERO_HASH };
    const answer = await dev.ask('plumbline_previewSignature', request, { account });
    expect(answer).toEqual(await preview(request));
    expect(answer).toMatchObject({ account, digest: ZERO_HASH, family: 'hash', effects: null, seen: [] });
  });

  test('reads a domain of other types', async () => {
    const named = (type: string, value: unknown, name = 'chainId') => ({
      ...permit(),
      types: { ...permit().types, EIP712Domain: [{ name, type }] },
      domain: { [name]: value },
    });
    const codes = async (of: TypedData) => (await previewTyped(of)).findings.map(({ code }) => code);
    expect(await codes(named('string', 'main'))).toContain('other-chain');
    expect(await codes(named('string', 'cosmos', 'verifyingContract'))).toContain('no-contract');
    expect(await codes(named('bytes32', ZERO_HASH, 'verifyingContract'))).toContain('no-contract');
    expect(await codes(named('uint256', '0xe703'))).not.toContain('other-chain');
  });

  test('warns of a spender whose address looks like one that the caller knows', async () => {
    const alike: Hex = `0xdada${'00'.repeat(16)}dada`;
    const found = async (addresses: Hex[]) =>
      (await previewTyped(permit(), { known: { addresses } })).findings.filter(({ code }) => code === 'look-alike');
    expect(await found([alike])).toEqual([{ code: 'look-alike', severity: 'warning', address: DAPP, with: alike }]);
    expect(await found([alike, DAPP])).toEqual([]);
  });

  test('refuses what is no request', async () => {
    for (const [request, options] of [
      [{}, { account }],
      [{ message: '0x', hash: ZERO_HASH }, { account }],
      [{ hash: '0x12' }, { account }],
      [{ calls: [] }, { account }],
      [{ message: '0x' }, {}],
      [{ message: '0x' }, { account, other: 1 }],
    ] as [SignatureToPreview, SignatureOptions][])
      await expect(dev.node.previewSignature(request, options), JSON.stringify(request)).rejects.toMatchObject({
        code: -32602,
      });
  });
});

/** The first four and the last two bytes of type hashes, by docs/spec/signatures.md 3 to 5. */
const TYPE_HASHES: readonly (readonly [start: string, hash: string])[] = [
  ['Permit(address owner', '0x6e71edae…26c9'],
  ['Permit(address holder', '0xea2aa0a1…1acb'],
  ['Permit(address spender', '0x49ecf333…f9ad'],
  ['TransferWithAuthorization', '0x7c7c6cdb…2267'],
  ['ReceiveWithAuthorization', '0xd099cc98…3de8'],
  ['PermitSingle', '0xf3841cd1…f3d0'],
  ['PermitBatch(', '0xaf1b0d30…0863'],
  ['PermitTransferFrom', '0x939c21a4…0106'],
  ['PermitBatchTransferFrom', '0xfcf35f5a…b766'],
  ['OrderComponents', '0xfa445660…2c2f'],
  ['LimitOrder', '0xce918627…9d49'],
  ['RfqOrder', '0xe593d3fd…7da9'],
  ['OtcOrder', '0x2f754524…35c8'],
  ['Order(uint256 salt', '0x3af21ec5…7e4c'],
  ['Order(address sellToken', '0xd5a25ba2…e489'],
  ['ExecuteSigned', '0x4b503a2e…407c'],
  ['SafeTx(address to,uint256 value,bytes data,uint8 operation,uint256 safeTxGas,uint256 baseGas', '0xbb8310d4…86d8'],
  ['SafeTx(address to,uint256 value,bytes data,uint8 operation,uint256 safeTxGas,uint256 dataGas', '0x14d461bc…7b20'],
  ['SafeMessage', '0x60b3cbf8…fbca'],
  ['PackedUserOperation', '0x29a0bca4…6f8e'],
  ['Delegation(address delegatee', '0xe4832905…5adf'],
  ['Authorization(address owner', '0xab8e80ca…33ed'],
  ['DelegationWithSig', '0x3f8f1584…1c9c'],
  ['Authorization(address authorizer', '0x81d0284f…ac91'],
  ['Delegation(address delegate,', '0x88c1d2ec…331e'],
  ['ForwardRequest', '0x7f96328b…7cac'],
];

/** The types of Uniswap/UniswapX. The specification of the project has a278 at the end of the first; its other digits agree. */
test.each([
  ['V2DutchOrder', '0x329eaec6…a378'],
  ['V3DutchOrder', '0x186c8af0…d1b7'],
  ['LimitOrder', '0xa7d1cc35…c678'],
])('an order of UniswapX is recognised by the type %s', (name, hash) => {
  const [types, ...others] = Object.keys(DUTCH_ORDERS).filter((one) => one.includes(`${name}(`));
  expect(others).toEqual([]);
  const structs = types!.match(/[^)]+\)/g)!.filter((one) => !one.startsWith('TokenPermissions('));
  const [own, rest] = [true, false].map((isOwn) => structs.filter((one) => one.startsWith(`${name}(`) === isOwn));
  const found = bytesToHex(keccak_256(new TextEncoder().encode([...own!, ...rest!].join(''))));
  expect(`${found.slice(0, 10)}…${found.slice(-4)}`).toBe(hash);
});

test('each kind is recognised by the type of its specification', () => {
  const types = Object.keys(FAMILIES);
  expect(types).toHaveLength(TYPE_HASHES.length);
  for (const [start, hash] of TYPE_HASHES) {
    const [type, ...others] = types.filter((one) => one.startsWith(start));
    expect(others, start).toEqual([]);
    const found = bytesToHex(keccak_256(new TextEncoder().encode(type)));
    expect(`${found.slice(0, 10)}…${found.slice(-4)}`, type).toBe(hash);
  }
});
