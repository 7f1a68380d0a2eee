import type { Hex } from 'plumbline-l2';
import { reasonOf } from '../lib/explain.js';
import { about, formatAge, groups } from '../lib/format.js';
import { hexOf } from '../lib/hex.js';
import type { Server } from './servers.js';
import type { Reading } from './state.js';

/** A value of a link. */
export interface Value {
  readonly name: string;
  /** In hex, to be shortened and copied; or as a text. */
  readonly hex?: Hex;
  readonly text?: string;
}

export type LinkName = 'checkpoint' | 'committee' | 'block' | 'contract' | 'history' | 'header' | 'account';
export type LinkState = 'trusted' | 'holds' | 'refused' | 'not-reached';

/** One step from the checkpoint to the balance: what it is, how it follows from the step before, and its values. */
export interface Link {
  readonly name: LinkName;
  readonly title: string;
  readonly check: string;
  /** What the check is called. */
  readonly by: string;
  /** Whose answer is checked. */
  readonly from?: Server;
  readonly values: readonly Value[];
}

/** Parts of answers that the bundle holds as they came; the node has verified them. */
interface Bootstrap {
  readonly data: { readonly header: { readonly beacon: { readonly slot: string } } };
}
interface Update {
  readonly data: { readonly sync_aggregate: { readonly sync_committee_bits: Hex } };
}
interface RollupProof {
  readonly address: Hex;
  readonly storageProof: readonly { readonly key: Hex }[];
}
interface ZkProof {
  readonly accountProof: { readonly key: Hex };
  readonly storageProofs: readonly { readonly key: Hex }[];
}

/** The links of a balance, from the checkpoint down. */
export function linksOf({ account, balance, bundle, proved, network }: Reading): readonly Link[] {
  const { layerOne, finalized, participants, header } = proved;
  const { bootstrap, answers } = bundle.consensus;
  const [rollup, state] = [bundle.rollup as RollupProof, bundle.state as ZkProof];
  const block = header!.header.number;
  const newest = answers.at(-1)!.answer as Update | readonly Update[];
  const { data } = 'data' in newest ? newest : newest.at(-1)!;
  const members = 4 * (data.sync_aggregate.sync_committee_bits.length - 2);
  const signers = participants.at(-1)!;
  const scheme = network.hashSchemes!.at(-1)!.scheme === 'mimc' ? 'MiMC' : 'Poseidon2';
  return [
    {
      name: 'checkpoint',
      title: 'A beacon block of layer 1 that you trust',
      by: 'Not checked: this is what you trust',
      check:
        'A wallet brings such a block along, or asks several servers that must name the same one. It may be days old.',
      values: [
        { name: 'Root', hex: bundle.checkpoint },
        { name: 'Slot', text: groups((bootstrap as Bootstrap).data.header.beacon.slot) },
      ],
    },
    {
      name: 'committee',
      title: 'A newer beacon block is final',
      by: 'BLS signatures of sync committees',
      check: `The trusted block names a committee of validators. ${signers} of ${members} members signed a block that calls this one final; two thirds are needed.`,
      from: 'beacon',
      values: [
        { name: 'Slot', text: `${groups(layerOne.slot)}, ${formatAge(layerOne.timestamp)}` },
        { name: 'Signed by', text: `${signers} of ${members} members` },
        { name: 'Signatures', text: `${participants.length} in a row since the trusted block` },
        { name: 'Root', hex: hexOf(layerOne.beaconRoot) },
      ],
    },
    {
      name: 'block',
      title: `Layer-1 block ${groups(layerOne.number!)}`,
      by: 'Merkle branch',
      check: 'The beacon block contains the hash and the state root of this layer-1 block.',
      from: 'beacon',
      values: [
        { name: 'Block hash', hex: hexOf(layerOne.blockHash) },
        { name: 'State root', hex: hexOf(layerOne.stateRoot!) },
      ],
    },
    {
      name: 'contract',
      title: 'The rollup contract names a zk state root',
      by: 'Merkle-Patricia proof',
      check:
        'The state of layer 1 contains two slots of the contract. A network’s contract takes a root only with a zk proof of the blocks; a devnet has no prover.',
      from: 'layer-1',
      values: [
        { name: 'Contract', hex: rollup.address },
        { name: 'Final block', text: `${groups(finalized.number)} of layer 2` },
        { name: 'Slot', hex: rollup.storageProof[1]!.key },
        { name: 'zk state root', hex: hexOf(finalized.stateRoot!) },
      ],
    },
    {
      name: 'history',
      title: `The zk state holds the hash of block ${groups(block)}`,
      by: `Sparse Merkle proof, ${scheme}`,
      check: 'The history contract of layer 2 keeps the hashes of the last 8191 blocks, each in a slot of its own.',
      from: 'layer-2',
      values: [
        { name: 'Contract', hex: state.accountProof.key },
        { name: 'Slot', text: `${BigInt(state.storageProofs[0]!.key)} = ${groups(block)} modulo 8191` },
        { name: 'Block hash', hex: hexOf(header!.hash) },
      ],
    },
    {
      name: 'header',
      title: `Header of layer-2 block ${groups(block)}`,
      by: 'keccak256',
      check: 'The header hashes to the hash above, so its state root is the right one.',
      from: 'layer-2',
      values: [
        { name: 'State root', hex: hexOf(header!.header.stateRoot) },
        { name: 'Time', text: formatAge(header!.header.timestamp) },
      ],
    },
    {
      name: 'account',
      title: `${about(balance, 18)} ETH`,
      by: 'Merkle-Patricia proof',
      check: 'The state of the block contains the account with this balance.',
      from: 'layer-2',
      values: [{ name: 'Account', hex: account }],
    },
  ];
}

/** What refused answers are about, as `details.what` begins. */
const PLACES: readonly (readonly [what: string, link: LinkName])[] = [
  ['bootstrap of layer 1', 'committee'],
  ['update of layer 1', 'committee'],
  ['rollup contract', 'contract'],
  ['layer-1 header', 'contract'],
  ['zk proof of', 'history'],
  ['hash of block', 'history'],
  ['header of block', 'header'],
  ['account', 'account'],
];

/** The link whose check failed, by the error of the node; undefined for other errors. */
export function refusedLink(error: unknown): LinkName | undefined {
  const { reason, details } = reasonOf(error);
  if (reason !== 'ANSWER_REFUSED') return undefined;
  const [what, check] = [String(details.what), String(details.check)];
  if (what === 'update of layer 1' && check.endsWith('EXECUTION_BRANCH')) return 'block';
  return PLACES.find(([about]) => what.startsWith(about))?.[1];
}

/** The state of each link: all below a refused one were not reached. */
export function statesOf(links: readonly Link[], refused: LinkName | undefined): readonly LinkState[] {
  const at = refused === undefined ? links.length : links.findIndex(({ name }) => name === refused);
  return links.map(({ from }, i) => {
    if (i === at) return 'refused';
    if (i > at) return 'not-reached';
    return from === undefined ? 'trusted' : 'holds';
  });
}
