// 500 generated transactions on geth, over the fork to Amsterdam: what they do, cost and leave behind is compared with a light node that
// executes them again, and with a devnet that imports the blocks.
import assert from 'node:assert/strict';
import { privateKeyToAccount } from 'viem/accounts';
import { FIRST_TIME } from '../execution-genesis.mjs';
import { check, hex } from '../lib.mjs';
import { accountsOf, assertSame, light, open, profile } from '../over-client.mjs';
import { ENTRY, programCall } from './programs.mjs';

const NAME = 'geth 1.17.10 over Amsterdam';
const COUNT = 500;
/** Transactions of a block. */
const AT_ONCE = 10;
/** Blocks before the fork. */
const BEFORE = 15;
const BLOBS = { target: 6, max: 9, baseFeeUpdateFraction: 5_007_716n };

/** Init code that leaves this code. */
function initOf(code) {
  const length = (code.length - 2) / 2;
  return `0x61${length.toString(16).padStart(4, '0')}80600a5f395ff3${code.slice(2)}`.replace('600a', '600a');
}

/** A transaction of a kind that goes by its number. @param deployed - addresses of contracts */
function transactionOf(at, deployed, delegate) {
  const program = programCall(at + 50_000);
  const target = deployed[at % Math.max(1, deployed.length)] ?? ENTRY;
  const call = { to: target, data: program.data, gas: 400_000n + BigInt((at * 7_919) % 600_000) };
  const fees = { maxFeePerGas: 20_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };
  switch (at % 10) {
    case 0:
    case 1:
      return { ...fees, type: 'eip1559', data: initOf(program.overrides[ENTRY].code), gas: 3_000_000n };
    case 2:
      return {
        ...fees,
        type: 'eip1559',
        to: `0x${(at + 0xabc000).toString(16).padStart(40, '0')}`,
        value: 5n,
        gas: 250_000n,
      };
    case 3:
      return {
        type: 'legacy',
        gasPrice: 20_000_000_000n,
        to: `0x${(at % 7).toString(16).padStart(39, 'd')}f`,
        value: 1n,
        gas: 300_000n,
      };
    case 4:
      return {
        type: 'eip2930',
        gasPrice: 20_000_000_000n,
        ...call,
        accessList: [
          { address: target, storageKeys: [hex(0), hex(1)].map((slot) => `0x${slot.slice(2).padStart(64, '0')}`) },
        ],
      };
    case 5:
      return { ...fees, type: 'eip7702', ...call, authorizationList: [delegate(at, target)] };
    default:
      return { ...fees, type: 'eip1559', ...call, value: at % 4 === 0 ? 1n : 0n };
  }
}

/** @param startGeth - starts a geth of its own */
export async function amsterdam(startGeth, chainId) {
  const amsterdamTime = FIRST_TIME + BEFORE;
  // Programs call one another at these addresses.
  const { overrides } = programCall(4_242);
  const alloc = Object.fromEntries(
    Object.entries(overrides).map(([address, { code, nonce }]) => [address, { balance: hex(9), nonce, code }]),
  );
  const client = await startGeth([], 'osaka', { amsterdamTime, alloc });
  const forks = [
    { hardfork: 'osaka', block: 0, timestamp: 0, blobs: BLOBS },
    { hardfork: 'amsterdam', timestamp: amsterdamTime, blobs: BLOBS },
  ];
  const network = profile({ name: 'geth', slotSeconds: 1, chainId, gasSearch: 'geth', forks });
  const lit = await light(network, [client.url], { headMaxAgeMs: 0 });
  const [sender] = accountsOf(privateKeyToAccount);
  const authorities = Array.from({ length: 8 }, (_, at) =>
    privateKeyToAccount(
      hex(0xa11ce + at)
        .replace('0x', '0x')
        .padEnd(66, '1'),
    ),
  );
  const used = new Map();
  const deployed = [];
  const sent = [];
  const estimates = { same: 0, refused: 0 };
  await check(`${NAME}: ${COUNT} transactions, and estimates of 100 calls on the way`, async () => {
    let nonce = Number(await client.ask('eth_getTransactionCount', sender.address, 'latest'));
    for (let at = 0; at < COUNT; at++) {
      const delegate = (number, address) => {
        const authority = authorities[number % authorities.length];
        const next = used.get(authority) ?? 0;
        used.set(authority, next + 1);
        return { authority, address, nonce: next };
      };
      const { authorizationList, ...transaction } = transactionOf(at, deployed, delegate);
      const signedList =
        authorizationList &&
        (await Promise.all(
          authorizationList.map(({ authority, address, nonce }) =>
            authority.signAuthorization({ chainId, address, nonce }),
          ),
        ));
      if (at % 5 === 0) {
        const { to, data, value = 0n } = transaction;
        const call = { from: sender.address, ...(to && { to }), ...(data && { data }), value: hex(value) };
        const [ours, theirs] = await Promise.all(
          [lit, client].map(({ ask }) => ask('eth_estimateGas', call).catch(() => 'refused')),
        );
        // Shortly before the fork ours is the larger of both forks' limits; geth's is that of the fork in force.
        const isBefore = Math.floor(at / AT_ONCE) <= BEFORE;
        if (isBefore && theirs !== 'refused')
          assert(BigInt(ours) >= BigInt(theirs), `estimate ${at}: ${ours}, ${theirs}`);
        else assert.equal(ours, theirs, `estimate ${at}`);
        estimates[theirs === 'refused' ? 'refused' : 'same']++;
      }
      const raw = await sender.signTransaction({
        chainId,
        nonce: nonce++,
        ...transaction,
        ...(signedList && { authorizationList: signedList }),
      });
      sent.push(await client.ask('eth_sendRawTransaction', raw));
      if ((at + 1) % AT_ONCE !== 0) continue;
      const hash = await client.mine();
      for (const { contractAddress, status } of await client.ask('eth_getBlockReceipts', hash))
        if (contractAddress && status === '0x1' && deployed.length < 60) deployed.push(contractAddress);
    }
    assert(estimates.same > 50, JSON.stringify(estimates));
  });
  const newest = Number(await client.ask('eth_blockNumber'));
  const receipts = [];
  await check(`${NAME}: receipts and blocks of ${newest} blocks, by a light node`, async () => {
    for (let number = 1; number <= newest; number++) {
      const [ours, theirs] = await Promise.all(
        [lit, client].map(({ ask }) => ask('eth_getBlockReceipts', hex(number))),
      );
      assertSame(ours, theirs, [], `receipts of ${number}`);
      receipts.push(...theirs);
      const blocks = await Promise.all([lit, client].map(({ ask }) => ask('eth_getBlockByNumber', hex(number), true)));
      assertSame(blocks[0], blocks[1], ['totalDifficulty', 'yParity', 'v'], `block ${number}`);
    }
    const ends = { '0x0': 0, '0x1': 0 };
    for (const { status } of receipts) ends[status]++;
    assert(receipts.length >= COUNT && ends['0x0'] > 20 && ends['0x1'] > 200, JSON.stringify(ends));
    console.log(`   ${receipts.length} receipts: ${JSON.stringify(ends)}`);
  });
  await check(`${NAME}: a devnet imports the blocks, by roots, both sums of gas and access lists`, async () => {
    const raw = [];
    for (let number = 1; number <= newest; number++) raw.push(await client.ask('debug_getRawBlock', hex(number)));
    const importBlocks = Uint8Array.from(Buffer.from(raw.map((block) => block.slice(2)).join(''), 'hex'));
    const dev = await open({ chain: { kind: 'devnet', genesis: client.genesis, importBlocks } });
    assert.equal(Number(await dev.ask('eth_blockNumber')), newest);
    for (const number of [BEFORE, BEFORE + 1, newest]) {
      const [ours, theirs] = await Promise.all(
        [dev, client].map(({ ask }) => ask('eth_getBlockByNumber', hex(number), false)),
      );
      assert.equal(ours.hash, theirs.hash);
    }
    const [own, other] = await Promise.all(
      [dev, client].map(({ ask }) => ask('eth_getBalance', sender.address, 'latest')),
    );
    assert.equal(own, other);
    const { blockAccessListHash } = await client.ask('eth_getBlockByNumber', hex(newest), false);
    assert.match(blockAccessListHash, /^0x[0-9a-f]{64}$/);
  });
  await check(`${NAME}: traces of 120 transactions by two tracers`, async () => {
    const some = sent.filter((_, at) => at % 4 === 0).slice(0, 120);
    for (const hash of some)
      for (const options of [{ tracer: 'callTracer', tracerConfig: { withLog: true } }, {}]) {
        const [ours, theirs] = await Promise.all(
          [lit, client].map(({ ask }) => ask('debug_traceTransaction', hash, options)),
        );
        assertSame(ours, theirs, ['error'], `${hash} ${options.tracer ?? 'list of instructions'}`);
      }
  });
}
