// A genesis file for execution clients, and a stand-in for the beacon chain that has them make blocks by the engine API.
import { createHash } from 'node:crypto';
import { createInlineNode } from 'plumbline-l2/inline';
import { hex } from './lib.mjs';

/** Their code is that of a devnet: EIP-2935, EIP-4788. */
const SYSTEM_CONTRACTS = ['0x0000f90827f1c53a10cb7a02335b175320002935', '0x000f3df6d732807ef1319fb7b8bb8522d0beac02'];
/** A block is invalid without code there: EIP-7002, EIP-7251. Code that stops has no requests for the beacon chain. */
const REQUEST_CONTRACTS = ['0x00000961ef480eb55e80d19ad83579a64c007002', '0x0000bbddc7ce488642fb579f8b00f3a590007251'];
const RICH = ['0xf39fd6e51aad88f6f4ce6ab8827279cfffb92266', '0x70997970c51812dc3a010c7d01b50e0d17dc79c8'];
/** Of the first block after genesis, in seconds. */
export const FIRST_TIME = 1_790_000_000;
const ZERO_ADDRESS = `0x${'00'.repeat(20)}`;
const ZERO_HASH = `0x${'00'.repeat(32)}`;

/** Likewise from Amsterdam on: builder deposits and exits (EIP-8282). */
const BUILDER_CONTRACTS = ['0x0000bff46984e3725691fa540a8c7589300d8282', '0x000064d678505ad48f8ccb093bc65613800e8282'];

/**
 * A genesis file in geth's format, Prague or Osaka from the start. The system contracts are those of a devnet, with nonce 1.
 *
 * @param amsterdamTime - when Amsterdam begins, in seconds; never when left out
 */
export async function testGenesis(chainId, hardfork = 'prague', amsterdamTime = undefined) {
  const alloc = {};
  const node = await createInlineNode();
  for (const address of SYSTEM_CONTRACTS) {
    const code = await node.request({ method: 'eth_getCode', params: [address, 'latest'] });
    if (code === '0x') throw new Error(`a devnet has no code at ${address}`);
    alloc[address] = { balance: '0x0', nonce: '0x1', code };
  }
  await node.close();
  const queues = [...REQUEST_CONTRACTS, ...(amsterdamTime === undefined ? [] : BUILDER_CONTRACTS)];
  for (const address of queues) alloc[address] = { balance: '0x0', nonce: '0x1', code: '0x00' };
  for (const address of RICH) alloc[address] = { balance: hex(10n ** 22n) };
  const byBlock = 'homestead eip150 eip155 eip158 byzantium constantinople petersburg istanbul berlin london'.split(
    ' ',
  );
  const cancun = { target: 3, max: 6, baseFeeUpdateFraction: 3_338_477 };
  const prague = { target: 6, max: 9, baseFeeUpdateFraction: 5_007_716 };
  return {
    config: {
      chainId,
      ...Object.fromEntries(byBlock.map((name) => [`${name}Block`, 0])),
      terminalTotalDifficulty: 0,
      terminalTotalDifficultyPassed: true,
      depositContractAddress: '0x00000000219ab540356cbb839cbe05303d7705fa',
      shanghaiTime: 0,
      cancunTime: 0,
      pragueTime: 0,
      ...(hardfork === 'osaka' ? { osakaTime: 0 } : {}),
      ...(amsterdamTime === undefined ? {} : { amsterdamTime }),
      blobSchedule: {
        cancun,
        prague,
        ...(hardfork === 'osaka' ? { osaka: prague } : {}),
        ...(amsterdamTime === undefined ? {} : { amsterdam: prague }),
      },
    },
    nonce: '0x0',
    timestamp: '0x0',
    extraData: '0x',
    gasLimit: '0x1c9c380',
    difficulty: '0x0',
    mixHash: ZERO_HASH,
    coinbase: ZERO_ADDRESS,
    alloc,
    number: '0x0',
    gasUsed: '0x0',
    parentHash: ZERO_HASH,
    baseFeePerGas: '0x3b9aca00',
    excessBlobGas: '0x0',
    blobGasUsed: '0x0',
  };
}

/** The hash of a blob that a transaction has, of its commitment. @source EIP-4844 */
export function versionedHash(commitment) {
  const digest = createHash('sha256')
    .update(Buffer.from(commitment.slice(2), 'hex'))
    .digest('hex');
  return `0x01${digest.slice(2)}`;
}

/**
 * Makes blocks by the engine API.
 *
 * @returns a function that makes a block, on the newest one or on the one of this hash, and gives its hash
 */
export function engineMiner(client, engine, hardfork = 'prague', amsterdamTime = Number.POSITIVE_INFINITY) {
  return async (parentHash) => {
    const parent =
      parentHash === undefined
        ? await client.ask('eth_getBlockByNumber', 'latest', false)
        : await client.ask('eth_getBlockByHash', parentHash, false);
    const state = (headBlockHash) => ({ headBlockHash, safeBlockHash: ZERO_HASH, finalizedBlockHash: ZERO_HASH });
    const time = Math.max(Number(parent.timestamp) + 1, FIRST_TIME);
    const isAmsterdam = time >= amsterdamTime;
    const [update, newPayload] = isAmsterdam
      ? ['engine_forkchoiceUpdatedV4', 'engine_newPayloadV5']
      : ['engine_forkchoiceUpdatedV3', 'engine_newPayloadV4'];
    const getPayload = `engine_getPayloadV${isAmsterdam ? 6 : hardfork === 'osaka' ? 5 : 4}`;
    const attributes = {
      timestamp: hex(time),
      // Another block on a parent that has one must differ from it.
      prevRandao: parentHash === undefined ? ZERO_HASH : `0x${'11'.repeat(32)}`,
      suggestedFeeRecipient: ZERO_ADDRESS,
      withdrawals: [],
      parentBeaconBlockRoot: ZERO_HASH,
      ...(isAmsterdam ? { slotNumber: hex(time - FIRST_TIME), targetGasLimit: parent.gasLimit } : {}),
    };
    const { payloadId } = await engine.ask(update, state(parent.hash), attributes);
    if (!payloadId) throw new Error('no payload was begun');
    await new Promise((resolve) => setTimeout(resolve, 100)); // the time in which it takes transactions
    const built = await engine.ask(getPayload, payloadId);
    const { executionPayload, executionRequests = [], blobsBundle } = built;
    const hashes = (blobsBundle?.commitments ?? []).map(versionedHash);
    const { status, validationError } = await engine.ask(
      newPayload,
      executionPayload,
      hashes,
      ZERO_HASH,
      executionRequests,
    );
    if (status !== 'VALID') throw new Error(`the new block is ${status}: ${validationError}`);
    await engine.ask(update, state(executionPayload.blockHash), null);
    return executionPayload.blockHash;
  };
}
