import { createNode, type Hex, type PlumblineNode } from 'plumbline';
import { busy, element, make, showFailure } from './dom.js';
import { showProof } from './proof.js';
import { askThroughProxy } from './proxy.js';
import { fillAccounts, readTransfer, send, showEstimate } from './transfer.js';

const BUTTONS = ['mine', 'estimate', 'send', 'prove', 'forge'];

async function showChain(node: PlumblineNode): Promise<void> {
  const number = async (tag: string) => {
    const block = (await node.request({ method: 'eth_getBlockByNumber', params: [tag, false] })) as { number: Hex };
    return String(Number(block.number));
  };
  const rows: [string, string][] = [
    ['Network', `${node.info.networkName}, chain id ${node.info.chainId}`],
    ['Head', `block ${await number('latest')}`],
    ['Finalized', `block ${await number('finalized')}`],
    ['Zk state', node.info.hashScheme],
    ['Kernels', `WebAssembly, ${node.info.kernelBuild}`],
  ];
  const list = element('chain');
  list.replaceChildren(...rows.flatMap(([name, value]) => [make('dt', name), make('dd', value)]));
  list.hidden = false;
}

function wire(node: PlumblineNode): void {
  const on = (id: string, work: () => Promise<void>) => {
    const button = element<HTMLButtonElement>(id);
    button.addEventListener('click', () =>
      busy(button, async () => {
        await work();
        await showChain(node);
      }),
    );
  };
  on('mine', async () => {
    await node.request({ method: 'evm_mine' });
  });
  on('send', () => send(node, readTransfer()));
  on('prove', () => showProof(node, readTransfer().to, false));
  on('forge', () => showProof(node, readTransfer().to, true));
  element<HTMLFormElement>('transfer').addEventListener('submit', (event) => {
    event.preventDefault();
    void busy(element<HTMLButtonElement>('estimate'), () => showEstimate(node, readTransfer()));
  });
  for (const id of BUTTONS) element<HTMLButtonElement>(id).disabled = false;
}

async function start(): Promise<void> {
  const status = element('status');
  const proxyButton = element<HTMLButtonElement>('proxy');
  fillAccounts();
  proxyButton.addEventListener('click', () => busy(proxyButton, askThroughProxy));
  let running = false;
  try {
    const node = await createNode({
      storeName: 'plumbline-demo',
      onProgress: ({ stage, fraction }) => {
        // The state of a stored devnet goes on loading behind a node that answers already.
        if (!running) status.textContent = `Starting: ${stage} ${Math.round(fraction * 100)} %`;
      },
    });
    node.on('disconnect', (error) => {
      status.textContent = 'Stopped.';
      showFailure(error);
    });
    wire(node);
    await showChain(node);
    running = true;
    status.textContent = 'Running in a worker of this page; it survives a reload.';
  } catch (error) {
    status.textContent = 'The node did not start.';
    showFailure(error);
  }
}

void start();
