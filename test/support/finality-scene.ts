import type { Hex } from '../../src/primitives/hex.js';
import { accountAt } from './dev-node.js';
import { type LightScene, type LightSceneOptions, lightScene } from './light-node.js';

/** A chain of six blocks of which layer 1 holds the first four. */
export async function settled(options: LightSceneOptions = {}): Promise<LightScene> {
  const scene = await lightScene(options);
  for (let nonce = 0; nonce < 6; nonce++) await scene.dev.transfer(0, { nonce });
  return scene;
}

/** A request for the proof of an account that has sent something. */
export const PROOF = ['linea_getProof', accountAt(0), [], 'latest'] as const;

const selectorOf = ([call]: readonly unknown[]) => (call as { data?: Hex } | undefined)?.data?.slice(0, 10);

/** Whether layer 1 is asked for a state root of the rollup contract. */
export const isRootCall = (params: readonly unknown[]) => selectorOf(params) === '0x8be745d1';
/** Whether layer 1 is asked for the newest finalized block of layer 2. */
export const isCurrentCall = (params: readonly unknown[]) => selectorOf(params) === '0x695378f5';

/** The answer with one bit of the proved account turned. */
export function otherValue(result: unknown): unknown {
  const text = JSON.stringify(result);
  const at = text.indexOf('"value":"0x') + '"value":"0x'.length + 60;
  const digit = (Number.parseInt(text[at]!, 16) ^ 1).toString(16);
  return JSON.parse(text.slice(0, at) + digit + text.slice(at + 1));
}
