import { onTestFinished } from 'vitest';
import type { GeneratedChain } from './mock-shomei.js';
import { openShomeiScene, type ShomeiScene, type ShomeiSceneOptions } from './mock-shomei-scene.js';

/** A scene that is closed when the test that asked for it ends. */
export async function sceneOf(chain: GeneratedChain, options?: ShomeiSceneOptions): Promise<ShomeiScene> {
  const scene = await openShomeiScene(chain, options);
  onTestFinished(() => scene.close());
  return scene;
}
