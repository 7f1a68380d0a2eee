import type { Browser } from 'playwright';

/** How long renderers run at a time, roughly: what they did run is measured, and they are stopped in proportion. */
const RUN_MS = 3;
/** How often it is asked which processes there are. */
const LOOK_MS = 50;

interface ProcessInfo {
  readonly processInfo: readonly { readonly type: string; readonly id: number }[];
}

/**
 * Slows a browser's renderers down, workers included: `Emulation.setCPUThrottlingRate` answers "Operation is only supported
 * for pages, not workers". Their processes are stopped for all but one part in `rate` of each turn.
 */
export class Throttle {
  private running = false;
  private ended: Promise<unknown> = Promise.resolve();
  private pids: readonly number[] = [];

  constructor(
    private readonly browser: Browser,
    private readonly rate: number,
  ) {}

  async start(): Promise<void> {
    const session = await this.browser.newBrowserCDPSession();
    const look = async () => {
      const { processInfo } = (await session.send('SystemInfo.getProcessInfo')) as ProcessInfo;
      this.pids = processInfo.filter(({ type }) => type === 'renderer').map(({ id }) => id);
    };
    await look();
    this.running = true;
    const looking = async () => {
      while (this.running) {
        await pause(LOOK_MS);
        await look();
      }
      await session.detach();
    };
    this.ended = Promise.all([this.turn(), looking()]);
  }

  private async turn(): Promise<void> {
    while (this.running) {
      const started = performance.now();
      await pause(RUN_MS);
      const { pids } = this;
      signal(pids, 'SIGSTOP');
      await pause((performance.now() - started) * (this.rate - 1));
      signal(pids, 'SIGCONT');
    }
  }

  async stop(): Promise<void> {
    this.running = false;
    await this.ended;
  }
}

function signal(pids: readonly number[], name: 'SIGSTOP' | 'SIGCONT'): void {
  for (const pid of pids) {
    try {
      process.kill(pid, name);
    } catch {
      // It has ended since the list was made.
    }
  }
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
