import type { GenesisJson } from '../src/chain/devnet/state/genesis-json.js';
import { createInlineNode } from '../src/hosts/opening/inline.js';
import type { UntypedMethod } from '../src/hosts/provider/provider.js';
import type { PreviewWarning, Severity } from '../src/preview/preview.js';
import type { Hex } from '../src/primitives/hex.js';
import type { PreviewCall, PreviewOptions, TransactionPreview } from '../src/rpc/schema/transaction-preview.js';
import type { Area, Material } from './area.js';

const FOLDER = 'tracing/attacks';
const BLOCK_SECONDS = 2;

/** One request to a devnet that mines each transaction at once; the README of the fixture has the list. */
interface Step {
  readonly deploy?: string;
  readonly args?: Hex;
  readonly from?: Hex;
  readonly value?: Hex;
  readonly at?: Hex;
  readonly send?: object;
  readonly bytes?: Hex;
  readonly storage?: readonly [Hex, Hex, string];
  readonly code?: readonly [Hex, Hex];
  readonly mine?: number;
  readonly next?: Readonly<Record<string, string>>;
}

type Wanted = Readonly<Record<string, unknown>> & { readonly severity?: Severity };

interface Attack {
  readonly name: string;
  readonly setup: readonly Step[];
  readonly preview: Pick<PreviewOptions, 'watch' | 'known'> & {
    readonly calls: readonly PreviewCall[];
    readonly raw?: readonly Hex[];
  };
  readonly mustFind: readonly Wanted[];
  readonly atMost?: Readonly<Record<string, number>>;
}

type Contracts = Readonly<Record<string, { readonly bytecode: Hex }>>;

const filesOf = (material: Material) =>
  ['scenarios', 'controls'].flatMap((folder) => material.list(`${FOLDER}/${folder}`, /\.json$/));

/** What previews find of attacks that were built to pass them, and that they leave ordinary transactions in peace. */
export const attacksArea: Area = {
  name: 'attacks',
  usesKernel: true,
  isOutside: true,
  showsEveryFailure: true,
  files: filesOf,
  async run(material, report) {
    const files = filesOf(material).filter(material.wants);
    if (files.length === 0) return;
    const genesis = material.json<GenesisJson>(`${FOLDER}/genesis.json`);
    const contracts = material.json<Contracts>(`${FOLDER}/contracts.json`);
    for (const path of files) {
      const attack = material.json<Attack>(path);
      await report.check(path, async () => {
        const node = await createInlineNode({ chain: { kind: 'devnet', genesis } });
        const ask = <T>(method: string, ...params: unknown[]) =>
          node.request<UntypedMethod>({ method, params }) as Promise<T>;
        try {
          await ask('hardhat_setCoinbase', genesis.coinbase);
          await ask('anvil_setBlockTimestampInterval', BLOCK_SECONDS);
          for (const step of attack.setup) await take(step, contracts, ask);
          const { calls, raw, watch, known } = attack.preview;
          const options = { ...(watch && { watch }), ...(known && { known }) };
          for (const wanted of [calls, ...(raw === undefined ? [] : [raw])]) {
            const failure = await differsFrom(attack, () => node.previewTransaction(wanted, options));
            if (failure !== undefined) return failure;
          }
          return undefined;
        } finally {
          await node.close();
        }
      });
    }
  },
};

async function differsFrom(attack: Attack, preview: () => Promise<TransactionPreview>): Promise<string | undefined> {
  if (attack.mustFind.some((one) => 'error' in one)) {
    const text = await preview().then(
      () => undefined,
      (error: unknown) => String(error),
    );
    return text === undefined ? 'expected an error, and there was a preview' : undefined;
  }
  const { warnings } = await preview();
  const missing = attack.mustFind.filter((wanted) => !warnings.some((warning) => isFound(wanted, warning)));
  if (missing.length > 0) return `missing ${JSON.stringify(missing)} in ${JSON.stringify(warnings)}`;
  for (const [severity, most] of Object.entries(attack.atMost ?? {})) {
    const found = warnings.filter((warning) => warning.severity === severity);
    if (found.length > most) return `more than ${most} of ${severity}: ${JSON.stringify(found)}`;
  }
  return undefined;
}

async function take(step: Step, contracts: Contracts, ask: Ask): Promise<void> {
  const limits = { gas: '0x5b8d80', maxFeePerGas: '0x77359400', maxPriorityFeePerGas: '0x3b9aca00' };
  const { deploy, args = '0x', from, value, at, send, bytes, storage, code: placed, mine, next } = step;
  if (deploy !== undefined) {
    const data = contracts[deploy]!.bytecode + args.slice(2);
    const hash = await ask('eth_sendTransaction', { from, data, ...(value && { value }), ...limits });
    const { contractAddress } = await ask<{ contractAddress: Hex | null }>('eth_getTransactionReceipt', hash);
    if (contractAddress !== at) throw new Error(`${deploy} is at ${contractAddress}, expected ${at}`);
  }
  if (send !== undefined) await ask('eth_sendTransaction', { ...limits, ...send });
  if (bytes !== undefined) await ask('eth_sendRawTransaction', bytes);
  if (storage !== undefined) {
    const [account, slot, named] = storage;
    const { hash } = await ask<{ hash: Hex }>('eth_getBlockByNumber', 'latest', false);
    await ask('hardhat_setStorageAt', account, slot, named === 'hash of head' ? hash : named);
  }
  if (placed !== undefined) await ask('hardhat_setCode', ...placed);
  for (let i = 0; i < (mine ?? 0); i++) await ask('evm_mine');
  const { time, prevRandao, coinbase, baseFee, gasLimit } = next ?? {};
  if (time !== undefined) await ask('evm_setNextBlockTimestamp', Number(time));
  if (prevRandao !== undefined) await ask('hardhat_setPrevRandao', prevRandao);
  if (coinbase !== undefined) await ask('hardhat_setCoinbase', coinbase);
  if (baseFee !== undefined) await ask('hardhat_setNextBlockBaseFeePerGas', baseFee);
  if (gasLimit !== undefined) await ask('evm_setBlockGasLimit', gasLimit);
}

type Ask = <T>(method: string, ...params: unknown[]) => Promise<T>;

const SEVERITIES: readonly Severity[] = ['note', 'warning', 'danger'];
/** Members of the subject; a finding that has no such member is not compared by it. */
const SUBJECT = [
  'account',
  'amount',
  'token',
  'owner',
  'spender',
  'address',
  'slot',
  'id',
  'target',
  'validity',
  'with',
  'told',
];

function isFound(wanted: Wanted, warning: PreviewWarning): boolean {
  const found = warning as unknown as Wanted;
  if (![wanted.code].flat().includes(warning.code)) return false;
  if (SEVERITIES.indexOf(warning.severity) < SEVERITIES.indexOf(wanted.severity ?? 'note')) return false;
  const isSame = (value: unknown, other: unknown) => [value].flat().some((one) => plain(one) === plain(other));
  for (const name of SUBJECT)
    if (wanted[name] !== undefined && found[name] !== undefined && !isSame(wanted[name], found[name])) return false;
  const [asset, other] = [wanted.asset as AssetJson, found.asset as AssetJson];
  if (asset === undefined || other === undefined) return true;
  const isNative = (one: AssetJson) => one.kind === 'native';
  return (
    isNative(asset) === isNative(other) &&
    plain(asset.address) === plain(other.address) &&
    plain(asset.id) === plain(other.id)
  );
}

type AssetJson = Partial<Record<'kind' | 'address' | 'id', string>>;

/** Numbers as numbers, without a sign; addresses and words without regard to case. */
function plain(value: unknown): string | undefined {
  if (value === undefined || value === null) return undefined;
  const text = String(value).replace(/^-/, '').toLowerCase();
  return /^(0x[0-9a-f]+|[0-9]+)$/.test(text) ? String(BigInt(text)) : text;
}
