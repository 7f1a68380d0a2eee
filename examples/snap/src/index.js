import { Banner, Box, Copyable, Heading, Text } from '@metamask/snaps-sdk/jsx';
import { createInlineNode, NETWORKS } from 'plumbline-l2/inline';
import { ENDPOINTS } from './config.js';

const nodes = new Map();

/** The light node of a chain, opened with the first question about it. */
async function nodeOf(chainId) {
  const { network, endpoints, layerOne } = ENDPOINTS[Number(chainId)] ?? {};
  if (endpoints === undefined) return undefined;
  const chain = { kind: 'light', network: NETWORKS[network], endpoints, layerOne };
  const opened = nodes.get(chainId) ?? createInlineNode({ chain });
  nodes.set(chainId, opened);
  return opened.catch((error) => {
    nodes.delete(chainId);
    throw error;
  });
}

/** MetaMask asks before it shows a transaction. The answer stands beside it. */
export async function onTransaction({ transaction, chainId }) {
  const { from, to, value, data, gas, maxFeePerGas, maxPriorityFeePerGas } = transaction;
  const call = { from, to, value, data, gas, maxFeePerGas, maxPriorityFeePerGas };
  return checkedOn(chainId.split(':')[1], async (node) => {
    const { balances, tokens, warnings, trust } = await node.previewTransaction(call);
    return { findings: warnings, lines: changesOf(from, balances, tokens), trust };
  });
}

/** The same before a signature. Typed data names its chain; a message counts on none. */
export async function onSignature({ signature, signatureOrigin }) {
  const { from, data, signatureMethod } = signature;
  if (signatureMethod === 'eth_signTypedData') return shown([Text({ children: 'This old form is not checked.' })]);
  const isTyped = signatureMethod !== 'personal_sign';
  const asked = isTyped ? { typedData: data } : { message: data };
  const chainId = (isTyped && data.domain?.chainId) || Object.keys(ENDPOINTS)[0];
  return checkedOn(chainId, async (node) => {
    const options = { account: from, origin: signatureOrigin };
    const { family, findings, effects, trust } = await node.previewSignature(asked, options);
    const kind = family === 'unknown' ? 'What this allows is not known.' : `This is of the kind ${family}.`;
    const lines = effects === null ? [] : changesOf(from, effects.balances, effects.tokens);
    return { findings, lines: [kind, ...lines], trust };
  });
}

/** Asks the light node of a chain, and says why where it cannot be asked. */
async function checkedOn(chainId, ask) {
  try {
    const node = await nodeOf(chainId);
    if (node === undefined)
      return shown([Text({ children: `There is no endpoint for chain ${chainId} in this Snap.` })]);
    const { findings, lines, trust } = await ask(node);
    const alerts = findings
      .filter(({ severity }) => severity !== 'note')
      .map(({ code, severity, ...about }) =>
        Banner({ title: code, severity, children: Text({ children: Object.values(about).map(textOf).join(', ') }) }),
      );
    const texts = lines.length === 0 ? ['No balance of yours changes.'] : lines;
    const level = `On block ${trust.block.number}, which is ${trust.level}.`;
    const isCritical = findings.some(({ severity }) => severity === 'danger');
    return shown([...alerts, ...[...texts, level].map((text) => Text({ children: text }))], isCritical);
  } catch (error) {
    return shown([Text({ children: 'This could not be checked:' }), Copyable({ value: error.message })]);
  }
}

const textOf = (value) => (typeof value === 'object' ? JSON.stringify(value) : String(value));

/** What an account loses, then what it gets. */
function changesOf(account, balances, tokens) {
  const own = balances.filter((one) => one.account === account.toLowerCase() && BigInt(one.change ?? 0) !== 0n);
  const isGain = ({ change }) => Number(BigInt(change) > 0n);
  return own.sort((a, b) => isGain(a) - isGain(b)).map((one) => changeText(one, tokens));
}

function changeText({ asset, change }, tokens) {
  const amount = BigInt(change);
  const { symbol = asset.kind === 'native' ? 'ETH' : asset.address, decimals = asset.kind === 'native' ? 18 : 0 } =
    tokens[asset.address] ?? {};
  const digits = (amount < 0n ? -amount : amount).toString().padStart(decimals + 1, '0');
  const split = digits.length - decimals;
  const fraction = digits.slice(split).replace(/0+$/, '');
  return `You ${amount < 0n ? 'lose' : 'get'} ${digits.slice(0, split)}${fraction && `.${fraction}`} ${symbol}`;
}

function shown(children, isCritical = false) {
  const content = Box({ children: [Heading({ children: 'What changes, worked out here' }), ...children] });
  return isCritical ? { content, severity: 'critical' } : { content };
}
