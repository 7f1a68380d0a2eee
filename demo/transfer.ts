import { DEV_ACCOUNTS, type Hex, type PlumblineNode, TEST_TOKEN } from 'plumbline';
import { element, facts, formatUnits, make, parseUnits } from './dom.js';
import type { Estimate, Transfer } from './types.js';

export function fillAccounts(): void {
  for (const [id, chosen] of [
    ['from', 0],
    ['to', 1],
  ] as const) {
    element<HTMLSelectElement>(id).append(
      ...DEV_ACCOUNTS.map(({ address }, index) => new Option(`${index}: ${address}`, address, false, index === chosen)),
    );
  }
}

export function readTransfer(): Transfer {
  const from = element<HTMLSelectElement>('from').value as Hex;
  const to = element<HTMLSelectElement>('to').value as Hex;
  const amount = parseUnits(element<HTMLInputElement>('amount').value, 18);
  const word = (hex: string) => hex.padStart(64, '0');
  const data: Hex = `0xa9059cbb${word(to.slice(2))}${word(amount.toString(16))}`;
  return { from, to, call: { from, to: TEST_TOKEN, data } };
}

export async function estimate(node: PlumblineNode, { call }: Transfer): Promise<Estimate> {
  return (await node.request({ method: 'linea_estimateGas', params: [call] })) as Estimate;
}

/** Shows what the transfer costs and what it pays for. */
export async function showEstimate(node: PlumblineNode, transfer: Transfer): Promise<void> {
  const answer = await estimate(node, transfer);
  const { evidence } = await node.explainEstimate([transfer.call]);
  const gas = BigInt(answer.gasLimit);
  const perGas = BigInt(answer.baseFeePerGas) + BigInt(answer.priorityFeePerGas);
  const fixed = BigInt(evidence.prices.fixedCostWei);
  const variable = (BigInt(evidence.prices.variableCostWei) * BigInt(evidence.compressedTxSize)) / gas;
  const share = Number((1000n * variable) / (fixed + variable || 1n)) / 10;
  const bar = make('div', [make('span', ''), make('span', '')], 'bar');
  (bar.children[0] as HTMLElement).style.width = `${share}%`;
  (bar.children[1] as HTMLElement).style.width = `${100 - share}%`;
  bar.setAttribute('role', 'img');
  bar.setAttribute('aria-label', `${share} % layer-1 submission, ${(100 - share).toFixed(1)} % fixed cost`);
  const legend = make(
    'ul',
    [make('li', `layer-1 submission ${share} %`), make('li', `fixed cost ${(100 - share).toFixed(1)} %`)],
    'legend',
  );
  element('estimate-result').replaceChildren(
    facts([
      ['Gas limit', `${gas} (${evidence.gas.executed} executions, ${evidence.gas.search} search)`],
      ['Base fee', `${BigInt(answer.baseFeePerGas)} wei per gas`],
      [
        'Priority fee',
        `${formatUnits(BigInt(answer.priorityFeePerGas), 9)} gwei per gas, margin ${evidence.margin} included`,
      ],
      ['At most', `${formatUnits(gas * perGas, 18)} ETH`],
      ['Size', `${evidence.transactionBytes} bytes, ${evidence.compressedTxSize} in a blob once compressed`],
      ['Dictionary', `${evidence.dictionary.name}${evidence.dictionary.networkOwn ? '' : " (plumbline's own)"}`],
      ['Prices', evidence.pricesFromBlock === null ? 'defaults' : `header of block ${evidence.pricesFromBlock}`],
    ]),
    bar,
    legend,
  );
}

/** Signs the transfer with the dev account's key and sends it with just the estimated limit and fee. */
export async function send(node: PlumblineNode, transfer: Transfer): Promise<void> {
  const { signTransfer } = await import('./sign.js');
  const raw = await signTransfer(node, transfer, await estimate(node, transfer));
  const hash = await node.request({ method: 'eth_sendRawTransaction', params: [raw] });
  const receipt = (await node.request({ method: 'eth_getTransactionReceipt', params: [hash] })) as {
    status: Hex;
    gasUsed: Hex;
    blockNumber: Hex;
  };
  const succeeded = receipt.status === '0x1';
  element('estimate-result').append(
    make('p', succeeded ? 'The transfer succeeded.' : 'The transfer failed.', `verdict ${succeeded ? 'good' : 'bad'}`),
    facts([
      ['Block', String(Number(receipt.blockNumber))],
      ['Gas used', String(Number(receipt.gasUsed))],
    ]),
  );
}
