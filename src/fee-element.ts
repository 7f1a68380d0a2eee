/**
 * Entry point `plumbline-l2/fee-element`: the web component `<plumbline-fee>`. It shows what a transaction costs. If you import this
 * entry point in a browser, it defines the element.
 *
 * - `network`: a name of `NETWORKS`. Default: `devnet`
 * - `endpoints`, `layer-one`: URLs with spaces between them, for a light node of the network; `devnet` has none
 * - `from`, `to`, `value` (wei, decimal or hex), `data`: the transaction
 *
 * Elements with the same network and endpoints share a node. It is closed with the last of these elements. To use another node, set
 * the property `node`.
 *
 * Parts for `::part(…)`: `fees`, `name`, `amount`, `unit`, `progress`, `error`. Custom properties: `--plumbline-fee-gap`,
 * `--plumbline-fee-name-color`, `--plumbline-fee-error-color`.
 *
 * @module plumbline-l2/fee-element
 *
 * @example
 * import 'plumbline-l2/fee-element';
 * document.body.innerHTML = '<plumbline-fee from="0x…" to="0x…" value="1000000000000000000"></plumbline-fee>';
 */
import type { TrustLevel } from './chain/block.js';
import { invalidParameter, messageOf } from './errors.js';
import type { PlumblineNode } from './hosts/provider/node-handle.js';
import { type ClientOptions, createNode } from './hosts/worker/client.js';
import { NETWORKS, type NetworkName } from './networks/networks.js';
import type { Hex } from './primitives/hex.js';
import { toQuantity } from './primitives/quantity.js';
import type { AnswerReport } from './rpc/answer-report.js';
import type { LineaCallJson } from './rpc/schema/json.js';

/** Nodes that elements share, by their options. */
const shared = new Map<string, { readonly node: Promise<PlumblineNode>; users: number }>();

function take(key: string, options: ClientOptions): Promise<PlumblineNode> {
  let entry = shared.get(key);
  if (entry === undefined) {
    entry = { node: createNode(options), users: 0 };
    shared.set(key, entry);
  }
  entry.users++;
  return entry.node;
}

function leave(key: string): void {
  const entry = shared.get(key)!;
  entry.users--;
  // An element that is moved in the page is taken out and put in again in one task.
  queueMicrotask(() => {
    if (entry.users > 0 || shared.get(key) !== entry) return;
    shared.delete(key);
    entry.node.then(
      (node) => node.close(),
      () => {},
    );
  });
}

const STYLE = `
:host { display: block; font: inherit; }
[hidden] { display: none; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: var(--plumbline-fee-gap, 0.25em 1em); margin: 0; }
dt { color: var(--plumbline-fee-name-color, inherit); }
dd { margin: 0; font-variant-numeric: tabular-nums; }
p { margin: 0; }
[part='error'] { color: var(--plumbline-fee-error-color, #b00020); }
`;

const ROWS = [
  ['gas', 'Gas limit', 'gas'],
  ['priority', 'Priority fee', 'gwei per gas'],
  ['total', 'Fee at most', 'ETH'],
] as const;

/** An amount as decimals, without zeros at its end. */
function decimals(amount: bigint, digits: number): string {
  const text = amount.toString().padStart(digits + 1, '0');
  const fraction = text.slice(-digits).replace(/0+$/, '');
  return `${text.slice(0, -digits)}${fraction === '' ? '' : `.${fraction}`}`;
}

const GWEI = 9;
const ETHER = 18;

const LEVELS: Readonly<Record<TrustLevel, string>> = {
  held: 'from this node’s own chain',
  settled: 'from a block that layer 1’s validators have finalized',
  finalized: 'from a state that layer 1 calls final',
  sealed: 'from a block that the network’s validators signed',
  attested: 'from a block that layer 1’s validators signed',
  linked: 'from a block that several endpoints name',
  plain: 'from a block that one endpoint names',
};

/** What an answer rests on, in words. */
const words = ({ class: kind, level }: AnswerReport): string =>
  level === undefined ? `${kind} in this page` : `${kind} in this page, ${LEVELS[level]}`;

/** On a server there are no elements: the class is only there to be imported. */
const Base = (globalThis as { HTMLElement?: typeof HTMLElement }).HTMLElement ?? (class {} as typeof HTMLElement);

/**
 * The element `<plumbline-fee>`.
 *
 * @example
 * ```ts
 * import { PlumblineFee } from 'plumbline-l2/fee-element';
 *
 * PlumblineFee.observedAttributes.includes('value'); // => true
 * ```
 */
export class PlumblineFee extends Base {
  static readonly observedAttributes = ['network', 'endpoints', 'layer-one', 'from', 'to', 'value', 'data'] as const;

  private given: PlumblineNode | undefined;
  private taken: string | undefined;
  private asking: AbortController | undefined;
  private isScheduled = false;
  private readonly amounts = new Map<string, HTMLElement>();
  private fees!: HTMLElement;
  private progress!: HTMLElement;
  private failure!: HTMLElement;

  /** An open node that the element uses. The element then opens no node of its own, and does not close this one. */
  get node(): PlumblineNode | undefined {
    return this.given;
  }

  set node(node: PlumblineNode | undefined) {
    this.given = node;
    this.schedule();
  }

  connectedCallback(): void {
    if (this.shadowRoot === null) this.build();
    this.schedule();
  }

  disconnectedCallback(): void {
    this.asking?.abort();
    this.release();
  }

  attributeChangedCallback(): void {
    this.schedule();
  }

  /** Asks again, for example after a new block. */
  refresh(): void {
    this.schedule();
  }

  private build(): void {
    const root = this.attachShadow({ mode: 'open' });
    // A style sheet that a script makes needs no word in the content security policy.
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(STYLE);
    root.adoptedStyleSheets = [sheet];
    const make = <Name extends keyof HTMLElementTagNameMap>(name: Name, part: string, text = '') => {
      const element = document.createElement(name);
      element.setAttribute('part', part);
      element.textContent = text;
      return element;
    };
    this.fees = make('dl', 'fees');
    const row = (name: string, label: string, ...rest: (Node | string)[]) => {
      const amount = make('span', `amount ${name}`);
      const term = make('dt', 'name', label);
      const description = document.createElement('dd');
      description.append(amount, ...rest);
      this.fees.append(term, description);
      this.amounts.set(name, amount);
    };
    for (const [name, label, unit] of ROWS) row(name, label, ' ', make('span', 'unit', unit));
    row('level', 'Checked');
    this.progress = make('p', 'progress', 'Estimating the fee…');
    this.progress.setAttribute('role', 'status');
    this.failure = make('p', 'error');
    this.failure.setAttribute('role', 'alert');
    root.append(this.fees, this.progress, this.failure);
  }

  /** Several attributes that are set in one task make one question. */
  private schedule(): void {
    if (this.isScheduled || !this.isConnected) return;
    this.isScheduled = true;
    queueMicrotask(() => {
      this.isScheduled = false;
      if (this.isConnected) void this.ask();
    });
  }

  private async ask(): Promise<void> {
    this.asking?.abort();
    this.asking = new AbortController();
    const { signal } = this.asking;
    this.show(this.progress);
    try {
      const call = this.call();
      const node = this.given ?? (await this.own());
      let report: AnswerReport | undefined;
      const onAnswer = (answer: AnswerReport) => {
        report = answer;
      };
      const fees = await node.request({ method: 'linea_estimateGas', params: [call] }, { signal, onAnswer });
      if (signal.aborted) return;
      const [gas, priority] = [BigInt(fees.gasLimit), BigInt(fees.priorityFeePerGas)];
      this.amounts.get('gas')!.textContent = String(gas);
      this.amounts.get('priority')!.textContent = decimals(priority, GWEI);
      this.amounts.get('total')!.textContent = decimals(gas * (BigInt(fees.baseFeePerGas) + priority), ETHER);
      this.amounts.get('level')!.textContent = words(report!);
      this.show(this.fees);
    } catch (error) {
      if (signal.aborted) return;
      this.failure.textContent = `No fee: ${messageOf(error)}`;
      this.show(this.failure);
    }
  }

  private show(shown: HTMLElement): void {
    for (const element of [this.fees, this.progress, this.failure]) element.hidden = element !== shown;
    this.setAttribute('aria-busy', String(shown === this.progress));
  }

  /** @throws PlumblineError `INVALID_PARAMETER` */
  private call(): LineaCallJson {
    const text = (name: string) => this.getAttribute(name)?.trim() || undefined;
    const [from, to, data, value] = ['from', 'to', 'data', 'value'].map(text);
    if (value !== undefined && !/^(\d+|0x[0-9a-f]+)$/i.test(value))
      throw invalidParameter('value', `is wei as an integer, such as 1000000000000000000 for one ETH, not ${value}`);
    return {
      ...(from !== undefined && { from: from as Hex }),
      ...(to !== undefined && { to: to as Hex }),
      ...(data !== undefined && { data: data as Hex }),
      ...(value !== undefined && { value: toQuantity(BigInt(value)) }),
    };
  }

  /** The node of the attributes. */
  private own(): Promise<PlumblineNode> {
    const name = this.getAttribute('network') ?? 'devnet';
    if (!Object.hasOwn(NETWORKS, name))
      throw invalidParameter('network', `is one of ${Object.keys(NETWORKS).join(', ')}, not ${name}`);
    const [endpoints, layerOne] = ['endpoints', 'layer-one'].map(
      (list) => this.getAttribute(list)?.split(/\s+/).filter(Boolean) ?? [],
    ) as [string[], string[]];
    const network = NETWORKS[name as NetworkName];
    const options: ClientOptions =
      name === 'devnet'
        ? {}
        : { chain: { kind: 'light', network, endpoints, ...(layerOne.length > 0 && { layerOne }) } };
    const key = JSON.stringify([name, endpoints, layerOne]);
    if (this.taken !== key) {
      this.release();
      this.taken = key;
      return take(key, options);
    }
    return shared.get(key)!.node;
  }

  private release(): void {
    if (this.taken !== undefined) leave(this.taken);
    this.taken = undefined;
  }
}

const { customElements: elements } = globalThis as { customElements?: CustomElementRegistry };
if (elements !== undefined && elements.get('plumbline-fee') === undefined)
  elements.define('plumbline-fee', PlumblineFee);

declare global {
  interface HTMLElementTagNameMap {
    'plumbline-fee': PlumblineFee;
  }
}
