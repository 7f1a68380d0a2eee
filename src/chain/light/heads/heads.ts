import type { Network } from '../../../networks/network.js';
import { bytesToKey, equalBytes } from '../../../primitives/bytes.js';
import { bytesToHex } from '../../../primitives/hex.js';
import { toQuantity } from '../../../primitives/quantity.js';
import {
  type Answer,
  allFailed,
  type Call,
  type EndpointInfo,
  tooFew,
  upstreamError,
} from '../../../upstream/failure.js';
import { type EndpointGroup, type EndpointStatus, requestFirstFound } from '../../../upstream/group.js';
import type { BlockLevel, HeadLevel } from '../../block.js';
import type { LightSettings } from '../light-options.js';
import { notReached, requireChain } from '../refused.js';
import { type LightBlock, missingHeader, readLightBlock } from './light-block.js';
import type { SealedHead } from './sealed-head.js';

/** A source of seals. */
export interface SealSource {
  /**
   * The newest sealed block.
   *
   * @param lowest - least height that it must have. With it, one endpoint after the other is asked
   * @throws PlumblineError `TRUST_LEVEL_NOT_REACHED` if no endpoint has one that high; `ANSWER_REFUSED`, `PROOF_MALFORMED`,
   *   of the endpoints
   */
  head(signal?: AbortSignal, lowest?: number): Promise<SealedHead>;
  /** Whether a block of this height carries a seal in its header. */
  sealsBlock(number: number): boolean;
  /** Checks the seal in the header. @throws PlumblineError `ANSWER_REFUSED` */
  checkOwnSeal(block: LightBlock): Promise<void>;
}

/** When a head is accepted. */
export type HeadRules = Pick<LightSettings, 'agreeing' | 'maxLagBlocks'> & { readonly level: HeadLevel };

/** Time limit for one endpoint to return its head, ms. */
const HEAD_TIMEOUT_MS = 8_000;

/** A block that was accepted as part of the chain. */
export interface AcceptedBlock {
  readonly block: LightBlock;
  readonly level: BlockLevel;
  /** Origins that reported it; seals are not counted. */
  readonly origins: readonly string[];
}

/** A head, and the first endpoint's answers to the extra calls. */
export interface HeadReading extends AcceptedBlock {
  /** The first endpoint, its own head and its answers to the extra calls; undefined if it did not answer. */
  readonly batched:
    | { readonly from: EndpointInfo; readonly block: LightBlock; readonly answers: readonly Answer[] }
    | undefined;
}

/** The answer of one endpoint. */
interface HeadResponse extends Claim {
  readonly from: EndpointInfo;
  readonly blocks: [LightBlock, ...LightBlock[]];
  readonly answers: readonly Answer[];
}

const LATEST: Call = { method: 'eth_getBlockByNumber', params: ['latest', false] };
const CHAIN_ID: Call = { method: 'eth_chainId', params: [] };
/** The order in which endpoints are asked. */
const READINESS_ORDER: Readonly<Record<EndpointStatus['readiness'], number>> = {
  healthy: 0,
  probe: 0,
  last: 1,
  refused: 2,
};
/** Heights at which endpoints with different heads are compared. */
const MAX_COMPARED_HEIGHTS = 3;

/** Reads heads and other blocks from as many endpoints as the trust level requires. */
export class Heads {
  /** Ids of endpoints whose chain id was checked. */
  private readonly checked = new Set<string>();

  constructor(
    private readonly group: EndpointGroup,
    private readonly network: Network,
    readonly rules: HeadRules,
    private readonly seals?: SealSource,
    /** Names the newest block that a sync committee attested. */
    private readonly attested?: (signal?: AbortSignal) => Promise<{ readonly blockHash: Uint8Array }>,
  ) {}

  /** Number of origins that must agree. */
  private get needed(): number {
    return this.rules.level === 'linked' ? this.rules.agreeing : 1;
  }

  /**
   * The newest block that can be accepted. As many endpoints as needed are asked at the same time.
   *
   * @param extraCalls - sent to the first endpoint in the same HTTP request; it answers them at its own newest block
   * @param lowest - least height of a head; an endpoint with a lower one has fallen behind
   * @throws PlumblineError `TRUST_LEVEL_NOT_REACHED`; of the endpoints if too few of them answer
   */
  async read(extraCalls: readonly Call[] = [], lowest = 0, signal?: AbortSignal): Promise<HeadReading> {
    if (this.rules.level === 'attested') return this.readAttested(signal);
    const sealed = this.rules.level === 'sealed' ? this.seals?.head(signal) : undefined;
    sealed?.catch(() => {});
    const { responses, agreed } = await this.poll(extraCalls, lowest, signal);
    const first = responses[0]!;
    const batched =
      first.answers.length === 0 ? undefined : { from: first.from, block: first.blocks[0]!, answers: first.answers };
    if (sealed === undefined) {
      const level = this.needed > 1 ? 'linked' : 'plain';
      return { block: agreed.block, level, origins: agreed.origins, batched };
    }
    const { blockHash: hash, check } = await this.freshSeal(await sealed, responses, lowest, signal);
    const known = responses.flatMap(({ blocks }) => blocks).find((block) => equalBytes(block.hash, hash));
    const block = known ?? (await this.byHash(hash, signal));
    if (block === undefined) throw notReached('sealed', undefined, 'no endpoint has the sealed block');
    check(block);
    return { block, level: 'sealed', origins: [first.origin], batched };
  }

  /** The newest attested block. Endpoints are asked for its header alone: its hash is known. */
  private async readAttested(signal: AbortSignal | undefined): Promise<HeadReading> {
    const { blockHash } = await this.attested!(signal);
    const block = await this.byHash(blockHash, signal);
    if (block === undefined) throw notReached('attested', undefined, 'no endpoint has the attested block');
    return { block, level: 'attested', origins: [], batched: undefined };
  }

  /**
   * A sealed block that is close enough to the claimed heads, from another endpoint if this one is not. A seal never expires,
   * so it does not show that the block is the newest.
   *
   * @throws PlumblineError `TRUST_LEVEL_NOT_REACHED`, of the endpoints
   */
  private async freshSeal(
    sealed: SealedHead,
    responses: readonly HeadResponse[],
    lowest: number,
    signal: AbortSignal | undefined,
  ): Promise<SealedHead> {
    const floor = (some: readonly HeadResponse[]) => Math.max(lowest, medianHeight(some) - this.rules.maxLagBlocks);
    if (sealed.number >= floor(responses)) return sealed;
    // All endpoints are asked before the block counts as stale, because the first one may have invented its height.
    const silent = this.group.endpoints.filter(({ id }) => !responses.some(({ from }) => from.id === id));
    const more = await Promise.allSettled(silent.map((from) => this.ask(from, [], signal)));
    if (signal?.aborted) throw signal.reason;
    const least = floor([
      ...responses,
      ...more.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : [])),
    ]);
    return sealed.number >= least ? sealed : this.seals!.head(signal, least);
  }

  /** Whether a block of this height carries a seal in its header. */
  sealsBlock(number: number): boolean {
    return this.seals?.sealsBlock(number) === true;
  }

  /**
   * A block by its hash, which is recomputed. Whether the block is on the chain is not checked.
   *
   * @returns undefined if no endpoint has it
   */
  async byHash(hash: Uint8Array, signal?: AbortSignal): Promise<LightBlock | undefined> {
    return requestFirstFound(this.group, 'eth_getBlockByHash', [bytesToHex(hash), false], {
      agreeing: Math.max(2, this.needed),
      ...(signal !== undefined && { signal }),
      accept: (answer) => readLightBlock(this.network, answer, { hash }),
    });
  }

  /**
   * The block at a height below the head, reported by as many origins as a head needs.
   *
   * @throws PlumblineError `TRUST_LEVEL_NOT_REACHED`, `ANSWER_REFUSED`, also if it is missing; of the endpoints
   */
  async byNumber(number: number, signal?: AbortSignal): Promise<AcceptedBlock> {
    const { needed, rules } = this;
    const { level } = rules;
    if (level === 'attested' || (level === 'sealed' && !this.sealsBlock(number)))
      throw notReached(
        level,
        undefined,
        `block ${number} is not linked to the head, and does not carry a seal of its own`,
      );
    const { value, agreed } = await this.group.requestAll('eth_getBlockByNumber', [toQuantity(number), false], {
      needed,
      timeoutMs: HEAD_TIMEOUT_MS,
      ...(signal !== undefined && { signal }),
      accept: async (answer) => {
        const block = readLightBlock(this.network, answer, { number });
        if (block === undefined) throw missingHeader(number);
        if (level === 'sealed') await this.seals!.checkOwnSeal(block);
        return block;
      },
      key: ({ hash }) => bytesToHex(hash),
    });
    const reached = level === 'sealed' ? 'sealed' : needed > 1 ? 'linked' : 'plain';
    return { block: value, level: reached, origins: agreed.map(({ origin }) => origin) };
  }

  private async poll(
    extraCalls: readonly Call[],
    lowest: number,
    signal: AbortSignal | undefined,
  ): Promise<{ responses: readonly HeadResponse[]; agreed: AgreedBlock }> {
    const { needed } = this;
    // Endpoints that refuse to serve come last. They fail without a request, with the reason.
    const waiting: EndpointInfo[] = [...this.group.endpoints].sort(
      (a, b) => READINESS_ORDER[a.readiness] - READINESS_ORDER[b.readiness],
    );
    const responses: HeadResponse[] = [];
    /** Endpoints without an answer to one attempt. If the others are not enough, they are asked once more, all at once and with waits. */
    const failed: EndpointInfo[] = [];
    let isLastTry = false;
    const failures: unknown[] = [];
    while (waiting.length > 0) {
      const wave = waiting.splice(0, isLastTry ? waiting.length : Math.max(1, needed - responses.length));
      const waits = isLastTry || (waiting.length === 0 && failed.length === 0);
      const asked = await Promise.allSettled(
        wave.map((from, i) => this.ask(from, i === 0 && responses.length === 0 ? extraCalls : [], signal, waits)),
      );
      if (signal?.aborted) throw signal.reason;
      for (const [i, result] of asked.entries()) {
        if (result.status === 'fulfilled') responses.push(result.value);
        else if (waits) failures.push(result.reason);
        else failed.push(wave[i]!);
      }
      const agreed =
        agreedBlock(responses, needed) ??
        (await this.agreedAtSharedHeight(responses, needed, waiting.length === 0, signal));
      if (agreed !== undefined && agreed.block.header.number >= lowest && this.isNear(agreed, responses))
        return { responses, agreed };
      if (waiting.length === 0) {
        waiting.push(...failed.splice(0));
        isLastTry = true;
      }
    }
    if (responses.length < needed && failures.length > 0)
      throw responses.length === 0
        ? allFailed(failures)
        : tooFew(
            failures,
            responses.map(({ origin }) => origin),
            needed,
          );
    // From here on at least one has answered.
    if (needed === 1)
      throw failures.length > 0
        ? allFailed(failures)
        : notReached('plain', undefined, `no endpoint has reached block ${lowest}`);
    const named = responses.map(
      ({ origin, blocks: [{ header, hash }] }) => `${origin} names block ${header.number}, ${bytesToHex(hash)}`,
    );
    const reason = `${needed} endpoints have to agree on a block near the head: ${named.join('; ')}`;
    throw notReached('linked', 'plain', reason);
  }

  /**
   * Asks endpoints that are ahead of the others for their block at the greatest height that enough origins have reached.
   *
   * @param isLast - no other endpoint is left to ask, so lower heights are compared too
   */
  private async agreedAtSharedHeight(
    responses: readonly HeadResponse[],
    needed: number,
    isLast: boolean,
    signal: AbortSignal | undefined,
  ): Promise<AgreedBlock | undefined> {
    let height = sharedHeight(responses, needed);
    for (
      let step = 0;
      height !== undefined && height >= 0 && step < (isLast ? MAX_COMPARED_HEIGHTS : 1);
      step++, height--
    ) {
      const number = height;
      const ahead = responses.filter(({ blocks }) => {
        return blocks[0]!.header.number > number && !blocks.some(({ header }) => header.number === number);
      });
      const others = responses.filter(({ blocks }) => !blocks.some(({ header }) => header.number === number));
      await Promise.allSettled(
        (step === 0 ? ahead : others).map(async (response) => {
          const block = await this.group.request('eth_getBlockByNumber', [toQuantity(number), false], {
            endpoint: response.from.id,
            timeoutMs: HEAD_TIMEOUT_MS,
            ...(signal !== undefined && { signal }),
            accept: (answer) => readLightBlock(this.network, answer, { number }),
          });
          if (block !== undefined) response.blocks.push(block);
        }),
      );
      const agreed = agreedBlock(responses, needed);
      if (agreed !== undefined) return agreed;
    }
    return undefined;
  }

  private isNear({ block }: AgreedBlock, responses: readonly HeadResponse[]): boolean {
    return medianHeight(responses) - block.header.number <= this.rules.maxLagBlocks;
  }

  private async ask(
    from: EndpointInfo,
    extraCalls: readonly Call[],
    signal: AbortSignal | undefined,
    waits = true,
  ): Promise<HeadResponse> {
    const preface = this.checked.has(from.id) ? [LATEST] : [CHAIN_ID, LATEST];
    const response = await this.group.requestMany([...preface, ...extraCalls], {
      endpoint: from.id,
      timeoutMs: HEAD_TIMEOUT_MS,
      waits,
      ...(signal !== undefined && { signal }),
      accept: (answers): HeadResponse => {
        const results = answers.slice(0, preface.length).map((answer, i) => {
          if (answer.kind === 'error') throw upstreamError(from, preface[i]!, answer.error);
          return answer.result;
        });
        if (preface.length === 2) requireChain(this.network, from, results[0]);
        const block = readLightBlock(this.network, results[preface.length - 1]);
        if (block === undefined) throw notReached('plain', undefined, `${from.origin} has no newest block`);
        return { from, origin: from.origin, blocks: [block], answers: answers.slice(preface.length) };
      },
    });
    this.checked.add(from.id);
    return response;
  }
}

/** Blocks that one endpoint reported. Each also counts as a vote for its parent, whose hash it contains. */
export interface Claim {
  readonly origin: string;
  readonly blocks: readonly LightBlock[];
}

/** A block that enough endpoints agree on. */
interface AgreedBlock {
  readonly block: LightBlock;
  /** Origins that reported it or its child. */
  readonly origins: readonly string[];
}

/**
 * The highest block that enough origins reported.
 *
 * @param needed - number of origins; several claims of one origin count once
 */
function agreedBlock(claims: readonly Claim[], needed: number): AgreedBlock | undefined {
  const support = new Map<string, Set<string>>();
  const key = (number: number, hash: Uint8Array) => `${number} ${bytesToKey(hash)}`;
  const add = (number: number, hash: Uint8Array, origin: string) => {
    const at = key(number, hash);
    const origins = support.get(at) ?? new Set();
    support.set(at, origins.add(origin));
  };
  for (const { origin, blocks } of claims) {
    for (const { header, hash } of blocks) {
      add(header.number, hash, origin);
      add(header.number - 1, header.parentHash, origin);
    }
  }
  const candidates = claims.flatMap(({ blocks }) => blocks).sort((a, b) => b.header.number - a.header.number);
  for (const block of candidates) {
    const origins = support.get(key(block.header.number, block.hash))!;
    if (origins.size >= needed) return { block, origins: [...origins] };
  }
  return undefined;
}

/** The greatest height that enough origins have reached; undefined if there are too few origins. */
function sharedHeight(claims: readonly Claim[], needed: number): number | undefined {
  const heights = new Map<string, number>();
  for (const { origin, blocks } of claims) {
    for (const { header } of blocks) heights.set(origin, Math.max(heights.get(origin) ?? 0, header.number));
  }
  return [...heights.values()].sort((a, b) => b - a)[needed - 1];
}

/** The median of the claimed heights, of two the higher: one endpoint among several that invents blocks does not change it. */
function medianHeight(claims: readonly Claim[]): number {
  const heights = claims.map(({ blocks }) => blocks[0]!.header.number).sort((a, b) => b - a);
  return heights[(heights.length - 1) >> 1]!;
}
