/** Gives Kohaku's provider a node, so that what Kohaku asks is computed or proved here. */
import { raw } from '@kohaku-eth/provider/raw';
import { createInlineNode } from 'plumbline-l2/inline';

// A devnet needs no endpoint. For Linea:
// createInlineNode({ chain: { kind: 'light', network: linea, endpoints: ['https://…'], layerOne: ['https://…'] } })
const node = await createInlineNode();
/** The node is an EIP-1193 provider, which is all that `raw` asks for. */
const provider = raw(node);

/** How far the last answer can be trusted. @see docs/security.md of plumbline */
let level;
node.on('answer', (report) => {
  level = report.level ?? report.class;
});

const [account, other] = await provider.request({ method: 'eth_accounts' });
const balance = await provider.getBalance(account);
console.log(`chain ${await provider.getChainId()}`);
console.log(`balance ${balance} wei (${level})`);

// What Kohaku has no function for is asked of the node: what a transfer will do, before it is signed.
const transfer = { from: account, to: other, value: '0xde0b6b3a7640000' };
const { balances, warnings } = await node.previewTransaction(transfer);
for (const { account: whose, asset, told } of balances)
  if (asset.kind === 'native' && whose === other) console.log(`${whose} gets ${told} wei`);
for (const { severity, code } of warnings) console.log(`${severity}: ${code}`);

await node.close();
