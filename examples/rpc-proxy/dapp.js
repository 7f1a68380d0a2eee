/** A dapp as it was: it knows an RPC URL and nothing of plumbline. */
import { createPublicClient, http } from 'viem';

const client = createPublicClient({
  transport: http('/rpc', {
    onFetchResponse: (response) => {
      answers = response.headers.get('plumbline-answers');
    },
  }),
});
/** What the proxy says of the last answer: `proved`, `computed`, `held` or `forwarded`. */
let answers;

const [account] = await client.request({ method: 'eth_accounts' });
const chain = await client.getChainId();
const gas = await client.estimateGas({ account, to: account, value: 1n });
// Nothing was asked since: it is the class of the estimate.
document.querySelector('[role=status]').textContent = `Chain ${chain}; a transfer takes ${gas} gas (${answers}).`;
