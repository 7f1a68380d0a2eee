import { METHOD_INFO } from '../../rpc/method-info.js';
import type { ServedRequest } from './connections.js';

/**
 * What a server has answered, as `GET /metrics` tells it: the text format of Prometheus, version 0.0.4. Times are sums and counts: what a request
 * took on average is their quotient.
 */

/** As a label: other text of clients would make a series each. */
const named = (method: string | undefined) =>
  method !== undefined && Object.hasOwn(METHOD_INFO.l2, method) ? method : 'other';

/** A family of series by their labels. */
export class Family {
  private readonly series = new Map<string, number>();

  constructor(
    private readonly name: string,
    private readonly type: 'counter' | 'gauge',
    private readonly help: string,
  ) {}

  add(labels: Readonly<Record<string, string>>, by = 1): void {
    const text = Object.entries(labels).map(([label, value]) => `${label}="${value}"`);
    const key = text.length === 0 ? '' : `{${text.join(',')}}`;
    this.series.set(key, (this.series.get(key) ?? 0) + by);
  }

  lines(): string[] {
    const lines = [...this.series].map(([labels, value]) => `${this.name}${labels} ${value}`);
    return [`# HELP ${this.name} ${this.help}`, `# TYPE ${this.name} ${this.type}`, ...lines];
  }
}

/** Counts requests. */
export class Metrics {
  private readonly requests = new Family(
    'plumbline_requests_total',
    'counter',
    'Requests answered, by the class of the answer; error for errors.',
  );
  private readonly errors = new Family('plumbline_errors_total', 'counter', 'Answers that are errors, by their code.');
  private readonly seconds = new Family(
    'plumbline_request_seconds_total',
    'counter',
    'Time from the arrival of requests to their answers; the requests of a batch share one time.',
  );
  private readonly refused = new Family(
    'plumbline_refused_origins_total',
    'counter',
    'Requests refused for their origin.',
  );

  constructor() {
    this.refused.add({}, 0);
  }

  request({ method, layer, class: known, ms, error }: ServedRequest): void {
    const labels = { method: named(method), layer };
    this.requests.add({ ...labels, class: error === undefined ? (known ?? 'none') : 'error' });
    this.seconds.add(labels, ms / 1000);
    if (error !== undefined) this.errors.add({ ...labels, code: String(error.code) });
  }

  refusedOrigin(): void {
    this.refused.add({});
  }

  /**
   * @param head - number of the newest block; undefined where the node has none
   * @param process - of Node
   */
  text(head: number | undefined, process: Pick<NodeJS.Process, 'memoryUsage' | 'uptime'>): string {
    const now = [
      ['plumbline_up', 'Whether the node has a head.', head === undefined ? 0 : 1],
      ...(head === undefined ? [] : [['plumbline_head_block', 'Number of the newest block.', head] as const]),
      ['process_resident_memory_bytes', 'Memory of the process.', process.memoryUsage.rss()],
      ['process_uptime_seconds', 'Time since the process began.', process.uptime()],
    ] as const;
    const gauges = now.flatMap(([name, help, value]) => {
      const family = new Family(name, 'gauge', help);
      family.add({}, value);
      return family.lines();
    });
    const counters = [this.requests, this.errors, this.seconds, this.refused].flatMap((family) => family.lines());
    return `${[...counters, ...gauges].join('\n')}\n`;
  }
}
