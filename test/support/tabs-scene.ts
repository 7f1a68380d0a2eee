import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BrowserContext } from 'playwright';
import { DEV_ACCOUNTS } from '../../src/chain/devnet/state/dev-accounts.js';
import type { Hex } from '../../src/primitives/hex.js';
import type { SharingReport } from '../../src/rpc/schema/answers.js';
import { signTransaction } from './sign.js';
import { SitePage, type TabsSite } from './tabs-site.js';

const RECIPIENT: Hex = `0x${'11'.repeat(20)}`;
/** How long to wait for the next writer. */
const GIVE_UP_MS = 120_000;

/** How a writer ends: its node is closed, its page is closed, or its worker is terminated. */
export type Ending = 'close' | 'page' | 'worker';

interface Tab {
  site: SitePage;
  /** Dev account whose transactions it sends. */
  readonly account: number;
}

interface Block {
  readonly number: Hex;
  readonly hash: Hex;
  readonly parentHash: Hex;
  readonly transactions: readonly Hex[];
}

/** Several pages of one browser with a devnet on one store. */
export class TabsScene {
  readonly tabs: Tab[] = [];
  /** Hashes of accepted transactions of all pages, including pages that ended afterwards. */
  readonly acknowledged: Hex[] = [];
  /** How many of them were sent by a writer's page in the storm in which it ended. */
  acknowledgedByEnded = 0;
  /** How many each page sent in this storm. */
  private readonly given = new Map<SitePage, number>();
  /** Epochs of the writers that were seen, in order. */
  readonly epochs: number[] = [];
  readonly problems: string[] = [];
  private readonly storeName = `tabs-${crypto.randomUUID()}`;
  /** A page without a node that records the commits of the others. */
  private observer: SitePage | undefined;
  private ended = 0;

  constructor(
    private readonly context: BrowserContext,
    private readonly site: TabsSite,
  ) {}

  async add(account: number): Promise<Tab> {
    if (this.observer === undefined) {
      this.observer = await SitePage.open(this.context, this.site);
      await this.observer.call('watch');
    }
    const site = await SitePage.open(this.context, this.site);
    site.page.on('pageerror', (error) => this.problems.push(error.message));
    await site.page.exposeFunction('acknowledged', (hash: Hex) => {
      this.acknowledged.push(hash);
      this.given.set(site, (this.given.get(site) ?? 0) + 1);
    });
    const tab: Tab = { site, account };
    await this.start(tab);
    this.tabs.push(tab);
    return tab;
  }

  private async start({ site }: Tab): Promise<void> {
    const outcome = await site.call('open', { storeName: this.storeName }, 'worker-watched');
    if (outcome !== 'open') throw new Error(`the node does not open: ${outcome}`);
  }

  /** The sharing report of each page. Throws if more than one is the writer. */
  async roles(): Promise<readonly SharingReport[]> {
    const reports = await Promise.all(this.tabs.map(({ site }) => site.call('sharing')));
    const writers = reports.filter(({ role }) => role === 'writer');
    if (writers.length > 1) throw new Error(`${writers.length} pages write: ${JSON.stringify(reports)}`);
    const epoch = writers[0]?.epoch;
    if (epoch !== undefined && epoch !== this.epochs.at(-1)) {
      if (epoch < (this.epochs.at(-1) ?? 0)) throw new Error(`epoch ${epoch} after ${this.epochs.at(-1)}`);
      this.epochs.push(epoch);
    }
    return reports;
  }

  /** The page that writes, once there is one. */
  async writer(): Promise<Tab> {
    for (const end = performance.now() + GIVE_UP_MS; performance.now() < end; await sleep(20)) {
      const at = (await this.roles()).findIndex(({ role }) => role === 'writer');
      if (at >= 0) return this.tabs[at]!;
    }
    throw new Error('no page is the writer');
  }

  /** Transactions of a page's account, signed, from its nonce in the chain on. */
  private async signed({ site, account }: Tab, count: number): Promise<Hex[]> {
    const from = DEV_ACCOUNTS[account]!.address;
    const nonce = Number(await site.ask<Hex>('eth_getTransactionCount', from, 'latest'));
    const fields = {
      to: RECIPIENT,
      value: 1n,
      gasLimit: 21_000n,
      maxFeePerGas: 10n ** 9n,
      maxPriorityFeePerGas: 10n ** 8n,
    };
    return Array.from({ length: count }, (_, i) => signTransaction(account, { nonce: nonce + i, ...fields }));
  }

  /**
   * Sends transactions and reads from every page, all at once.
   *
   * @param during - runs meanwhile and returns the pages that it ended; their requests may fail
   * @returns how many requests were answered
   */
  async storm(count: number, during: () => Promise<readonly Tab[]> = async () => []): Promise<number> {
    const sendings = await Promise.all(this.tabs.map(async (tab) => ({ tab, raws: await this.signed(tab, count) })));
    this.given.clear();
    const estimate = { from: DEV_ACCOUNTS[0]!.address, to: RECIPIENT, value: '0x1' };
    const answers = sendings.map(async ({ tab, raws }) => {
      const reading = [
        { method: 'eth_blockNumber' },
        { method: 'linea_estimateGas', params: [estimate] },
        { method: 'eth_getBalance', params: [RECIPIENT, 'latest'] },
        { method: 'linea_getProof', params: [RECIPIENT, [], 'latest'] },
      ];
      const sending = raws.map((raw) => ({ method: 'eth_sendRawTransaction', params: [raw] }));
      const results = await tab.site.call('askAll', [...sending, ...reading]).catch((error: unknown) => {
        return String(error);
      });
      return { tab, results };
    });
    const gone = await during();
    let answered = 0;
    for (const { tab, results } of await Promise.all(answers)) {
      if (gone.includes(tab)) {
        this.acknowledgedByEnded += this.given.get(tab.site) ?? 0;
        continue;
      }
      if (typeof results === 'string') throw new Error(results);
      const failed = results.filter((result) => (result as { error?: string }).error !== undefined);
      if (failed.length > 0) throw new Error(`page ${tab.account}: ${JSON.stringify(failed)}`);
      answered += results.length;
    }
    return answered;
  }

  /** Ends the writer and waits for the next one. @returns its page, and how long the others had no writer, ms */
  async endWriter(how: Ending): Promise<{ tab: Tab; withoutMs: number }> {
    const tab = await this.writer();
    const other = this.tabs.find((one) => one !== tab)!;
    this.tabs.splice(this.tabs.indexOf(tab), 1);
    this.ended++;
    const start = performance.now();
    if (how === 'page') await tab.site.page.close();
    else await tab.site.call(how === 'close' ? 'close' : 'kill');
    await other.site.ask('eth_blockNumber');
    await this.writer();
    return { tab, withoutMs: performance.now() - start };
  }

  /** Brings a page back that was ended. */
  async replace(tab: Tab): Promise<void> {
    if (!tab.site.page.isClosed()) await tab.site.page.close();
    await this.add(tab.account);
  }

  /**
   * Reads the whole chain at every page: the same everywhere, linked without a gap, each transaction in it once, and all that
   * were acknowledged.
   *
   * @returns the number of blocks
   */
  async check(): Promise<number> {
    const chains = await Promise.all(this.tabs.map((tab) => this.chainOf(tab)));
    const [chain] = chains as [Block[]];
    if (new Set(chains.map((one) => one.at(-1)!.hash)).size > 1) throw new Error('pages see different chains');
    for (const [i, block] of chain.entries()) {
      if (Number(block.number) !== i) throw new Error(`block ${i} has number ${block.number}`);
      if (i > 0 && block.parentHash !== chain[i - 1]!.hash) throw new Error(`block ${i} is not linked`);
    }
    const included = chain.flatMap(({ transactions }) => transactions);
    if (new Set(included).size !== included.length) throw new Error('a transaction is in the chain twice');
    const lost = this.acknowledged.filter((hash) => !included.includes(hash));
    if (lost.length > 0) throw new Error(`not in the chain: ${lost.join(', ')}`);
    if (this.problems.length > 0) throw new Error(this.problems.join('\n'));
    await this.checkWrites(chain.length);
    return chain.length;
  }

  /**
   * Checks by the commits that there was one writer at a time: each commit read the writer record, each block was committed once,
   * and no writer committed after a later one had begun.
   */
  private async checkWrites(blocks: number): Promise<void> {
    const writes = await this.observer!.call('writes');
    const owners = new Map<number, string>();
    const committers = new Map<number, number>();
    for (const { writer, isClaim, blocks: numbers, puts } of writes) {
      if (writer === undefined) throw new Error(`a commit of ${puts} entries did not read the writer record`);
      if (isClaim) continue;
      if (writer === null) throw new Error('a commit without a writer record');
      const { epoch, owner } = writer;
      if ((owners.get(epoch) ?? owner) !== owner) throw new Error(`epoch ${epoch} has two owners`);
      owners.set(epoch, owner);
      for (const number of numbers) {
        const before = committers.get(number);
        if (before !== undefined) throw new Error(`block ${number} was committed in epochs ${before} and ${epoch}`);
        committers.set(number, epoch);
      }
    }
    const epochs = [...committers].sort(([a], [b]) => a - b).map(([, epoch]) => epoch);
    for (const [i, epoch] of epochs.entries()) {
      if (i > 0 && epoch < epochs[i - 1]!) throw new Error(`epoch ${epoch} committed after ${epochs[i - 1]}`);
    }
    const strangers = [...owners.keys()].filter((epoch) => !this.epochs.includes(epoch));
    if (strangers.length > 0) throw new Error(`epochs ${strangers.join()} wrote, and were not seen to`);
    // The last commit of a writer that is ended may not be heard of.
    if (committers.size < blocks - this.ended) throw new Error(`${committers.size} of ${blocks} blocks were seen`);
  }

  private async chainOf({ site }: Tab): Promise<Block[]> {
    const head = Number(await site.ask<Hex>('eth_blockNumber'));
    const numbers = Array.from({ length: head + 1 }, (_, i) => `0x${i.toString(16)}`);
    const requests = numbers.map((number) => ({ method: 'eth_getBlockByNumber', params: [number, false] }));
    return (await site.call('askAll', requests)) as Block[];
  }
}
