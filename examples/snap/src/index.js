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
  const id = chainId.split(':')[1];
  return insight(id, (node) => node.previewTransaction(call), from);
}

async function insight(chainId, preview, account) {
  const node = await nodeOf(chainId);
  if (node === undefined) return shown([Text({ children: `There is no endpoint for chain ${chainId} in this Snap.` })]);
  try {
    const { balances, tokens = {}, warnings, trust } = await preview(node);
    const own = balances.filter((one) => one.account === account.toLowerCase() && BigInt(one.change ?? 0) !== 0n);
    const lines = own
      .sort((a, b) => Number(BigInt(a.change) > 0n) - Number(BigInt(b.change) > 0n))
      .map((one) => Text({ children: changeText(one, tokens) }));
    const alerts = warnings
      .filter(({ severity }) => severity !== 'note')
      .map((warning) =>
        Banner({
          title: warning.code,
          severity: warning.severity === 'danger' ? 'danger' : 'warning',
          children: Text({ children: JSON.stringify(warning) }),
        }),
      );
    const level = Text({ children: `On block ${trust.block.number}, which is ${trust.level}.` });
    const nothing = Text({ children: 'No balance of yours changes.' });
    return shown(
      [...alerts, ...(lines.length === 0 ? [nothing] : lines), level],
      warnings.some(({ severity }) => severity === 'danger'),
    );
  } catch (error) {
    return shown([Text({ children: 'This could not be checked:' }), Copyable({ value: error.message })]);
  }
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
