import type { BenchArea } from './area.js';
import { sizingFigures } from './sizing-cases.js';
import { deviationFigures } from './sizing-deviation.js';

export const sizing: BenchArea = {
  name: 'sizing',
  question:
    'how fast is the size of a transaction known, what does hostile calldata cost at worst, and how far off is our own dictionary?',
  async run() {
    return [...(await sizingFigures()), ...(await deviationFigures())];
  },
};
