/** The popup: asks the background worker and shows what it says. */

/** The devnet's test token, and its method `transfer(address,uint256)`. */
const TOKEN = '0x7e57c0de00000000000000000000000000007e57';
const TRANSFER = '0xa9059cbb';

const status = document.getElementById('status');
const facts = document.getElementById('facts');
const answer = document.getElementById('answer');

/** @throws an error with the code of the JSON-RPC error */
async function ask(method, params = []) {
  const { result, error } = await chrome.runtime.sendMessage({ rpc: { method, params } });
  if (error !== undefined) throw Object.assign(new Error(error.message), { code: error.code });
  return result;
}

async function estimate() {
  const [from, to] = await ask('eth_accounts');
  const data = TRANSFER + to.slice(2).padStart(64, '0') + '1'.padStart(64, '0');
  const fees = await ask('linea_estimateGas', [{ from, to: TOKEN, data }]);
  show(
    [
      ['Gas limit', Number(fees.gasLimit).toLocaleString('en')],
      ['Base fee', `${BigInt(fees.baseFeePerGas)} wei per gas`],
      ['Priority fee', `${BigInt(fees.priorityFeePerGas).toLocaleString('en')} wei per gas`],
    ],
    fees,
  );
}

async function prove() {
  const proof = await ask('linea_getProof', [TOKEN, ['0x2'], 'latest']);
  const { leafIndex, proof: account } = proof.accountProof;
  show(
    [
      ['Account', 'the test token'],
      ['Leaf', leafIndex],
      ['Nodes', account.proofRelatedNodes.length],
    ],
    proof,
  );
}

function show(rows, json) {
  const items = rows.flatMap(([name, value]) => {
    const [term, description] = [document.createElement('dt'), document.createElement('dd')];
    term.textContent = name;
    description.textContent = String(value);
    return [term, description];
  });
  facts.replaceChildren(...items);
  answer.textContent = JSON.stringify(json, undefined, 2);
}

/** Runs one question, with the buttons off while it runs. */
async function run(question) {
  const buttons = [...document.querySelectorAll('button')];
  for (const button of buttons) button.disabled = true;
  status.textContent = 'Asking the background worker…';
  try {
    const started = performance.now();
    await question();
    status.textContent = `Answered in ${Math.round(performance.now() - started)} ms.`;
  } catch (error) {
    facts.replaceChildren();
    answer.textContent = '';
    status.textContent = `${error.message} (${error.code ?? 'no answer'})`;
  } finally {
    for (const button of buttons) button.disabled = false;
  }
}

document.getElementById('estimate').addEventListener('click', () => run(estimate));
document.getElementById('prove').addEventListener('click', () => run(prove));
