/** What a fresh process says of itself. */
export interface ProcessRun {
  readonly gasLimit?: string | undefined;
  /** Since the process began. */
  readonly ms: number;
  /** Processor time of all its threads. */
  readonly processorMs: number;
}

/** Prints it, and ends the process. */
export function leaveRun(gasLimit?: string): void {
  const ms = performance.now();
  const { user, system } = process.cpuUsage();
  process.stdout.write(JSON.stringify({ gasLimit, ms, processorMs: (user + system) / 1000 } satisfies ProcessRun), () =>
    process.exit(),
  );
}
