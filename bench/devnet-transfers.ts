import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { DEV_ACCOUNTS, TEST_TOKEN } from '../src/chain/devnet/state/dev-accounts.js';
import { devAlloc } from '../src/chain/devnet/state/genesis.js';
import { bigIntToBytes } from '../src/primitives/bytes.js';
import { bytesToHex, type Hex } from '../src/primitives/hex.js';
import { Anvil } from '../test/support/anvil.js';
import { signTransaction, transferCalldata } from '../test/support/sign.js';
import { buildLibrary } from './area.js';

/** One run of transfers against a node of its own process, fresh. */
export interface TransferRun {
  /** From the first request to the receipt of the last transfer. */
  readonly wallMs: number;
  /** Processor time of the node meanwhile; Linux only. */
  readonly cpuMs: number;
  readonly blocks: number;
}

/** A node that drops a transfer would be asked for its receipt forever. */
const LIMIT_MS = 20_000;
/** How often a run is repeated in which anvil gives no receipt. */
const REPEATS = 5;
const FIRST_RECIPIENT = 0x5555_5555_0000n;
const FEES = { maxFeePerGas: 20n * 10n ** 9n, maxPriorityFeePerGas: 10n ** 10n };

/** Signed transfers of the test token, each to an account without any. */
export function signedTransfers(count: number, chainId: number): readonly Hex[] {
  return Array.from({ length: count }, (_, nonce) => {
    const to = bytesToHex(bigIntToBytes(FIRST_RECIPIENT + BigInt(nonce), 20));
    const data = transferCalldata(to, BigInt(nonce + 1));
    return signTransaction(0, { nonce, to: TEST_TOKEN, data, gasLimit: 100_000n, chainId, ...FEES });
  });
}

class NoReceipt extends Error {}

/**
 * Anvil, with its own defaults but the fork, and the dev accounts and the test token of a devnet. A run in which it gives no receipt is
 * said and repeated.
 */
export async function onAnvil(transfers: readonly Hex[]): Promise<TransferRun> {
  for (let repeat = 1; ; repeat++) {
    try {
      return await onceOnAnvil(transfers);
    } catch (error) {
      if (!(error instanceof NoReceipt) || repeat > REPEATS) throw error;
      console.warn(`  anvil: ${error.message}; run ${repeat} is repeated`);
    }
  }
}

async function onceOnAnvil(transfers: readonly Hex[]): Promise<TransferRun> {
  const anvil = await Anvil.start('osaka');
  try {
    const { code, storage = {} } = devAlloc()[TEST_TOKEN]!;
    await anvil.ask('anvil_setCode', TEST_TOKEN, code);
    for (const [slot, value] of Object.entries(storage)) await anvil.ask('anvil_setStorageAt', TEST_TOKEN, slot, value);
    for (const { address } of DEV_ACCOUNTS) await anvil.ask('anvil_setBalance', address, '0x21e19e0c9bab2400000');
    return await send(anvil.url, transfers, () => anvil.cpuMs());
  } finally {
    await anvil.close();
  }
}

/** A devnet as the command `plumbline serve` opens it. */
export const onDevnet = (transfers: readonly Hex[]): Promise<TransferRun> =>
  withDevnet([], (url, cpu) => send(url, transfers, cpu));

/** Starts `plumbline serve` with these options, and ends it after `use`. @param use - `cpu`: its processor time so far, ms; Linux only */
export async function withDevnet<T>(
  options: readonly string[],
  use: (url: string, cpu: () => number) => Promise<T>,
): Promise<T> {
  await buildLibrary();
  const command = [`${process.cwd()}/cli/dist/cli.js`, 'serve', '--port', '0', ...options];
  const child = spawn(process.execPath, command, { stdio: ['ignore', 'pipe', 'inherit'] });
  try {
    const address = await addressOf(child);
    child.stdout!.resume();
    return await use(address, () => cpuMs(child.pid!));
  } finally {
    const ended = once(child, 'exit');
    child.kill('SIGKILL');
    await ended;
  }
}

/** The address that the command prints once it listens. What it prints later is for the caller to read. */
export async function addressOf(child: ChildProcess): Promise<string> {
  let printed = '';
  for await (const chunk of child.stdout!.iterator({ destroyOnReturn: false })) {
    printed += String(chunk);
    const [, address] = /JSON-RPC\s+(http:\/\/[^\s/]+\/)/.exec(printed) ?? [];
    if (address !== undefined) return address;
  }
  throw new Error(`the devnet did not start: ${printed}`);
}

function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const [user, system] = stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .slice(11, 13);
  return 10 * (Number(user) + Number(system));
}

/** Sends one transfer after another, each once the one before is acknowledged, and waits for the last one's receipt. */
async function send(url: string, transfers: readonly Hex[], cpu: () => number): Promise<TransferRun> {
  const head = async () => Number(await ask<Hex>(url, 'eth_blockNumber'));
  const first = await head();
  const cpuBefore = cpu();
  const started = performance.now();
  let last: Hex | undefined;
  for (const raw of transfers) last = await ask<Hex>(url, 'eth_sendRawTransaction', raw);
  let receipt: { status: Hex; logs: readonly unknown[] } | null = null;
  while (receipt === null) {
    if (performance.now() - started > LIMIT_MS)
      throw new NoReceipt(`no receipt of the last transfer after ${LIMIT_MS} ms`);
    receipt = await ask(url, 'eth_getTransactionReceipt', last);
  }
  const wallMs = performance.now() - started;
  const spent = cpu() - cpuBefore;
  if (receipt.status !== '0x1' || receipt.logs.length !== 1) throw new Error('the last transfer failed');
  return { wallMs, cpuMs: spent, blocks: (await head()) - first };
}

async function ask<T>(url: string, method: string, ...params: unknown[]): Promise<T> {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  const { result, error } = (await response.json()) as { result: T; error?: { message: string } };
  if (error !== undefined) throw new Error(`${method}: ${error.message}`);
  return result;
}
