import { DEV_ACCOUNTS, type Hex, type PlumblineNode } from 'plumbline-l2';
import { devnetIn, SERVERS, serversOver } from '../evidence/servers.js';
import { balanceIn, withBalance } from '../lib/account-value.js';

/** Whose balance the server lies about. */
export const ACCOUNT = DEV_ACCOUNTS[1]!.address;

/** A million ETH more than there is. */
const MORE = 10n ** 24n;
const TIMES = 1000n;

const quantity = (value: bigint): Hex => `0x${value.toString(16)}`;

interface Call {
  readonly method: string;
  readonly params: readonly unknown[];
}

/** What the server makes of a right answer, by method. */
const LIES: Readonly<Record<string, (result: never, params: readonly unknown[]) => unknown>> = {
  eth_getBalance: (balance: Hex, [account]) => (account === ACCOUNT ? quantity(BigInt(balance) + MORE) : balance),
  linea_getProof: (answer: { accountProof: { proof?: { value: Hex } } }, [account]) => {
    const { proof } = answer.accountProof;
    if (account === ACCOUNT && proof !== undefined)
      proof.value = withBalance(proof.value, balanceIn(proof.value) + MORE);
    return answer;
  },
  linea_estimateGas: (estimate: { priorityFeePerGas: Hex }) => ({
    ...estimate,
    priorityFeePerGas: quantity(BigInt(estimate.priorityFeePerGas) * TIMES),
  }),
};

/** A server of layer 2 and an honest one of layer 1, as a `fetch`. Requests do not leave the page: a devnet answers them. */
export function lyingServer(chain: PlumblineNode, lies: boolean): typeof fetch {
  const honest = serversOver(devnetIn(chain), new Map());
  return async (input, init) => {
    const response = await honest(input, init);
    if (!lies || new URL(String(input)).origin !== SERVERS['layer-2']) return response;
    const [calls, replies] = [JSON.parse(String(init?.body)), await response.json()] as
      | [Call, Reply]
      | [Call[], Reply[]];
    if (!Array.isArray(calls)) return Response.json(lied(calls, replies as Reply));
    return Response.json((replies as Reply[]).map((reply, i) => lied(calls[i]!, reply)));
  };
}

interface Reply {
  readonly result?: unknown;
}

function lied({ method, params }: Call, reply: Reply): Reply {
  const lie = LIES[method];
  return lie === undefined || reply.result === undefined
    ? reply
    : { ...reply, result: lie(reply.result as never, params) };
}
