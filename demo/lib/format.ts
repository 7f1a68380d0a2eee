import { fieldError } from './explain.js';
/** Wei as decimal ether or gwei, without trailing zeros. `separator`: between groups of three digits. */
export function formatUnits(value: bigint, decimals: number, separator = '\u202f'): string {
  const negative = value < 0n;
  const digits = (negative ? -value : value).toString().padStart(decimals + 1, '0');
  const point = digits.length - decimals;
  const fraction = digits.slice(point).replace(/0+$/, '');
  const whole = groups(digits.slice(0, point), separator);
  return `${negative ? '−' : ''}${whole}${fraction === '' ? '' : `.${fraction}`}`;
}

/** Digits that an amount is shown with until it is opened. */
const DIGITS = 6;

/** As `formatUnits`, with a fraction that is rounded so that six digits are left. Whole units are never rounded. */
export function roundUnits(value: bigint, decimals: number): string {
  const size = (value < 0n ? -value : value).toString().length;
  if (size <= DIGITS) return formatUnits(value, decimals);
  const step = 10n ** BigInt(Math.min(size - DIGITS, decimals));
  const half = value < 0n ? -step / 2n : step / 2n;
  return formatUnits(((value + half) / step) * step, decimals);
}

/** As `roundUnits`, with a sign where digits are missing. */
export function about(value: bigint, decimals: number): string {
  const rounded = roundUnits(value, decimals);
  return rounded === formatUnits(value, decimals) ? rounded : `≈ ${rounded}`;
}

/** The smallest unit of a decimal amount. @throws Error that names the field, for anything that is no such number */
export function parseUnits(text: string, decimals: number, field: string): bigint {
  const match = /^(\d+)(?:\.(\d+))?$/.exec(text.trim());
  if (match === null)
    throw fieldError(field, text.trim() === '' ? 'no amount is given' : `“${text.trim()}” is not an amount`);
  if ((match[2]?.length ?? 0) > decimals) throw fieldError(field, `more than ${decimals} decimals`);
  return BigInt(match[1]! + (match[2] ?? '').padEnd(decimals, '0'));
}

/** An integer with thin spaces, or another separator, between groups of three digits. */
export function groups(value: bigint | number | string, separator = '\u202f'): string {
  return String(value).replace(/\B(?=(\d{3})+(?!\d))/g, separator);
}

/** The two ends of a long hex text. */
export function shortHex(hex: string, ends = 6): string {
  return hex.length <= 2 * ends + 3 ? hex : `${hex.slice(0, ends)}…${hex.slice(-ends + 2)}`;
}

/** A time span with a unit that suits it. */
export function formatMs(ms: number): string {
  if (ms >= 10_000) return `${(ms / 1000).toFixed(0)} s`;
  if (ms >= 1000) return `${(ms / 1000).toFixed(1)} s`;
  return ms >= 10 ? `${ms.toFixed(0)} ms` : `${ms.toFixed(1)} ms`;
}

/** Bytes in KB or MB of 1000. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  if (bytes < 1_000_000) return `${(bytes / 1000).toFixed(1)} KB`;
  if (bytes < 1e9) return `${(bytes / 1e6).toFixed(1)} MB`;
  return `${(bytes / 1e9).toFixed(1)} GB`;
}

/** How long ago a moment was, in seconds since 1970; in one piece, for narrow places. */
export function formatAge(timestamp: number, now: number = Date.now() / 1000): string {
  const seconds = Math.max(0, Math.round(now - timestamp));
  const text = (count: number, unit: string) => `${Math.round(count)}\u00a0${unit}\u00a0ago`;
  if (seconds < 60) return text(seconds, 's');
  if (seconds < 3600) return text(seconds / 60, 'min');
  return seconds < 172_800 ? text(seconds / 3600, 'h') : text(seconds / 86_400, 'days');
}

/** Text of JSON as people read it. */
export function pretty(value: unknown): string {
  return JSON.stringify(value, undefined, 2) ?? 'undefined';
}
