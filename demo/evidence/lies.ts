import type { Hex } from 'plumbline-l2';
import { formatUnits } from '../lib/format.js';
import type { Server } from './servers.js';

/** What a server said, and what it would have said. */
export interface Said {
  readonly said: string;
  readonly truth: string;
}

interface Lie {
  readonly server: Server;
  /** Short: a list on a phone shows 35 characters. */
  readonly text: string;
  /** The question that it is an answer to. */
  readonly about: RegExp;
  /** Changes the answer. @returns undefined if it has nothing to change */
  readonly change: (answer: never) => Said | undefined;
}

const inEther = (wei: bigint) => `${formatUnits(wei, 18)} ETH`;

/** Puts other digits at the end of a member. */
function change<Key extends string>(of: Record<Key, Hex> | undefined, key: Key, end = '00c0ffee'): Said | undefined {
  if (of === undefined) return undefined;
  const truth = of[key];
  const said: Hex = `${truth.slice(0, -end.length) as Hex}${end}`;
  of[key] = said;
  return { truth, said };
}

interface FinalityUpdate {
  readonly body: {
    readonly data: {
      readonly sync_aggregate: { sync_committee_bits: Hex };
      readonly finalized_header: { readonly execution: { state_root: Hex } };
    };
  };
}

interface SlotProofs {
  readonly storageProof: { value: Hex }[];
}

interface ZkProof {
  readonly storageProofs: { readonly proof: { value: Hex } }[];
}

/** A lie for each link of the chain, each caught by another check. */
export const LIES = {
  signers: {
    server: 'beacon',
    text: 'beacon server: other signers',
    about: /finality_update$/,
    // Two of the last four are absent: in truth it is one of all at most.
    change: ({ body: { data } }: FinalityUpdate) => change(data.sync_aggregate, 'sync_committee_bits', '5'),
  },
  block: {
    server: 'beacon',
    text: 'beacon server: another state root',
    about: /finality_update$/,
    change: ({ body: { data } }: FinalityUpdate) => change(data.finalized_header.execution, 'state_root'),
  },
  root: {
    server: 'layer-1',
    text: 'layer-1 server: another zk root',
    about: /^eth_getProof /,
    change: ({ storageProof }: SlotProofs) => change(storageProof[1], 'value'),
  },
  hash: {
    server: 'layer-2',
    text: 'layer-2 server: another block hash',
    about: /^linea_getProof /,
    change: ({ storageProofs }: ZkProof) => change(storageProofs[0]?.proof, 'value'),
  },
  header: {
    server: 'layer-2',
    text: 'layer-2 server: another header',
    about: /^eth_getBlockByHash /,
    change: (header: { stateRoot: Hex }) => change(header, 'stateRoot'),
  },
  balance: {
    server: 'layer-2',
    text: 'layer-2 server: a million ETH more',
    about: /^eth_getProof /,
    change: (proof: { balance: Hex }) => {
      const [truth, said] = [BigInt(proof.balance), BigInt(proof.balance) + 10n ** 24n];
      proof.balance = `0x${said.toString(16)}`;
      return { truth: inEther(truth), said: inEther(said) };
    },
  },
} as const satisfies Record<string, Lie>;

export type LieName = keyof typeof LIES;
