import { malformed, readArray, readObject } from '../../proof/json-reader.js';
import type { BeaconNetwork } from '../networks/beacon-network.js';
import { uint64 } from './headers.js';
import {
  containersOf,
  type Layout,
  type LightClientObjects,
  layoutAtSlot,
  layoutOfFork,
  type ObjectKind,
} from './layouts.js';

/** An object of a beacon node, with the layout that it came in. `containersOf` writes them. */
export interface LightClientObject<K extends ObjectKind> {
  readonly layout: Layout;
  readonly data: LightClientObjects[K];
}

const containerOf = <K extends ObjectKind>(network: BeaconNetwork, kind: K, layout: Layout) =>
  containersOf(layout, network.preset.committeeSize)[kind];

/**
 * Reads an answer of a beacon node: `{ version, data }` of JSON, or the bytes of a container, whose slot says which layout
 * they have.
 *
 * @throws PlumblineError `PROOF_MALFORMED`; `FORK_UNSUPPORTED` for another layout than that of Capella to Fulu
 */
export function objectFrom<K extends ObjectKind>(
  network: BeaconNetwork,
  kind: K,
  answer: unknown,
  path = '',
): LightClientObject<K> {
  if (answer instanceof Uint8Array) {
    // Each container begins with the offset of a header, and that header with its slot.
    const start = answer.length < 4 ? 0 : new DataView(answer.buffer, answer.byteOffset).getUint32(0, true);
    const layout = layoutAtSlot(network, uint64.decode(answer.subarray(start, start + 8), `${path}data.slot`));
    return { layout, data: containerOf(network, kind, layout).decode(answer, `${path}data`) };
  }
  const { version, data } = readObject(answer, path);
  if (typeof version !== 'string') throw malformed(`${path}version`, 'is not text');
  const layout = layoutOfFork(network, version);
  return { layout, data: containerOf(network, kind, layout).fromJson(data, `${path}data`) };
}

/** Bytes of a fork digest, which stands before each update of an answer in SSZ. */
const DIGEST_BYTES = 4;
const LENGTH_BYTES = 8;

/**
 * Reads the answer to `updates`: a list of `{ version, data }` of JSON, or SSZ, with the length of each update and its fork
 * digest as 8 bytes, the digest, and the container. The digest is not looked at: it changes without a fork, and the slot says
 * the layout.
 *
 * @throws PlumblineError as `objectFrom`
 * @source ethereum/beacon-APIs apis/beacon/light_client/updates.yaml
 */
export function updatesFrom(network: BeaconNetwork, answer: unknown): LightClientObject<'update'>[] {
  const items = answer instanceof Uint8Array ? containersIn(answer) : readArray(answer, 'updates');
  return items.map((item, i) => objectFrom(network, 'update', item, `[${i}].`));
}

function containersIn(bytes: Uint8Array): Uint8Array[] {
  const containers: Uint8Array[] = [];
  for (let at = 0; at < bytes.length; ) {
    const path = `[${containers.length}].length`;
    const begin = at + LENGTH_BYTES;
    const end = begin + Number(uint64.decode(bytes.subarray(at, begin), path));
    if (end > bytes.length || end < begin + DIGEST_BYTES) {
      throw malformed(path, `ends at ${end} of ${bytes.length} bytes`);
    }
    containers.push(bytes.subarray(begin + DIGEST_BYTES, end));
    at = end;
  }
  return containers;
}
