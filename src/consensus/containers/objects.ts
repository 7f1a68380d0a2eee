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
 * Reads `{ version, data }`, as the beacon API answers.
 *
 * @throws PlumblineError `PROOF_MALFORMED`; `FORK_UNSUPPORTED` for another `version` than Capella to Fulu
 */
export function objectFromJson<K extends ObjectKind>(
  network: BeaconNetwork,
  kind: K,
  answer: unknown,
  path = '',
): LightClientObject<K> {
  const { version, data } = readObject(answer, path);
  if (typeof version !== 'string') throw malformed(`${path}version`, 'is not text');
  const layout = layoutOfFork(network, version);
  return { layout, data: containerOf(network, kind, layout).fromJson(data, `${path}data`) };
}

/** Reads the answer to `updates`: a list of `{ version, data }`. @throws PlumblineError as `objectFromJson` */
export function updatesFromJson(network: BeaconNetwork, answer: unknown): LightClientObject<'update'>[] {
  return readArray(answer, 'updates').map((item, i) => objectFromJson(network, 'update', item, `[${i}].`));
}

/**
 * Reads the bytes of a container. The slot inside says which layout they have.
 *
 * @throws PlumblineError `PROOF_MALFORMED`, `FORK_UNSUPPORTED`
 */
export function objectFromBytes<K extends ObjectKind>(
  network: BeaconNetwork,
  kind: K,
  bytes: Uint8Array,
  path = 'data',
): LightClientObject<K> {
  // Each container begins with the offset of a header, and that header with its slot.
  const start = bytes.length < 4 ? bytes.length : new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const layout = layoutAtSlot(network, uint64.decode(bytes.subarray(start, start + 8), `${path}.slot`));
  return { layout, data: containerOf(network, kind, layout).decode(bytes, path) };
}

/** Bytes of a fork digest, which stands before each update of an answer in SSZ. */
const DIGEST_BYTES = 4;
const LENGTH_BYTES = 8;

/**
 * Reads the answer to `updates` in SSZ: of each update its length with the fork digest as 8 bytes, the digest, and the
 * container. The digest is not looked at: it changes without a fork, and the slot says the layout.
 *
 * @throws PlumblineError `PROOF_MALFORMED`, `FORK_UNSUPPORTED`
 * @source ethereum/beacon-APIs apis/beacon/light_client/updates.yaml
 */
export function updatesFromBytes(network: BeaconNetwork, bytes: Uint8Array): LightClientObject<'update'>[] {
  const updates: LightClientObject<'update'>[] = [];
  for (let at = 0; at < bytes.length; ) {
    const path = `[${updates.length}]`;
    const begin = at + LENGTH_BYTES;
    const end = begin + Number(uint64.decode(bytes.subarray(at, begin), `${path}.length`));
    if (end > bytes.length || end < begin + DIGEST_BYTES)
      throw malformed(`${path}.length`, `ends at ${end} of ${bytes.length} bytes`);
    updates.push(objectFromBytes(network, 'update', bytes.subarray(begin + DIGEST_BYTES, end), path));
    at = end;
  }
  return updates;
}
