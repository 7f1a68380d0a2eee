import type { BenchArea } from './area.js';
import { followingConsensus } from './consensus.js';
import { demoPage } from './demo.js';
import { devnetCosts } from './devnet.js';
import { estimating } from './estimate.js';
import { executing } from './evm.js';
import { feeding } from './feed.js';
import { hashing } from './hash.js';
import { lightNode } from './light.js';
import { memory } from './memory.js';
import { pageStart } from './page.js';
import { previewing } from './preview.js';
import { processStart } from './process.js';
import { proxying } from './proxy.js';
import { recovering } from './recovery.js';
import { serving } from './server.js';
import { sizing } from './sizing.js';
import { starting } from './start.js';
import { state } from './state.js';
import { storing } from './store.js';
import { trickling } from './trickle.js';
import { turns } from './turns.js';
import { verifying } from './verify.js';

/** Every area, in the order of printing. */
export const AREAS: readonly BenchArea[] = [
  hashing,
  recovering,
  sizing,
  executing,
  turns,
  estimating,
  lightNode,
  previewing,
  feeding,
  verifying,
  followingConsensus,
  state,
  storing,
  trickling,
  devnetCosts,
  memory,
  proxying,
  processStart,
  starting,
  serving,
  pageStart,
  demoPage,
];
