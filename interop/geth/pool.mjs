// What a light node of a layer 1 says of a transaction before it is sent, beside what geth's pool and its next block do with it.
import assert from 'node:assert/strict';
import { ethereum } from 'plumbline-l2';
import { fromRlp, toRlp } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import { FIRST_TIME, versionedHash } from '../execution-genesis.mjs';
import { check, hex } from '../lib.mjs';
import { followed, light } from '../over-client.mjs';

const NAME = 'geth 1.17.10, a diagnosis';
const BLOBS = { target: 6, max: 9, baseFeeUpdateFraction: 5_007_716n };
const GWEI = 10n ** 9n;
/** Of the first blocks at least: genesis has a gwei. */
const FEES = { maxFeePerGas: 5n * GWEI, maxPriorityFeePerGas: GWEI };
const NOBODY = `0x${'aa'.repeat(20)}`;
const INFINITY = `0xc0${'00'.repeat(47)}`;
/** Accounts of the cases, each with 10 ether; the last is delegated. */
const ACCOUNTS = Array.from({ length: 40 }, (_, i) =>
  privateKeyToAccount(
    `0x${hex(i + 1_000)
      .slice(2)
      .padStart(64, '0')}`,
  ),
);
const DELEGATED = ACCOUNTS.at(-1);

const { layerOne: _, ...rules } = ethereum;
const networkOf = (chainId, forks) => ({ ...rules, name: 'geth', chainId, forks, slotSeconds: 12 });

/** With a blob of zeros, in the form of EIP-7594, which viem 2.57.1 does not write. */
async function signed(account, chainId, { blobs = 0, bare = false, ...fields }) {
  const transaction = { type: 'eip1559', chainId, nonce: 0, to: NOBODY, value: 1n, gas: 21_000n, ...FEES, ...fields };
  if (fields.gasPrice !== undefined) {
    delete transaction.maxFeePerGas;
    delete transaction.maxPriorityFeePerGas;
    return account.signTransaction({ ...transaction, type: 'legacy' });
  }
  if (blobs === 0) return account.signTransaction(transaction);
  const list = (value) => Array(blobs).fill(value);
  const blobVersionedHashes = list(versionedHash(INFINITY));
  const raw = await account.signTransaction({
    maxFeePerBlobGas: GWEI,
    ...transaction,
    type: 'eip4844',
    blobVersionedHashes,
  });
  if (bare) return raw;
  const sidecar = ['0x01', list(`0x${'00'.repeat(131_072)}`), list(INFINITY), Array(128 * blobs).fill(INFINITY)];
  return `0x03${toRlp([fromRlp(`0x${raw.slice(4)}`), ...sidecar]).slice(2)}`;
}

/** Twice each price of a transaction with blobs, the last of them less a few wei. */
const doubled = (less) => ({
  maxFeePerGas: 10n * GWEI,
  maxPriorityFeePerGas: 2n * GWEI,
  maxFeePerBlobGas: 2n * GWEI - less,
});

const bytes = (count) => `0x${'00'.repeat(count)}`;

/** What is sent before, through the light node, and then; the checks that fail. */
const CASES = [
  ['a transfer', [], {}, []],
  ['a call of a precompile', [], { to: `0x${'4'.padStart(40, '0')}`, gas: 30_000n }, []],
  ['a price below the base fee', [], { maxFeePerGas: 1_000n, maxPriorityFeePerGas: 1n }, ['fee-cap']],
  ['an older price below it', [], { gasPrice: 1_000n }, ['fee-cap']],
  ['no priority fee', [], { maxPriorityFeePerGas: 0n }, ['least-price', 'builder-tip']],
  ['a priority fee of a wei', [], { maxPriorityFeePerGas: 1n }, ['builder-tip']],
  ['a priority fee of 0.001 gwei', [], { maxPriorityFeePerGas: 1_000_000n }, []],
  ['a nonce above the next', [], { nonce: 1 }, ['nonce-gap']],
  ['a nonce far above', [], { nonce: 5_000 }, ['nonce-gap']],
  ['a value above the balance', [], { value: 10n ** 19n }, ['funds']],
  ['too little gas', [], { gas: 20_999n }, ['gas-minimum']],
  ['less than the floor of its data', [], { data: bytes(1_000), gas: 30_999n }, ['gas-minimum']],
  ['the floor of its data', [], { data: bytes(1_000), gas: 31_000n }, []],
  ['gas above 2^24', [], { gas: 2n ** 24n + 1n, maxFeePerGas: 2n * GWEI }, ['gas-cap']],
  ['gas above that of a block', [], { gas: 40_000_000n, maxFeePerGas: 2n * GWEI }, ['gas-cap', 'block-gas-limit']],
  ['too much init code', [], { to: null, value: 0n, data: bytes(49_153), gas: 2_000_000n }, ['init-code']],
  ['130 900 bytes of data', [], { data: bytes(130_900), gas: 2_000_000n }, []],
  ['131 000 bytes of data', [], { data: bytes(131_000), gas: 2_000_000n }, ['size']],
  ['a replacement', [{}], { value: 2n, maxFeePerGas: 55n * 10n ** 8n, maxPriorityFeePerGas: 11n * 10n ** 8n }, []],
  [
    'a replacement for a wei less',
    [{}],
    { value: 2n, maxFeePerGas: 55n * 10n ** 8n, maxPriorityFeePerGas: 11n * 10n ** 8n - 1n },
    ['replacement'],
  ],
  [
    'a replacement where the tenth is rounded',
    [{ maxPriorityFeePerGas: 19n }],
    { value: 2n, maxFeePerGas: 6n * GWEI, maxPriorityFeePerGas: 20n },
    ['builder-tip'],
  ],
  ['the next after one that leaves enough', [{ value: 6n * 10n ** 18n }], { nonce: 1, value: 3n * 10n ** 18n }, []],
  [
    'the next after one that leaves too little',
    [{ value: 6n * 10n ** 18n }],
    { nonce: 1, value: 4n * 10n ** 18n },
    ['funds'],
  ],
  ['a blob', [], { blobs: 1 }, []],
  ['six blobs', [], { blobs: 6 }, []],
  ['seven blobs', [], { blobs: 7 }, ['blobs']],
  ['the hash of a blob alone', [], { blobs: 1, bare: true }, ['sidecar']],
  ['a blob for nothing', [], { blobs: 1, maxFeePerBlobGas: 0n }, ['least-price', 'blob-fee-cap']],
  ['a blob after a gap', [], { blobs: 1, nonce: 2 }, ['blob-nonce', 'nonce-gap']],
  ['a replacement of a blob', [{ blobs: 1 }], { blobs: 1, value: 2n, ...doubled(0n) }, []],
  ['a replacement of a blob for a wei less', [{ blobs: 1 }], { blobs: 1, value: 2n, ...doubled(1n) }, ['replacement']],
  ['a blob beside a transfer', [{}], { blobs: 1, nonce: 1 }, ['other-pool']],
];

/** @param startGeth - starts a geth of its own */
export async function pool(startGeth, chainId) {
  assert(CASES.length < ACCOUNTS.length);
  const alloc = Object.fromEntries(ACCOUNTS.map(({ address }) => [address, { balance: hex(10n ** 19n) }]));
  alloc[DELEGATED.address].code = `0xef0100${NOBODY.slice(2)}`;
  // It would keep a refused transaction of a delegated account for later.
  const client = await startGeth(['--txpool.nolocals'], 'osaka', { alloc });
  const network = networkOf(chainId, [{ hardfork: 'osaka', block: 0, timestamp: 0, blobs: BLOBS }]);
  const lit = await light(network, [client.url]);
  await client.mine();
  await followed(lit, client, ACCOUNTS[0].address);
  const sent = [];
  const judge = async (what, account, before, fields, checks) => {
    for (const first of before) await lit.ask('eth_sendRawTransaction', await signed(account, chainId, first));
    const raw = await signed(account, chainId, fields);
    const { verdict, checks: made, hash } = await lit.node.diagnoseTransaction(raw);
    const failing = made.filter(({ outcome }) => outcome === 'fails').map(({ check: name }) => name);
    const answer = await client.ask('eth_sendRawTransaction', raw).catch((error) => error);
    assert.deepEqual(failing, checks);
    assert.equal(
      answer instanceof Error,
      verdict === 'will-be-refused',
      `${verdict}, geth: ${answer.message ?? 'takes it'}`,
    );
    if (!(answer instanceof Error)) sent.push({ what, hash, verdict });
  };
  for (const [at, [what, before, fields, checks]] of CASES.entries())
    await check(`${NAME}: ${what}`, () => judge(what, ACCOUNTS[at], before, fields, checks));
  await check(`${NAME}: the second of a delegated account`, () =>
    judge('the second of a delegated account', DELEGATED, [], { nonce: 1 }, ['delegated-sender', 'nonce-gap']),
  );
  await check(`${NAME}: the next of a delegated account`, () =>
    judge('the next of a delegated account', DELEGATED, [], {}, []),
  );
  await check(`${NAME}: of ${sent.length} that it took, blocks have those that are not said to wait`, async () => {
    for (let block = 0; block < 6; block++) await client.mine();
    for (const { what, hash, verdict } of sent) {
      const receipt = await client.ask('eth_getTransactionReceipt', hash);
      assert.equal(receipt === null ? 'will-wait' : 'will-be-included', verdict, what);
      assert.notEqual(await client.ask('eth_getTransactionByHash', hash), null, what);
    }
  });
  await stateGas(startGeth, chainId);
}

/** Slots 1 to 5: PUSH1, PUSH1, SSTORE. */
const WRITER = `0x${'f5'.repeat(20)}`;
const WRITES = `0x${[1, 2, 3, 4, 5].map((slot) => `6001600${slot}55`).join('')}`;

/** The limit that a diagnosis names is enough on geth, and one less is not. */
async function stateGas(startGeth, chainId) {
  const account = ACCOUNTS[0];
  const alloc = {
    [account.address]: { balance: hex(10n ** 19n) },
    [WRITER]: { balance: '0x0', nonce: '0x1', code: WRITES },
  };
  const client = await startGeth([], 'osaka', { amsterdamTime: FIRST_TIME, alloc });
  const forks = [
    { hardfork: 'osaka', block: 0, timestamp: 0, blobs: BLOBS },
    { hardfork: 'amsterdam', timestamp: FIRST_TIME, blobs: BLOBS },
  ];
  const lit = await light(networkOf(chainId, forks), [client.url]);
  await client.mine();
  await followed(lit, client, account.address);
  for (const [what, fields] of [
    ['new slots', { to: WRITER, value: 0n, gas: 100_000n }],
    ['a new account', { gas: 21_000n }],
  ])
    await check(`${NAME}: out of state gas by ${what}, and the limit that is enough`, async () => {
      const run = async (nonce, gas) => {
        const hash = await client.ask(
          'eth_sendRawTransaction',
          await signed(account, chainId, { ...fields, gas, nonce }),
        );
        await client.mine();
        await followed(lit, client, account.address);
        return (await client.ask('eth_getTransactionReceipt', hash)).status;
      };
      const nonce = Number(await client.ask('eth_getTransactionCount', account.address, 'latest'));
      const { checks } = await lit.node.diagnoseTransaction(await signed(account, chainId, { ...fields, nonce }));
      const { outcome, needed } = checks.find((one) => one.check === 'state-gas');
      assert.equal(outcome, 'fails');
      assert.equal(await run(nonce, fields.gas), '0x0');
      assert.equal(await run(nonce + 1, BigInt(needed) - 1n), '0x0');
      assert.equal(await run(nonce + 2, BigInt(needed)), '0x1');
    });
}
