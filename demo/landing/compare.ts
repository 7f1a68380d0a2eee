import { createNode, DEV_ACCOUNTS, devnet, type Hex, isProviderRpcError, type PlumblineNode } from 'plumbline-l2';
import type { LineaProofJson } from 'plumbline-l2/verify';
import { SERVERS } from '../evidence/servers.js';
import { balanceIn } from '../lib/account-value.js';
import { readCall } from '../lib/calls.js';
import type { Knowledge } from '../state/requests.js';
import { ACCOUNT, lyingServer } from './lying-server.js';

interface Amounts {
  readonly balance: bigint;
  readonly fee: bigint;
}

/** What each of two clients makes of the answers of one server; amounts in wei. */
export interface Compared {
  readonly lies: boolean;
  /** As the chain in this page has it. */
  readonly truth: Amounts;
  readonly believed: Amounts;
  /** `balance`: undefined where the answer was refused, which `refused` says why. */
  readonly verified: {
    readonly balance: bigint | undefined;
    readonly refused: string | undefined;
    readonly fee: bigint;
    readonly knownBalance: Knowledge | undefined;
    readonly knownFee: Knowledge | undefined;
  };
}

interface Estimate {
  readonly gasLimit: Hex;
  readonly baseFeePerGas: Hex;
  readonly priorityFeePerGas: Hex;
}

/** A transfer of one test token. */
const TRANSFER = readCall({ kind: 'token', from: DEV_ACCOUNTS[0]!.address, to: ACCOUNT, amount: '1', data: '' });

function feeOf({ gasLimit, baseFeePerGas, priorityFeePerGas }: Estimate): bigint {
  return BigInt(gasLimit) * (BigInt(baseFeePerGas) + BigInt(priorityFeePerGas));
}

/** Asks one server twice: as clients do that show what they are told, and with a light node. */
export async function compare(chain: PlumblineNode, lies: boolean): Promise<Compared> {
  const server = lyingServer(chain, lies);
  const [truth, believed, verified] = await Promise.all([
    believe(lyingServer(chain, false)),
    believe(server),
    verify(chain, server),
  ]);
  return { lies, truth, believed, verified };
}

/** A client that shows what it is told. */
async function believe(server: typeof fetch): Promise<Amounts> {
  const ask = async <Result>(method: string, params: readonly unknown[]): Promise<Result> => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    const response = await server(SERVERS['layer-2'], { method: 'POST', body });
    return ((await response.json()) as { result: Result }).result;
  };
  return {
    balance: BigInt(await ask<Hex>('eth_getBalance', [ACCOUNT, 'finalized'])),
    fee: feeOf(await ask<Estimate>('linea_estimateGas', [TRANSFER])),
  };
}

/** A light node that has the same server, and one of layer 1. */
async function verify(chain: PlumblineNode, server: typeof fetch): Promise<Compared['verified']> {
  const network = devnet({ scheme: chain.info.hashScheme! });
  const light = await createNode({
    chain: { kind: 'light', network, endpoints: [SERVERS['layer-2']], layerOne: [SERVERS['layer-1']] },
    fetch: server,
  });
  let known: Knowledge | undefined;
  light.on('answer', (report) => {
    known = { class: report.class, level: report.level };
  });
  try {
    const estimate = (await light.request({ method: 'linea_estimateGas', params: [TRANSFER] })) as Estimate;
    const fee = { fee: feeOf(estimate), knownFee: known };
    try {
      const proof = await light.request({ method: 'linea_getProof', params: [ACCOUNT, [], 'finalized'] });
      return { ...fee, balance: balanceOf(proof as LineaProofJson), refused: undefined, knownBalance: known };
    } catch (error) {
      if (!isProviderRpcError(error, 'ANSWER_REFUSED')) throw error;
      return { ...fee, balance: undefined, refused: error.details.check, knownBalance: undefined };
    }
  } finally {
    await light.close();
  }
}

function balanceOf({ accountProof }: LineaProofJson): bigint {
  return 'proof' in accountProof ? balanceIn(accountProof.proof.value) : 0n;
}
