/** Shows a balance and what a transfer costs, sends it, and shows the balance again. The node in the page answers all of it. */
import { BrowserProvider, formatEther, parseEther, toBeHex } from 'ethers';
import { createNode } from 'plumbline-l2';

// A devnet needs no endpoint, and signs for its accounts. For Linea:
// createNode({ chain: { kind: 'light', network: linea, endpoints: ['https://…'], layerOne: ['https://…'] } })
// ethers would repeat an answer for 250 ms; the node in the page answers as fast.
const provider = new BrowserProvider(await createNode(), undefined, { cacheTimeout: -1 });
const signer = await provider.getSigner();
const [, other] = await provider.send('eth_accounts', []);
const form = document.querySelector('form');
const status = document.querySelector('[role=status]');
form.elements.to.value = other;

async function showBalance() {
  document.querySelector('#balance').textContent = `${formatEther(await provider.getBalance(signer.address))} ETH`;
}
await showBalance();

form.addEventListener('submit', async (event) => {
  event.preventDefault();
  try {
    const call = { to: form.elements.to.value, value: parseEther(form.elements.ether.value) };
    const fee = await provider.send('linea_estimateGas', [
      { from: signer.address, to: call.to, value: toBeHex(call.value) },
    ]);
    const maxPriorityFeePerGas = BigInt(fee.priorityFeePerGas);
    const maxFeePerGas = BigInt(fee.baseFeePerGas) + maxPriorityFeePerGas;
    const limits = { gasLimit: BigInt(fee.gasLimit), maxPriorityFeePerGas, maxFeePerGas };
    const sent = await signer.sendTransaction({ ...call, ...limits });
    const receipt = await sent.wait();
    status.textContent = `In block ${receipt.blockNumber}, for ${formatEther(receipt.fee)} of at most ${formatEther(limits.gasLimit * maxFeePerGas)} ETH.`;
    await showBalance();
  } catch (error) {
    status.textContent = error.shortMessage ?? error.message;
  }
});
