import { createRequire } from 'node:module';
import { Contract, ContractFactory, JsonRpcProvider, MaxUint256, NonceManager, Signature, Wallet } from 'ethers';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { DEV_ACCOUNTS } from '../../src/chain/devnet/state/dev-accounts.js';
import { Anvil, anvilPath } from '../support/anvil.js';
import { type Endpoint, openEndpoint } from './endpoint.js';

const CHAIN_ID = 59_139;
const ETHER = 10n ** 18n;
const DEADLINE = MaxUint256;

interface Artifact {
  readonly abi: [];
  readonly bytecode: string;
}

const requirePeriphery = createRequire(createRequire(import.meta.url).resolve('@uniswap/v2-periphery/package.json'));
const artifact = (name: string) => requirePeriphery(`@uniswap/${name}.json`) as Artifact;

/** Deploys Uniswap V2 with a pair, swaps through it, and takes liquidity back by a permit. @returns what came of it */
async function trade(url: string) {
  // ethers remembers answers for 250 ms; on a chain that seals at once they would be of the block before.
  const provider = new JsonRpcProvider(url, CHAIN_ID, { staticNetwork: true, cacheTimeout: -1 });
  provider.pollingInterval = 20;
  try {
    const wallet = new Wallet(DEV_ACCOUNTS[0]!.privateKey, provider);
    const manager = new NonceManager(wallet);
    const deploy = async (name: string, ...args: unknown[]): Promise<Contract> => {
      const { abi, bytecode } = artifact(name);
      const contract = await new ContractFactory(abi, bytecode, manager).deploy(...args);
      await contract.waitForDeployment();
      return new Contract(await contract.getAddress(), abi, manager);
    };
    const send = async (contract: Contract, method: string, ...args: unknown[]) => {
      // A pair writes its prices in the first swap of a second. It may pass between the estimate and the block.
      const request = await contract.getFunction(method).populateTransaction(...args);
      const gasLimit = 2n * (await manager.estimateGas(request));
      return (await (await manager.sendTransaction({ ...request, gasLimit })).wait())!;
    };

    const factory = await deploy('v2-core/build/UniswapV2Factory', wallet.address);
    const weth = await deploy('v2-periphery/build/WETH9');
    const router = await deploy('v2-periphery/build/UniswapV2Router02', factory.target, weth.target);
    const token = await deploy('v2-periphery/build/ERC20', 1_000_000n * ETHER);
    await send(token, 'approve', router.target, MaxUint256);
    const added = [token.target, 5_000n * ETHER, 0n, 0n, wallet.address, DEADLINE, { value: 10n * ETHER }];
    await send(router, 'addLiquidityETH', ...added);
    const pair = new Contract(
      await factory.getPair!(token.target, weth.target),
      artifact('v2-core/build/UniswapV2Pair').abi,
      manager,
    );

    const path = [weth.target, token.target];
    const quoted = (await router.getAmountsOut!(ETHER, path)) as bigint[];
    const before = (await token.balanceOf!(wallet.address)) as bigint;
    const swap = await send(router, 'swapExactETHForTokens', quoted[1], path, wallet.address, DEADLINE, {
      value: ETHER,
    });
    const received = ((await token.balanceOf!(wallet.address)) as bigint) - before;
    const [swapped] = await pair.queryFilter(pair.filters.Swap!(), 0);
    const refused = await router
      .swapExactETHForTokens!.staticCall(quoted[1], path, wallet.address, DEADLINE, { value: 1n })
      .catch((error: { reason: string }) => error.reason);

    // EIP-2612 as Uniswap has it, signed by ethers.
    const value = ((await pair.balanceOf!(wallet.address)) as bigint) / 2n;
    const domain = { name: 'Uniswap V2', version: '1', chainId: CHAIN_ID, verifyingContract: pair.target as string };
    const Permit = [
      { name: 'owner', type: 'address' },
      { name: 'spender', type: 'address' },
      { name: 'value', type: 'uint256' },
      { name: 'nonce', type: 'uint256' },
      { name: 'deadline', type: 'uint256' },
    ];
    const permit = { owner: wallet.address, spender: router.target, value, nonce: 0n, deadline: DEADLINE };
    const { v, r, s } = Signature.from(await wallet.signTypedData(domain, { Permit }, permit));
    const removal = [token.target, value, 0n, 0n, wallet.address, DEADLINE, false, v, r, s];
    const removed = await send(router, 'removeLiquidityETHWithPermit', ...removal);
    const [reserve0, reserve1] = (await pair.getReserves!()) as bigint[];
    return {
      places: [factory.target, weth.target, router.target, token.target, pair.target],
      quoted: [...quoted],
      received,
      swap: [swap.status, swap.logs.length, swapped !== undefined && 'args' in swapped && [...swapped.args]],
      refused,
      removed: [removed.status, removed.logs.length],
      after: [reserve0, reserve1, await pair.totalSupply!(), await pair.nonces!(wallet.address)],
    };
  } finally {
    provider.destroy();
  }
}

describe.skipIf(anvilPath() === undefined)('Uniswap V2 by ethers, with a NonceManager', () => {
  let ours: Endpoint;
  let anvil: Anvil;
  beforeAll(async () => {
    ours = await openEndpoint();
    anvil = await Anvil.start('osaka', [], { chainId: CHAIN_ID, accounts: 1 });
  });
  afterAll(async () => {
    await anvil.close();
    await ours.close();
  });

  test('is deployed, swaps and takes a permit, with the amounts that it has on anvil', async () => {
    const found = await trade(ours.http);
    expect(found).toEqual(await trade(anvil.url));
    // The formula of the Uniswap V2 Core paper, section 3.2.1: 0.3 % of what comes in.
    const paid = ETHER * 997n;
    expect(found.received).toBe((paid * 5_000n * ETHER) / (10n * ETHER * 1000n + paid));
    expect(found).toMatchObject({
      refused: 'UniswapV2Router: INSUFFICIENT_OUTPUT_AMOUNT',
      removed: [1, expect.any(Number)],
    });
  });
});
