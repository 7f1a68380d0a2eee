import { concatBytes } from '../../primitives/bytes.js';
import { bytesToHex } from '../../primitives/hex.js';

/**
 * A URL that the proxy answers, as it is stored. It may hold a key, so only its salted SHA-256 is stored: of the URL, or of what is
 * before the star (`below`). `chain` is the id of the chain that answers there: the first of the node when left out.
 */
export type StoredTarget = { readonly origin: string; readonly chain?: number } & (
  | { readonly below: string }
  | { readonly digest: string }
);

/** How many URLs are cached, so that most requests are decided without hashing. */
const MAX_CACHED = 256;

/** @param salt - the same for all targets of a configuration */
export function storeTargets(
  targets: readonly string[],
  chainOf: Readonly<Record<string, number>>,
  salt: Uint8Array,
): Promise<StoredTarget[]> {
  return Promise.all(
    targets.map(async (target) => {
      const { origin, pathname } = new URL(target);
      const chain = chainOf[target];
      const where = { origin, ...(chain !== undefined && { chain }) };
      if (pathname.endsWith('/*')) return { ...where, below: await digestOf(origin + pathname.slice(0, -1), salt) };
      return { ...where, digest: await digestOf(target, salt) };
    }),
  );
}

/** Finds the configured URL that a request is for. */
export class Targets {
  private readonly seen = new Map<string, Found | undefined>();

  constructor(
    private readonly stored: readonly StoredTarget[],
    private readonly salt: Uint8Array,
  ) {}

  /** False for a URL that is certainly not answered by the proxy. */
  mayHave(href: string): boolean {
    if (this.seen.has(href)) return this.seen.get(href) !== undefined;
    const { origin } = new URL(href);
    return this.stored.some((target) => target.origin === origin);
  }

  async find(href: string): Promise<Found | undefined> {
    if (this.seen.has(href)) return this.seen.get(href);
    const found = await this.look(new URL(href));
    if (this.seen.size >= MAX_CACHED) this.seen.clear();
    this.seen.set(href, found);
    return found;
  }

  private async look({ origin, pathname, search }: URL): Promise<Found | undefined> {
    const here = this.stored.filter((target) => target.origin === origin);
    if (here.length === 0) return undefined;
    // With its query first. A URL that is configured without a query matches any query.
    for (const address of new Set([origin + pathname + search, origin + pathname])) {
      const digest = await digestOf(address, this.salt);
      const target = here.find((candidate) => 'digest' in candidate && candidate.digest === digest);
      if (target !== undefined) return { index: this.stored.indexOf(target), address };
    }
    const end = pathname.lastIndexOf('/') + 1;
    if (end === pathname.length) return undefined;
    const folder = await digestOf(origin + pathname.slice(0, end), this.salt);
    const target = here.find((candidate) => 'below' in candidate && candidate.below === folder);
    return target && { index: this.stored.indexOf(target), address: undefined };
  }
}

/** The target that a URL belongs to. */
export interface Found {
  readonly index: number;
  /** The configured URL, unless it ends with a star. */
  readonly address: string | undefined;
}

async function digestOf(address: string, salt: Uint8Array): Promise<string> {
  const bytes = concatBytes(salt, new TextEncoder().encode(address));
  return bytesToHex(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes as Uint8Array<ArrayBuffer>)));
}
