/** Shows a balance, what a transfer will do, and what it costs. All three are answered in the page. */
import { createNode } from 'plumbline-l2';
import { lineaActions, previewActions } from 'plumbline-l2/viem';
import { createPublicClient, custom, formatEther, parseEther } from 'viem';

// A devnet needs no endpoint. For Linea:
// createNode({ chain: { kind: 'light', network: linea, endpoints: ['https://…'], layerOne: ['https://…'] } })
const node = await createNode();
const client = createPublicClient({ transport: custom(node) })
  .extend(lineaActions())
  .extend(previewActions(node));

/** How far the last answer can be trusted. @see docs/security.md of plumbline */
let level;
node.on('answer', (report) => {
  level = report.level ?? report.class;
});

const [account, other] = await node.request({ method: 'eth_accounts' });
const form = document.querySelector('form');
const status = document.querySelector('[role=status]');
const changes = document.querySelector('#changes');
form.elements.to.value = other;

const balance = await client.getBalance({ address: account });
document.querySelector('#balance').textContent = `${formatEther(balance)} ETH (${level})`;

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  changes.replaceChildren();
  status.textContent = 'Running it in the page …';
  try {
    const call = { account, to: form.elements.to.value, value: parseEther(form.elements.ether.value) };
    const [fees, preview] = await Promise.all([client.estimateLineaFees(call), client.previewTransaction(call)]);
    status.textContent = `Costs at most ${formatEther(fees.totalFee)} ETH. It will ${preview.calls[0].status === 'success' ? 'succeed' : 'fail'}.`;
    for (const { account: whose, asset, change } of preview.balances)
      if (asset.kind === 'native' && change !== null) {
        const item = document.createElement('li');
        item.textContent = `${whose}: ${formatEther(BigInt(change))} ETH`;
        changes.append(item);
      }
  } catch (error) {
    status.textContent = error.shortMessage ?? error.message;
  }
});
