import type { Hex } from '../primitives/hex.js';
import type { SignatureFinding } from './signature-findings.js';

/** @source EIP-4361, "Message Format" */
const FIRST_LINE =
  /^(?:[a-z][a-z0-9+.-]*:\/\/)?(?<domain>[^\s/?#@]+) wants you to sign in with your Ethereum account:$/i;
const FIELDS =
  /^URI: (?<uri>\S+)\nVersion: 1\nChain ID: (?<chain>\d+)\nNonce: (?<nonce>[A-Za-z0-9]{8,})\nIssued At: (?<issued>\S+)(?:\nExpiration Time: (?<expires>\S+))?(?:\nNot Before: (?<begins>\S+))?(?:\nRequest ID: [^\n]*)?(?:\nResources:(?:\n- [^\n]*)*)?$/;

/** What a message to sign in is compared with. */
export interface SignInPlace {
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
export function signInFindings(
  text: string,
  { account, origin, chainId, now }: SignInPlace,
): SignatureFinding[] | undefined {
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
