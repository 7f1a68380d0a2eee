import { isPlumblineError } from '../errors.js';
import { hashPersonalMessage, readTypedData } from '../ethereum/typed-data.js';
import type { BlockContext } from '../evm/block-context.js';
import { type SimulationRules, transactionMessageOf } from '../evm/call.js';
import type { RunBudget } from '../evm/run-budget.js';
import type { SpeculativeRun } from '../evm/simulation.js';
import { hasCode, ReadCache, type StateReader } from '../evm/state-reader.js';
import { keccak256 } from '../kernel/keccak.js';
import type { Network } from '../networks/network.js';
import { concatBytes, isZeroBytes } from '../primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../primitives/hex.js';
import { toQuantity } from '../primitives/quantity.js';
import { allowanceSize } from './approvals.js';
import { hasOtherCode } from './contracts.js';
import type { Asset, KnownNames, PreviewedChanges, PreviewWarning, Severity, SignatureFinding } from './preview.js';
import { previewCalls } from './preview-calls.js';
import { openProbes, type Probes, SELECTOR } from './probes.js';
import { nothingFor, readFamily, type SignatureReading, type Use } from './signature-families.js';
import { ZERO } from './transfers.js';

/** What an account is asked to sign. */
export type SignatureRequest =
  | { readonly kind: 'typed-data'; readonly data: Readonly<Record<string, unknown>> }
  | { readonly kind: 'message'; readonly message: Uint8Array }
  /** `eth_sign`: the hash itself. */
  | { readonly kind: 'hash'; readonly hash: Uint8Array }
  | {
      readonly kind: 'authorization';
      readonly chainId: bigint;
      readonly address: Uint8Array;
      readonly nonce: bigint;
    }
  | {
      readonly kind: 'calls';
      readonly chainId: bigint | undefined;
      readonly atomic: boolean;
      readonly calls: readonly Use[];
    };

/** Where a signature is previewed. */
export interface SignaturePlace {
  readonly network: SimulationRules & Pick<Network, 'slotSeconds' | 'messageService'>;
  /** Context of the next block. */
  readonly block: BlockContext;
  readonly state: StateReader;
  readonly budget: RunBudget;
  readonly account: Hex;
  readonly origin?: string | undefined;
  readonly known?: KnownNames | undefined;
  readonly speculativeRun?: SpeculativeRun | undefined;
}

/** What a signature allows. */
export interface PreviewedSignature {
  /** The hash that is signed, 32 bytes. Null for data that cannot be read, and for calls. */
  readonly digest: Hex | null;
  /** The kind of typed data or message. `unknown` if plumbline does not know it. */
  readonly family: string;
  readonly findings: readonly SignatureFinding[];
  /** What happens if the signature is used at once. Null if that could not be run. */
  readonly effects: Omit<PreviewedChanges, 'warnings'> | null;
  /** What the user gives and gets in an order. Null if it is not an order. */
  readonly order: { readonly gives: readonly LotJson[]; readonly gets: readonly LotJson[] } | null;
  readonly evidence: {
    /**
     * The signature does not exist yet. In the run, the precompile that recovers signers answered `signer` for exactly this `digest`.
     * Null if nothing was run with an assumed signature.
     */
    readonly supposed: { readonly precompile: 1; readonly digest: Hex; readonly signer: Hex } | null;
    /** Why the node did not run what the signature allows. */
    readonly notExecuted?: string;
  };
}

/** An amount of an asset, as a quantity. */
export interface LotJson {
  readonly asset: Asset;
  readonly amount: Hex;
}

/** Most gas of a transaction. @source EIP-7825 */
const USE_GAS = 16_777_216n;
/** Members that no type declares, of which each is a finding. */
const MAX_UNDECLARED = 100;
const RANKS = { danger: 0, warning: 1, note: 2 } as const;

/**
 * Says what a signature would allow, before the user signs.
 *
 * @throws PlumblineError of `previewCalls`, and errors of reading the state
 * @source docs/spec/signatures.md 1 to 4
 */
export async function previewSignature(place: SignaturePlace, request: SignatureRequest): Promise<PreviewedSignature> {
  const state = ReadCache.over(place.state);
  const { network, block, budget } = place;
  const probes = openProbes({ network, block, before: state, after: state, budget });
  try {
    const found = await readers[request.kind]({ ...place, state }, request as never, probes);
    const findings = [...new Map(found.findings.map((one) => [JSON.stringify(one), one])).values()];
    return { ...found, findings: findings.sort((a, b) => RANKS[a.severity] - RANKS[b.severity]) };
  } finally {
    probes.close();
  }
}

type Kind = SignatureRequest['kind'];
type Reader<K extends Kind> = (
  place: SignaturePlace,
  request: Extract<SignatureRequest, { readonly kind: K }>,
  probes: Probes,
) => Promise<PreviewedSignature>;

const NOTHING = { effects: null, order: null, evidence: { supposed: null } } as const;

const readers: { readonly [K in Kind]: Reader<K> } = {
  'typed-data': typedData,
  async message(place, { message }) {
    const { account, origin, network, block } = place;
    const digest = bytesToHex(hashPersonalMessage(message));
    const text = textOf(message);
    const signIn = text && signInFindings(text, { account, origin, chainId: network.chainId, now: block.timestamp });
    if (signIn) return { ...NOTHING, digest, family: 'sign-in', findings: signIn };
    const isHash = message.length === 32 || /^(?:0x)?[0-9a-f]{64}$/i.test(text ?? '');
    const findings: SignatureFinding[] = isHash ? [{ code: 'opaque-hash', severity: 'danger' }] : [];
    if (!isHash && text === undefined) findings.push({ code: 'opaque-hash', severity: 'warning' });
    return { ...NOTHING, digest, family: 'message', findings };
  },
  async hash(_, { hash }) {
    return {
      ...NOTHING,
      digest: bytesToHex(hash),
      family: 'hash',
      findings: [{ code: 'opaque-hash', severity: 'danger' }],
    };
  },
  authorization,
  async calls(place, { chainId, atomic, calls }) {
    const findings: SignatureFinding[] = [];
    if (chainId !== undefined && chainId !== BigInt(place.network.chainId))
      findings.push({ code: 'other-chain', severity: 'danger', chainId: String(chainId) });
    if (!atomic && calls.length > 1) findings.push({ code: 'not-atomic', severity: 'note' });
    const { warnings, ...effects } = await run(place, calls, undefined);
    return { ...NOTHING, digest: null, family: 'calls', findings: [...findings, ...warnings], effects };
  },
};

const TEXT = new TextDecoder('utf-8', { fatal: true });

/** Text without control characters, but for ends of lines; undefined for other bytes. */
function textOf(message: Uint8Array): string | undefined {
  try {
    const text = TEXT.decode(message);
    return /[\p{Cc}\p{Cf}]/u.test(text.replace(/[\n\r\t]/g, '')) ? undefined : text;
  } catch {
    return undefined;
  }
}

/** Runs the calls that use a signature, for the account alone: whoever sends them is no user. */
function run(
  { network, block, state, budget, known, speculativeRun, account }: SignaturePlace,
  uses: readonly Use[],
  digest: Uint8Array | undefined,
  users: readonly Hex[] = [account],
): Promise<PreviewedChanges> {
  const supposed = digest && {
    digest: speculativeRun === undefined ? digest : undefined,
    signer: hexToBytes(account),
  };
  const base = { network, block, state, budget, known, speculativeRun, users, supposed, isFree: true };
  return previewCalls(base, uses.length, async (i) => {
    const { from, to, data, value = 0n } = uses[i]!;
    const call = { from: hexToBytes(from), to: hexToBytes(to), data: hexToBytes(data), value };
    return transactionMessageOf(call, { gasLimit: speculativeRun?.gas ?? USE_GAS, nonce: 0n, price: 0n, free: true });
  });
}

/** @source EIP-7702; docs/spec/signatures.md 5 */
async function authorization(
  { account, network, state }: SignaturePlace,
  { chainId, address, nonce }: Extract<SignatureRequest, { readonly kind: 'authorization' }>,
): Promise<PreviewedSignature> {
  const digest = keccak256(
    concatBytes(Uint8Array.of(5), rlpList([integerBytes(chainId), address, integerBytes(nonce)])),
  );
  const held = await state.account(hexToBytes(account));
  const left = held?.nonce ?? 0n;
  const isForHere = chainId === 0n || chainId === BigInt(network.chainId);
  const isBlocked = await hasOtherCode(state, hexToBytes(account));
  // A sender's own authorization fits with the nonce after its transaction.
  const validity = !isForHere
    ? 'otherChain'
    : nonce < left
      ? 'past'
      : isBlocked
        ? 'blocked'
        : nonce > left + 1n
          ? 'later'
          : 'now';
  const target = isZeroBytes(address) ? null : bytesToHex(address);
  const everyChain = chainId === 0n;
  const isHarmless = (target === null && validity === 'now') || (validity === 'past' && !everyChain);
  const severity: Severity = isHarmless ? 'note' : validity === 'blocked' ? 'warning' : 'danger';
  const findings: SignatureFinding[] = [
    {
      code: 'delegated',
      severity,
      address: account,
      target,
      validity,
      ...(everyChain && { everyChain: true as const }),
    },
  ];
  if (validity === 'later')
    findings.push({ code: 'future-nonce', severity: 'danger', nonce: toQuantity(nonce), expected: toQuantity(left) });
  if (target !== null && isForHere && !(await hasOtherCode(state, address)))
    findings.push({ code: 'contract-without-code', severity: 'danger', address: target });
  return { ...NOTHING, digest: bytesToHex(digest), family: 'authorization', findings };
}

const integerBytes = (value: bigint) =>
  value === 0n
    ? new Uint8Array(0)
    : hexToBytes(`0x${value.toString(16).padStart(2 * Math.ceil(value.toString(16).length / 2), '0')}`);

/** A list of short items. */
function rlpList(items: readonly Uint8Array[]): Uint8Array {
  const encoded = items.map((item) =>
    item.length === 1 && item[0]! < 0x80 ? item : concatBytes(Uint8Array.of(0x80 + item.length), item),
  );
  const body = concatBytes(...encoded);
  return concatBytes(Uint8Array.of(0xc0 + body.length), body);
}

async function typedData(
  place: SignaturePlace,
  { data }: Extract<SignatureRequest, { readonly kind: 'typed-data' }>,
  probes: Probes,
): Promise<PreviewedSignature> {
  const { account, network, block } = place;
  let read: ReturnType<typeof readTypedData>;
  try {
    read = readTypedData(data);
  } catch (error) {
    if (!isPlumblineError(error, 'INVALID_PARAMETER')) throw error;
    const { parameter, reason } = error.details;
    return {
      ...NOTHING,
      digest: null,
      family: 'unknown',
      findings: [{ code: 'malformed', severity: 'danger', at: parameter, reason }],
    };
  }
  const domain = (data.domain ?? {}) as Readonly<Record<string, unknown>>;
  const declared = new Set(domainMembers(data).map(({ name }) => name));
  const contract = declared.has('verifyingContract') ? contractIn(domain.verifyingContract) : undefined;
  const chainId = declared.has('chainId') ? numberIn(domain.chainId) : 0n;
  const findings: SignatureFinding[] = [];
  const { undeclared } = read;
  for (const at of undeclared.slice(0, MAX_UNDECLARED))
    findings.push({ code: 'undeclared-member', severity: 'warning', at });
  const more = undeclared.length - MAX_UNDECLARED;
  if (more > 0) findings.push({ code: 'undeclared-member', severity: 'warning', at: `${more} more` });
  const isForHere = chainId === 0n || chainId === BigInt(network.chainId);
  if (!isForHere)
    findings.push({ code: 'other-chain', severity: 'danger', chainId: String(chainId ?? domain.chainId) });
  if (chainId === 0n) findings.push({ code: 'no-chain', severity: 'warning' });
  if (contract === undefined) findings.push({ code: 'no-contract', severity: 'warning' });
  else if (isForHere) findings.push(...(await domainFindings(place, contract, read.domainSeparator, probes)));
  const { message, type, words } = read;
  const reading = readFamily({ account, contract, message, type, words });
  const digest = bytesToHex(read.digest);
  if (reading === undefined) {
    findings.push({ code: 'unknown-type', severity: 'warning', type });
    if (hidesHash(data, message)) findings.push({ code: 'opaque-hash', severity: 'danger' });
    return { ...NOTHING, digest, family: 'unknown', findings };
  }
  findings.push(...(reading.findings ?? []));
  const { owner, deadline, order, actsAs, notExecuted } = reading;
  if (owner !== undefined && owner !== account)
    findings.push({ code: 'other-signer', severity: 'warning', address: owner });
  if (deadline !== undefined && deadline < BigInt(block.timestamp))
    findings.push({ code: 'expired', severity: 'note', at: Number(deadline) });
  const ofNonces = await nonceFindings(reading, contract, isForHere, probes);
  findings.push(...ofNonces);
  findings.push(...(await spenderFindings(place, reading)));
  findings.push(...(await refundFindings(reading, isForHere ? probes : undefined)));
  if (order?.gets.every(({ amount }) => amount === 0n)) findings.push(...nothingFor(account, order.gives));
  const result = { ...NOTHING, digest, family: reading.family, order: order === undefined ? null : orderJson(order) };
  const uses = isForHere && contract !== undefined ? ((await reading.uses?.(probes)) ?? []) : [];
  const transfers = await transferFindings(reading, account, isForHere ? probes : undefined);
  if (uses.length === 0) {
    findings.unshift(...transfers);
    const why = notExecuted ?? (isForHere ? 'it names no contract' : 'it is for another chain');
    return { ...result, findings, evidence: { supposed: null, notExecuted: why } };
  }
  const users = actsAs === undefined ? [account] : [account, actsAs];
  const { warnings, ...effects } = await run(place, uses, read.digest, users);
  findings.unshift(...warningsOfUse(reading, warnings), ...transfers);
  const isRefused = effects.calls.some(({ status }) => status !== 'success');
  const isCut = effects.calls.some(({ status, gasUsed }) => status === 'halted' && BigInt(gasUsed) === USE_GAS);
  // What the run does not show, the message says. One that is used already, or expired, allows nothing.
  if (isRefused && !findings.some(({ code }) => code === 'used-nonce' || code === 'expired'))
    findings.unshift(...(await allowanceFindings(account, reading, probes)));
  const isContract = await isContractAccount(place);
  const reasons = [
    ...(notExecuted === undefined ? [] : [notExecuted]),
    ...(isRefused && isContract ? ['the account is a contract, which checks signatures itself'] : []),
    ...(isRefused && !isContract && !isCut ? ['the contract refuses it now'] : []),
    ...(isCut ? ['the run needs more gas than a transaction may have'] : []),
  ];
  const evidence = {
    supposed: { precompile: 1, digest, signer: account } as const,
    ...(reasons.length > 0 && { notExecuted: reasons.join('; ') }),
  };
  return { ...result, findings, effects, evidence };
}

const domainMembers = (data: Readonly<Record<string, unknown>>) =>
  (data.types as Readonly<Record<string, readonly { readonly name: string }[]>>).EIP712Domain!;

/** The contract of a domain, whose type may be any; undefined for the zero address and for what is no address. */
function contractIn(value: unknown): Hex | undefined {
  const text = String(value).toLowerCase();
  return /^0x[0-9a-f]{40}$/.test(text) && BigInt(text) !== 0n ? (text as Hex) : undefined;
}

/** A number of a domain, whose type may be any; undefined for what is none. */
function numberIn(value: unknown): bigint | undefined {
  return /^(?:\d+|0x[0-9a-fA-F]+)$/.test(String(value)) ? BigInt(String(value)) : undefined;
}

const orderJson = ({ gives, gets }: NonNullable<SignatureReading['order']>) => {
  const lots = (all: typeof gives) => all.map(({ asset, amount }) => ({ asset, amount: toQuantity(amount) }));
  return { gives: lots(gives), gets: lots(gets) };
};

/** Whether what is signed is no more than hashes. */
function hidesHash(data: Readonly<Record<string, unknown>>, message: Readonly<Record<string, unknown>>): boolean {
  const types = data.types as Readonly<Record<string, readonly { readonly type: string }[]>>;
  const members = types[data.primaryType as string] ?? [];
  return (
    Object.keys(message).length > 0 &&
    members.length > 0 &&
    members.every(({ type }) => type === 'bytes32' || type === 'bytes')
  );
}

const [DOMAIN_SEPARATOR, SAFE_DOMAIN]: readonly Hex[] = ['0x3644e515', '0xf698da25'];

/** Asks the contract for its domain. @source docs/spec/signatures.md 1 */
async function domainFindings(
  { state }: SignaturePlace,
  contract: Hex,
  separator: Uint8Array,
  probes: Probes,
): Promise<SignatureFinding[]> {
  if (!(await hasOtherCode(state, hexToBytes(contract))))
    return [{ code: 'contract-without-code', severity: 'danger', address: contract }];
  const told = bytesToHex(separator);
  for (const selector of [DOMAIN_SEPARATOR!, SAFE_DOMAIN!]) {
    const answer = await probes.word('before', contract, selector);
    if (answer === undefined) continue;
    const found: Hex = `0x${answer.toString(16).padStart(64, '0')}`;
    return found === told ? [] : [{ code: 'domain-differs', severity: 'danger', address: contract, told, found }];
  }
  return [];
}

async function nonceFindings(
  { nonce }: SignatureReading,
  contract: Hex | undefined,
  isForHere: boolean,
  probes: Probes,
): Promise<SignatureFinding[]> {
  if (nonce === undefined || contract === undefined || !isForHere) return [];
  const findings: SignatureFinding[] = [];
  for (const { told, kind, ask } of [nonce].flat()) {
    const answer = await ask(probes);
    if (answer === undefined) continue;
    const isUsed =
      kind === 'equal' ? told < answer : kind === 'flag' ? answer !== 0n : ((answer >> (told & 255n)) & 1n) === 1n;
    if (isUsed) findings.push({ code: 'used-nonce', severity: 'note', nonce: toQuantity(told) });
    else if (kind === 'equal' && told !== answer)
      findings.push({
        code: 'future-nonce',
        severity: 'danger',
        nonce: toQuantity(told),
        expected: toQuantity(answer),
      });
  }
  return findings;
}

async function spenderFindings(
  { state, known, account }: SignaturePlace,
  { spenders = [], family }: SignatureReading,
): Promise<SignatureFinding[]> {
  const findings: SignatureFinding[] = [];
  const trusted = new Set([...(known?.addresses ?? []), account]);
  for (const address of new Set(spenders)) {
    // A transfer that is authorized goes to its receiver, who need not be a contract.
    const isReceiver = family.endsWith('-authorization') || family === 'votes';
    if (isReceiver || trusted.has(address) || (await hasOtherCode(state, hexToBytes(address)))) continue;
    findings.push({ code: 'spender-without-code', severity: 'danger', address });
  }
  return findings;
}

/** What a preview of a use says. That something is lost is the point of a transfer that is allowed. */
function warningsOfUse({ transfers }: SignatureReading, warnings: readonly PreviewWarning[]): SignatureFinding[] {
  // The calls of a relayer and of the one who pays for them are nobody's to warn of.
  const others = ['new-recipient', 'transfer-to-contract-without-receiver'];
  if (transfers !== undefined) others.push('nothing-back');
  return warnings.filter(({ code }) => !others.includes(code));
}

/** Of one transfer that the spender may make. @param probes - undefined where the tokens are not on this chain */
async function transferFindings(
  { transfers = [], spenders = [], order }: SignatureReading,
  account: Hex,
  probes: Probes | undefined,
): Promise<SignatureFinding[]> {
  const findings: SignatureFinding[] = [];
  for (const { token, amount } of transfers) {
    const held = (await probes?.word('before', token, SELECTOR.balanceOf, account)) ?? 0n;
    const isMost = held > 0n && amount * 10n >= held * 9n;
    // An order says what comes back for it, as far as the spender honours it.
    const isOrder = order?.gets.some((one) => one.amount > 0n);
    const severity: Severity = (isMost && !isOrder) || amount >= 1n << 128n ? 'danger' : 'warning';
    const asset: Asset = { kind: 'erc20', address: token };
    findings.push({ code: 'transfer-allowed', severity, asset, amount: toQuantity(amount), spender: spenders[0]! });
  }
  return findings;
}

/** Of what a contract wallet pays for gas. A price in ether is at most that of the transaction; one in a token may take all of it. */
async function refundFindings(
  { refund, actsAs }: SignatureReading,
  probes: Probes | undefined,
): Promise<SignatureFinding[]> {
  if (refund === undefined) return [];
  const { token, amount, receiver } = refund;
  const held = token === ZERO ? undefined : await probes?.word('before', token, SELECTOR.balanceOf, actsAs!);
  const severity: Severity = held !== undefined && held > 0n && amount * 10n >= held ? 'danger' : 'warning';
  return [{ code: 'pays-refund', severity, address: receiver, token, amount: toQuantity(amount) }];
}

/** Of allowances as the message names them. */
async function allowanceFindings(
  account: Hex,
  { allowances = [], spenders = [], owner = account }: SignatureReading,
  probes: Probes,
): Promise<SignatureFinding[]> {
  const findings: SignatureFinding[] = [];
  for (const { kind, token, amount } of allowances) {
    const parties = { token, owner, spender: spenders[0]! };
    const { unlimited, covers } = await allowanceSize(token, owner, amount, probes);
    if (unlimited) findings.push({ code: 'unlimited-approval', severity: 'danger', kind, ...parties });
    else if (covers === 'all')
      findings.push({ code: 'covers-balance', severity: 'danger', ...parties, amount: toQuantity(amount) });
  }
  return findings;
}

/** Whether the account has code: contracts then ask it about a signature, also where the code is that of another account. */
const isContractAccount = ({ state, account }: SignaturePlace) => hasCode(state, hexToBytes(account));

/** @source EIP-4361, "Message Format" */
const FIRST_LINE =
  /^(?:[a-z][a-z0-9+.-]*:\/\/)?(?<domain>[^\s/?#@]+) wants you to sign in with your Ethereum account:$/i;
const FIELDS =
  /^URI: (?<uri>\S+)\nVersion: 1\nChain ID: (?<chain>\d+)\nNonce: (?<nonce>[A-Za-z0-9]{8,})\nIssued At: (?<issued>\S+)(?:\nExpiration Time: (?<expires>\S+))?(?:\nNot Before: (?<begins>\S+))?(?:\nRequest ID: [^\n]*)?(?:\nResources:(?:\n- [^\n]*)*)?$/;

/** What a message to sign in is compared with. */
interface SignInPlace {
  readonly account: Hex;
  readonly origin: string | undefined;
  readonly chainId: number;
  /** Seconds since 1970, of the block. */
  readonly now: number;
}

/**
 * What is wrong with a message to sign in.
 *
 * @returns undefined for another message
 */
function signInFindings(text: string, { account, origin, chainId, now }: SignInPlace): SignatureFinding[] | undefined {
  const [first = '', address = '', ...rest] = text.split('\n');
  const domain = FIRST_LINE.exec(first)?.groups?.domain;
  if (domain === undefined) return undefined;
  const findings: SignatureFinding[] = [];
  const at = rest.findIndex((line) => line.startsWith('URI: '));
  const isFramed = rest[0] === '' && at > 0 && rest[at - 1] === '' && (at === 1 || at === 2 || at === 3);
  const fields = isFramed ? FIELDS.exec(rest.slice(at).join('\n'))?.groups : undefined;
  if (fields === undefined || !/^0x[0-9a-fA-F]{40}$/.test(address))
    findings.push({ code: 'not-parsed', severity: 'warning' });
  if (origin !== undefined && hostOf(origin) !== domain.toLowerCase())
    findings.push({ code: 'origin-differs', severity: 'danger', told: domain, origin });
  if (origin === undefined) findings.push({ code: 'origin-unknown', severity: 'note', told: domain });
  if (address.toLowerCase() !== account)
    findings.push({ code: 'other-signer', severity: 'warning', address: address.toLowerCase() as Hex });
  if (fields === undefined) return findings;
  if (Number(fields.chain) !== chainId)
    findings.push({ code: 'other-chain', severity: 'warning', chainId: fields.chain! });
  const [expires, begins] = [Date.parse(fields.expires ?? '') / 1000, Date.parse(fields.begins ?? '') / 1000];
  if (expires <= now) findings.push({ code: 'expired', severity: 'note', at: Math.floor(expires) });
  if (begins > now) findings.push({ code: 'not-yet', severity: 'note', at: Math.floor(begins) });
  return findings;
}

/** Host and port of an origin, in lower case. */
function hostOf(origin: string): string {
  try {
    return new URL(origin.includes('://') ? origin : `https://${origin}`).host;
  } catch {
    return origin.toLowerCase();
  }
}
