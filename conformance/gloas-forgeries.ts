import { simulatedCommittee } from '../src/chain/devnet/layer-one/simulated-beacon.js';
import {
  beaconBlockHeader,
  computeSigningRoot,
  containersOf,
  type GloasLightClientHeader,
  isValidLightClientHeader,
  type LightClientHeader,
  objectFrom,
  type PayloadLightClientHeader,
  stateIndices,
} from '../src/consensus/containers.js';
import { initializeLightClientStore, type LightClientStore } from '../src/consensus/rules.js';
import { beaconNetwork } from '../src/networks/beacon-networks.js';
import type { BeaconNetwork } from '../src/networks/network.js';
import { ZERO_WORD } from '../src/primitives/bytes.js';
import { bytesToHex, type Hex, hexToBytes } from '../src/primitives/hex.js';
import { readHeader, verifyHeader } from '../src/proof/headers.js';
import { seededRandom } from '../test/support/random.js';
import { differs, type Material, type Report } from './area.js';
import { reasonOf, run } from './consensus-scenario.js';
import {
  asJson,
  type BodyVector,
  block,
  branch,
  FORK,
  headerOfBody,
  inGloas,
  network,
  SLOT,
  signAs,
  update,
  upgraded,
  word,
} from './gloas-chain.js';

interface Vectors {
  readonly headers: readonly { readonly header: Readonly<Record<string, string>>; readonly hash: Hex }[];
  readonly body: BodyVector;
}

/** Forgeries of each kind. */
const OF_A_KIND = 50;
const NOW = SLOT + 60;

type Block = ReturnType<typeof block>;

/** One forged object. */
interface Forgery {
  /** Reason, or code of the error. */
  readonly expected: string;
  readonly object: ReturnType<typeof update>;
  /** The network that it is judged on; that of the chain when left out. */
  readonly on?: BeaconNetwork;
  /** In SSZ; in JSON when left out. */
  readonly isSsz?: boolean;
}

/** A block after the fork and one before it that it names as final, and what a random number says. */
interface Scene {
  readonly random: (bound: number) => number;
  readonly attested: Block;
  readonly final: Block;
}

const zeros = (count: number) => Array.from({ length: count }, () => ZERO_WORD);
const withHeader = (header: LightClientHeader, changes: Partial<GloasLightClientHeader>) =>
  ({ ...inGloas(header), ...changes }) as GloasLightClientHeader;

/** Kinds of forgeries by name. The header that is final is of Fulu. */
const KINDS: Readonly<Record<string, (scene: Scene) => Forgery>> = {
  'old branch at a new index': ({ random, attested, final }) => {
    const finalityBranch =
      random(2) === 0 ? branch(attested.state, 169, 9) : [...branch(attested.state, 169), ...zeros(2)];
    return { expected: 'FINALITY_BRANCH', object: update(attested, final, { finalityBranch }) };
  },
  'a branch of another state': ({ random, attested, final }) => {
    const finalityBranch = branch(attested.state, 735);
    finalityBranch[random(9)] = word(1 + random(255));
    return { expected: 'FINALITY_BRANCH', object: update(attested, final, { finalityBranch }), isSsz: random(2) === 0 };
  },
  'missing upgrade': ({ random, attested, final }) => {
    const { beacon, execution, executionBranch } = final.header as PayloadLightClientHeader;
    const own = [...zeros(7), ...executionBranch];
    const old = {
      beacon,
      executionBlockHash: execution.blockHash,
      executionBranch: random(2) === 0 ? own : own.reverse(),
    };
    return { expected: 'FINALIZED_EXECUTION_BRANCH', object: update(attested, final, { finalizedHeader: old }) };
  },
  'a header of Fulu in a container of Gloas': ({ attested, final }) => ({
    expected: 'MALFORMED',
    object: update(attested, final, { finalizedHeader: final.header }),
  }),
  'surplus that is not zero': ({ random, attested, final }) => {
    const good = upgraded(final.header as PayloadLightClientHeader);
    const executionBranch = good.executionBranch.with(random(2), word(1 + random(255)));
    return {
      expected: 'FINALIZED_EXECUTION_BRANCH',
      object: update(attested, final, { finalizedHeader: { ...good, executionBranch } }),
    };
  },
  'parent and child hash exchanged': ({ random, attested, final }) => {
    const child = withHeader(attested.header, { executionBlockHash: word(0x88) });
    if (random(2) === 0)
      return {
        expected: 'ATTESTED_EXECUTION_BRANCH',
        object: update(attested, final, { attestedHeader: child }),
        isSsz: random(2) === 0,
      };
    // With the branch of the bid's own hash, as far as the container has room.
    const attestedHeader = { ...child, executionBranch: branch(attested.body, 22857).slice(-11) };
    return { expected: 'ATTESTED_EXECUTION_BRANCH', object: update(attested, final, { attestedHeader }) };
  },
  'a version of other members': ({ random, attested, final }) => {
    if (random(2) === 0)
      return {
        expected: 'VERSION_MISMATCH',
        object: update(attested, final, {}, ['fulu', 'electra', 'deneb'][random(3)]),
      };
    const early = block(SLOT - 1 - random(4), 9, final);
    return { expected: 'VERSION_MISMATCH', object: update(early, final, {}, FORK) };
  },
  'signed under the fork before': ({ attested, final }) => {
    const slot = Number(attested.header.beacon.slot);
    const fulu = { ...network, forks: network.forks.filter(({ name }) => name !== FORK) };
    const message = computeSigningRoot(fulu, attested.header.beacon, slot + 1);
    return { expected: 'SIGNATURE', object: update(attested, final, { syncAggregate: signAs(slot + 1, message) }) };
  },
  'schedule moved to a later epoch': ({ random, attested, final }) => ({
    expected: 'FORK_SCHEDULE',
    object: update(attested, final),
    on: beaconNetwork('simulated', { gloas: SLOT / 8 + 6 + random(100) }),
    isSsz: random(2) === 0,
  }),
  'schedule moved to an earlier epoch': ({ random, final }) => ({
    expected: 'FORK_SCHEDULE',
    object: update(block(SLOT - 1 - random(5), 9, final), final),
    on: beaconNetwork('simulated', { gloas: SLOT / 8 - 1 }),
    isSsz: random(2) === 0,
  }),
};

const asSsz = ({ version, data }: ReturnType<typeof update>) =>
  containersOf(version === FORK ? 'gloas' : 'electra', 32).finalityUpdate.encode(data as never);

function storeAt(header: Block): LightClientStore {
  const committee = (period: number) => simulatedCommittee(period).committee;
  const data = {
    header: header.header,
    currentSyncCommittee: committee(20),
    currentSyncCommitteeBranch: branch(header.state, stateIndices('electra').currentSyncCommittee),
  };
  const root = beaconBlockHeader.hashTreeRoot(header.header.beacon);
  const bytes = containersOf('electra', 32).bootstrap.encode(data);
  const request = { root, currentSlot: NOW, maxAgeSlots: 1000 };
  const verdict = initializeLightClientStore(network, objectFrom(network, 'bootstrap', bytes), request);
  if (!verdict.verified) throw new Error(verdict.reason);
  return verdict.store;
}

/** Objects across the fork to Gloas: as they are, and forged in ten ways, 500 in all. @source docs/spec/glamsterdam.md 2 to 9 */
export async function checkGloas(material: Material, report: Report): Promise<void> {
  const { headers, body } = material.json<Vectors>('consensus/glamsterdam.json');
  for (const { header, hash } of headers)
    await report.check(`header ${hash}`, () => differs(true, verifyHeader({ ...header, hash }).verified));
  await report.check('branch of a bid', () => differs(true, isValidLightClientHeader(network, headerOfBody(body))));
  await report.check('branch of the bid’s own hash', () => {
    const own = { ...headerOfBody(body), executionBlockHash: hexToBytes(body.ownBlockHash) };
    return differs(false, isValidLightClientHeader(network, own));
  });
  for (const [i, { header, hash }] of headers.entries())
    for (const name of ['blockAccessListHash', 'slotNumber', 'requestsHash'])
      if (i > 0)
        await report.check(`header ${hash} without ${name}`, () =>
          differs(
            'MALFORMED',
            reasonOf(() => bytesToHex(readHeader({ ...header, [name]: null }).parentHash)),
          ),
        );
  const store = storeAt(block(SLOT - 20, 1));
  for (const [k, [kind, make]] of Object.entries(KINDS).entries())
    for (let i = 0; i < OF_A_KIND; i++)
      await report.check(`${kind} ${i}`, () => {
        const random = seededRandom(1000 * k + i);
        const final = block(SLOT - 7 - random(12), 1 + random(9));
        const attested = block(SLOT + random(20), 1 + random(9), final);
        const answer = (object: ReturnType<typeof update>, isSsz?: boolean) =>
          isSsz === true ? asSsz(object) : asJson(object);
        const judged = (on: BeaconNetwork, given: unknown) =>
          reasonOf(() => run(on, store, [objectFrom(on, 'finalityUpdate', given)], NOW).refused?.reason ?? 'ACCEPTED');
        const good = judged(network, answer(update(attested, final)));
        if (good !== 'ACCEPTED') return differs('ACCEPTED', good);
        const { expected, object, on = network, isSsz } = make({ random, attested, final });
        return differs(expected, judged(on, answer(object, isSsz)));
      });
}
