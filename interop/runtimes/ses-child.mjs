// Locks the realm down before or after the library is imported, and uses a devnet: node ses-child.mjs SETTINGS before|after
import 'ses';

const [, , settings, order] = process.argv;
const lock = () => lockdown(JSON.parse(settings));
if (order === 'before') lock();
const { createInlineNode } = await import('plumbline-l2/inline');
if (order === 'after') lock();

const node = await createInlineNode();
const ask = (method, ...params) => node.request({ method, params });
const [from, to] = await ask('eth_accounts');
const { gasLimit } = await ask('linea_estimateGas', { from, to, value: '0x1' });
const hash = await ask('eth_sendTransaction', { from, to, value: '0x1' });
const { status } = await ask('eth_getTransactionReceipt', hash);
const { accountProof } = await ask('linea_getProof', from, [], 'latest');
await node.close();
console.log(JSON.stringify({ gasLimit, status, isProved: accountProof.proof !== undefined }));
