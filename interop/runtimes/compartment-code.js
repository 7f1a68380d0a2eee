// What a Snap or a package under LavaMoat would ask, as one file of CommonJS.
import { createInlineNode, devnet } from 'plumbline-l2/inline';

/** @param url - of a devnet to read as a light node; empty: a devnet here */
export async function run(url) {
  const endpoints = [url];
  const chain = { kind: 'light', network: devnet(), endpoints, layerOne: [`${url}/l1`] };
  const node = await createInlineNode(url === '' ? {} : { chain });
  const ask = (method, ...params) => node.request({ method, params });
  const [from, to] = ['0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266', '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'];
  const { gasLimit } = await ask('linea_estimateGas', { from, to, value: '0x1' });
  const { balances } = await node.previewTransaction({ from, to, value: '0x1' });
  const got = balances.find(({ account }) => account === to);
  const { accountProof } = await ask('linea_getProof', to, [], 'latest');
  await node.close();
  return { gasLimit, lost: String(-BigInt(got.change)), proved: accountProof.proof !== undefined };
}
