import type { Chain } from '../src/chain/chain.js';
import type { CheckName } from '../src/diagnosis/check-table.js';
import { diagnose } from '../src/diagnosis/diagnose.js';
import { Estimator } from '../src/estimate/estimator.js';
import { loadSignerRecovery } from '../src/ethereum/signer.js';
import { ethereum } from '../src/networks/ethereum.js';
import { type Hex, hexToBytes } from '../src/primitives/hex.js';
import { toQuantity } from '../src/primitives/quantity.js';
import { allocChain } from './alloc-chain.js';
import { AllocState } from './alloc-state.js';
import type { AmsterdamPost } from './amsterdam.js';
import { type Area, differs } from './area.js';
import { contextOf, networkOf, type StateTest, withWholeKeys } from './state-tests.js';

const FILE = 'amsterdam/amsterdam.json';
const FORK = 'Amsterdam';
interface GasTest extends StateTest {
  transaction: { gasLimit: Hex[] };
}

const PRICES = { fixedCostWei: 0n, variableCostWei: 0n, minGasPriceWei: 0n };

/** Refusals of geth for a limit of gas, and the check that fails. */
const LIMITS: readonly (readonly [RegExp, CheckName])[] = [
  [/: intrinsic cost \d+, floor: \d+$/, 'intrinsic-cap'],
  [/^(intrinsic gas too low|insufficient gas for floor data)/, 'gas-minimum'],
  [/^transaction gas limit too high/, 'gas-cap'],
];
const GAS_CHECKS: ReadonlySet<string> = new Set(LIMITS.map(([, check]) => check));
/** Of a whole gas limit, under Osaka. */
const OLDER_CAP = 2n ** 24n;

/**
 * Out of state gas, where geth shows it: with one gas less a transaction fails that else succeeds, and it uses state gas. The diagnosis of
 * the failing one names the limit of the other, and the gas of both kinds that it uses there. And the
 * limits: what geth refuses fails by the check for it, and what it runs with more than 2^24 of gas fails by none.
 */
export const amsterdamDiagnosisArea: Area = {
  name: 'amsterdam/diagnosis',
  usesKernel: true,
  isOutside: true,
  showsEveryFailure: true,
  files: (material) => (material.has(FILE) ? [FILE] : []),
  async run(material, report) {
    await loadSignerRecovery();
    for (const [name, test] of Object.entries(material.json<Record<string, GasTest>>(FILE))) {
      if (!material.wants(name)) continue;
      for (const [short, enough] of pairsOf(test))
        await report.check(`${name} gas ${BigInt(gasOf(test, short))}`, async () => {
          const { checks } = await diagnosisOf(test, short.txbytes);
          const found = checks.find(({ check }) => check === 'state-gas');
          const { executionGas, stateGas } = enough.receipt!;
          const wanted = { outcome: 'fails', needed: toQuantity(BigInt(gasOf(test, enough))), executionGas, stateGas };
          return differs(wanted, { outcome: found?.outcome, needed: found?.needed, ...found?.used });
        });
      for (const post of test.post[FORK] as AmsterdamPost[]) {
        const { expectException } = post;
        const refused = LIMITS.find(([reason]) => expectException !== undefined && reason.test(expectException));
        const isAbove = BigInt(gasOf(test, post)) > OLDER_CAP && expectException === undefined;
        if (refused === undefined && !isAbove) continue;
        await report.check(`${name} data ${post.indexes.data} gas ${BigInt(gasOf(test, post))}`, async () => {
          const { checks } = await diagnosisOf(test, post.txbytes);
          const failing = checks.filter(({ check, outcome }) => outcome === 'fails' && GAS_CHECKS.has(check));
          return differs({ fails: refused?.[1] }, { fails: failing[0]?.check });
        });
      }
    }
  },
};

const gasOf = ({ transaction }: GasTest, { indexes }: AmsterdamPost): Hex => transaction.gasLimit[indexes.gas]!;

/** Posts of the same transaction, the second with one gas more: only the second succeeds, and uses state gas. */
function pairsOf(test: GasTest): (readonly [AmsterdamPost, AmsterdamPost])[] {
  const posts = test.post[FORK] as AmsterdamPost[];
  return posts.flatMap((enough) => {
    const { receipt, indexes } = enough;
    if (receipt?.status !== '0x1' || BigInt(receipt.stateGas) === 0n) return [];
    const short = posts.find(
      (other) =>
        other.indexes.data === indexes.data &&
        other.indexes.value === indexes.value &&
        BigInt(gasOf(test, other)) === BigInt(gasOf(test, enough)) - 1n,
    );
    return short?.receipt?.status === '0x0' ? [[short, enough] as const] : [];
  });
}

function diagnosisOf(test: GasTest, raw: Hex) {
  const network = { ...ethereum, ...networkOf(test, FORK) };
  const context = contextOf(test, network);
  const state = new AllocState(withWholeKeys(test.pre));
  const chain: Chain = {
    ...allocChain({ network, state, context, prices: PRICES }),
    // On a layer 1 nothing is sized.
    kind: 'light',
    transaction: async () => undefined,
    pendingTransactions: async () => [],
  };
  const noSizer = async () => {
    throw new Error('nothing is sized');
  };
  const dictionary = { name: '', sha256: '0x', bytes: new Uint8Array(0), networkOwn: true } as const;
  const estimator = new Estimator(chain, noSizer, dictionary);
  return diagnose({ chain, estimator }, { raw: hexToBytes(raw) });
}
