import { PlumblineError } from '../../../errors.js';
import type { Network } from '../../../networks/network.js';
import { equalBytes } from '../../../primitives/bytes.js';
import { bytesToHex } from '../../../primitives/hex.js';
import { toQuantity } from '../../../primitives/quantity.js';
import type { EndpointGroup, EndpointStatus } from '../../../upstream/group.js';
import type { Answer, Call, EndpointInfo } from '../../../upstream/transport/fault.js';
import type { TrustLevel } from '../../chain.js';
import { firstThatHas } from '../first-that-has.js';
import { answeredError, notReached } from '../refused.js';
import { type Agreement, agreedBlock, type Claim, sharedHeight } from './head-votes.js';
import { type LightBlock, readLightBlock } from './light-block.js';
import { missingHeader } from './linked-headers.js';

import type { SealedHead, SealSource } from './seals.js';

/** Levels at which a head can be held. */
export type HeadLevel = Extract<TrustLevel, 'plain' | 'linked' | 'sealed'>;

/** What a head has to have to be believed. */
export interface HeadRules {
  readonly level: HeadLevel;
  /** Origins that have to agree; 1 unless the level is `linked`. */
  readonly needed: number;
  /** Blocks that the agreed head may be behind what endpoints claim. */
  readonly maxLagBlocks: number;
  /** Time for one endpoint, milliseconds. */
  readonly timeoutMs: number;
}

/** A block that has been vouched for. */
export interface VouchedBlock {
  readonly block: LightBlock;
  readonly level: HeadLevel;
  /** Origins that stand behind it, seals apart. */
  readonly origins: readonly string[];
}

/** A head, and what the first endpoint said beside it. */
export interface HeadReading extends VouchedBlock {
  /** Head of the endpoint that was asked for more, and its answers; undefined when it did not answer. */
  readonly beside:
    | { readonly from: EndpointInfo; readonly block: LightBlock; readonly answers: readonly Answer[] }
    | undefined;
}

interface Statement extends Claim {
  readonly from: EndpointInfo;
  readonly blocks: LightBlock[];
  readonly answers: readonly Answer[];
}

const LATEST: Call = { method: 'eth_getBlockByNumber', params: ['latest', false] };
const CHAIN_ID: Call = { method: 'eth_chainId', params: [] };
/** In which order endpoints are asked. */
const LATENESS: Readonly<Record<EndpointStatus['readiness'], number>> = { healthy: 0, probe: 0, last: 1, refused: 2 };
/** Times that endpoints at different heights are asked about a shared one. */
const MEETINGS = 3;

/** Reads heads and other blocks from endpoints, and has as many vouch for them as the level asks for. */
export class Heads {
  /** Endpoints that are on the right chain. */
  private readonly checked = new Set<string>();

  constructor(
    private readonly group: EndpointGroup,
    private readonly network: Network,
    readonly rules: HeadRules,
    private readonly seals?: SealSource,
  ) {}

  /**
   * The newest block that is vouched for. The endpoints are asked at the same time; the first of them is asked for `also` in
   * the same HTTP request, at whatever block it takes for its newest.
   *
   * @param lowest - height that a head has to have; one below it is of an endpoint that has fallen behind
   * @throws PlumblineError `TRUST_LEVEL_NOT_REACHED`; of the endpoints when too few of them answer
   */
  async read(also: readonly Call[] = [], lowest = 0, signal?: AbortSignal): Promise<HeadReading> {
    const sealed = this.rules.level === 'sealed' ? this.seals?.head(signal) : undefined;
    sealed?.catch(() => {});
    const { statements, agreement } = await this.poll(also, lowest, signal);
    const first = statements[0]!;
    const beside =
      first.answers.length === 0 ? undefined : { from: first.from, block: first.blocks[0]!, answers: first.answers };
    if (sealed === undefined) {
      const level = this.rules.needed > 1 ? 'linked' : 'plain';
      return { block: agreement.block, level, origins: agreement.origins, beside };
    }
    const { blockHash: hash, check } = await this.notStale(await sealed, statements, lowest, signal);
    const known = statements.flatMap(({ blocks }) => blocks).find((block) => equalBytes(block.hash, hash));
    const block = known ?? (await this.byHash(hash, signal));
    if (block === undefined) throw notReached('sealed', undefined, 'no endpoint has the sealed block');
    check(block);
    return { block, level: 'sealed', origins: [first.origin], beside };
  }

  /**
   * A sealed block that is as near to the head as one without a seal has to be, of another source where this one is not. A
   * seal never expires: that it is of the newest block is not said by it.
   *
   * @throws PlumblineError `TRUST_LEVEL_NOT_REACHED`, of the endpoints
   */
  private async notStale(
    sealed: SealedHead,
    statements: readonly Statement[],
    lowest: number,
    signal: AbortSignal | undefined,
  ): Promise<SealedHead> {
    const floor = (heard: readonly Statement[]) => Math.max(lowest, middleHeight(heard) - this.rules.maxLagBlocks);
    if (sealed.number >= floor(statements)) return sealed;
    // Before it is said to be stale all endpoints are heard: the first of them may have invented its height.
    const silent = this.group.endpoints.filter(({ id }) => !statements.some(({ from }) => from.id === id));
    const more = await Promise.allSettled(silent.map((from) => this.ask(from, [], signal)));
    if (signal?.aborted) throw signal.reason;
    const least = floor([...statements, ...more.flatMap((said) => (said.status === 'fulfilled' ? [said.value] : []))]);
    return sealed.number >= least ? sealed : this.seals!.head(signal, least);
  }

  /** Whether a block of this height carries a seal that can be checked by itself. */
  sealsBlock(number: number): boolean {
    return this.seals?.sealsBlock(number) === true;
  }

  /**
   * A block by its hash, which it proves by itself; that it is one of the chain is not said.
   *
   * @returns undefined when no endpoint has it
   */
  async byHash(hash: Uint8Array, signal?: AbortSignal): Promise<LightBlock | undefined> {
    return firstThatHas(this.group, 'eth_getBlockByHash', [bytesToHex(hash), false], {
      agreeing: Math.max(2, this.rules.needed),
      ...(signal !== undefined && { signal }),
      accept: (answer) => readLightBlock(this.network, answer, { hash }),
    });
  }

  /**
   * The block of a height below the head, vouched for by as many endpoints as a head.
   *
   * @throws PlumblineError `TRUST_LEVEL_NOT_REACHED`, `ANSWER_REFUSED` also where it is left out, of the endpoints
   */
  async byNumber(number: number, signal?: AbortSignal): Promise<VouchedBlock> {
    const { level, needed, timeoutMs } = this.rules;
    if (level === 'sealed' && !this.sealsBlock(number))
      throw notReached('sealed', undefined, `nothing seals block ${number} by itself`);
    const { value, agreed } = await this.group.requestAll('eth_getBlockByNumber', [toQuantity(number), false], {
      needed,
      timeoutMs,
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
    also: readonly Call[],
    lowest: number,
    signal: AbortSignal | undefined,
  ): Promise<{ statements: readonly Statement[]; agreement: Agreement }> {
    const needed = this.rules.level === 'linked' ? this.rules.needed : 1;
    // One that refuses to serve fails without being asked, and says why.
    const waiting = [...this.group.endpoints].sort((a, b) => LATENESS[a.readiness] - LATENESS[b.readiness]);
    const statements: Statement[] = [];
    let failure: unknown;
    while (waiting.length > 0) {
      const wave = waiting.splice(0, Math.max(1, needed - statements.length));
      const asked = await Promise.allSettled(
        wave.map((from, i) => this.ask(from, i === 0 && statements.length === 0 ? also : [], signal)),
      );
      if (signal?.aborted) throw signal.reason;
      for (const result of asked) {
        if (result.status === 'fulfilled') statements.push(result.value);
        else failure ??= result.reason;
      }
      const agreement =
        agreedBlock(statements, needed) ?? (await this.meet(statements, needed, waiting.length === 0, signal));
      if (agreement === undefined || agreement.block.header.number < lowest) continue;
      if (this.isNear(agreement, statements)) return { statements, agreement };
    }
    if (statements.length < needed && failure !== undefined) throw failure;
    if (needed === 1) {
      const reason = statements.length === 0 ? 'no endpoint may be asked' : `no endpoint has reached block ${lowest}`;
      throw failure ?? notReached('plain', undefined, reason);
    }
    const heights = statements.map(({ origin, blocks }) => `${origin} at ${blocks[0]!.header.number}`).join(', ');
    const reason = `${needed} endpoints have to agree on a block near the head: ${heights || 'none answered'}`;
    throw notReached('linked', statements.length === 0 ? undefined : 'plain', reason);
  }

  /**
   * Asks endpoints that are ahead of the others about the height that enough of them have reached.
   *
   * @param further - also about those below it: there is nobody left who could decide between two blocks of one height
   */
  private async meet(
    statements: readonly Statement[],
    needed: number,
    further: boolean,
    signal: AbortSignal | undefined,
  ): Promise<Agreement | undefined> {
    let height = sharedHeight(statements, needed);
    for (
      let meeting = 0;
      height !== undefined && height >= 0 && meeting < (further ? MEETINGS : 1);
      meeting++, height--
    ) {
      const number = height;
      const ahead = statements.filter(({ blocks }) => {
        return blocks[0]!.header.number > number && !blocks.some(({ header }) => header.number === number);
      });
      const beside = statements.filter(({ blocks }) => !blocks.some(({ header }) => header.number === number));
      await Promise.allSettled(
        (meeting === 0 ? ahead : beside).map(async (statement) => {
          const block = await this.group.request('eth_getBlockByNumber', [toQuantity(number), false], {
            endpoint: statement.from.id,
            timeoutMs: this.rules.timeoutMs,
            ...(signal !== undefined && { signal }),
            accept: (answer) => readLightBlock(this.network, answer, { number }),
          });
          if (block !== undefined) statement.blocks.push(block);
        }),
      );
      const agreement = agreedBlock(statements, needed);
      if (agreement !== undefined) return agreement;
    }
    return undefined;
  }

  private isNear({ block }: Agreement, statements: readonly Statement[]): boolean {
    return middleHeight(statements) - block.header.number <= this.rules.maxLagBlocks;
  }

  private async ask(from: EndpointInfo, also: readonly Call[], signal: AbortSignal | undefined): Promise<Statement> {
    const preface = this.checked.has(from.id) ? [LATEST] : [CHAIN_ID, LATEST];
    const statement = await this.group.requestMany([...preface, ...also], {
      endpoint: from.id,
      timeoutMs: this.rules.timeoutMs,
      ...(signal !== undefined && { signal }),
      accept: (answers) => {
        const said = answers.slice(0, preface.length).map((answer) => {
          if (answer.kind === 'error') throw answeredError(from, answer.error);
          return answer.result;
        });
        if (preface.length === 2) this.requireChain(said[0]);
        const block = readLightBlock(this.network, said[preface.length - 1]);
        if (block === undefined) throw notReached('plain', undefined, `${from.origin} has no newest block`);
        return { from, origin: from.origin, blocks: [block], answers: answers.slice(preface.length) };
      },
    });
    this.checked.add(from.id);
    return statement;
  }

  private requireChain(answer: unknown): void {
    const { chainId } = this.network;
    if (typeof answer === 'string' && /^0x[0-9a-f]+$/i.test(answer) && BigInt(answer) === BigInt(chainId)) return;
    const text = typeof answer === 'string' ? answer.slice(0, 20) : typeof answer;
    throw new PlumblineError('ANSWER_REFUSED', `chain id: is ${text}, expected ${chainId}`, {
      what: 'chain id',
      check: 'OTHER_CHAIN',
      at: '',
    });
  }
}

/** The middle one of the heights claimed, of two the higher: one endpoint among several that invents blocks has no say. */
function middleHeight(statements: readonly Statement[]): number {
  const heights = statements.map(({ blocks }) => blocks[0]!.header.number).sort((a, b) => b - a);
  return heights[(heights.length - 1) >> 1]!;
}
