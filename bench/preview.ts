import type { BenchArea } from './area.js';
import { previewCosts } from './preview-costs.js';
import { LATENCY_MS, previewTrips } from './preview-trips.js';

export const previewing: BenchArea = {
  name: 'preview',
  question: `What does a preview cost beside the runs it needs, and over endpoints ${LATENCY_MS} ms away from a fresh head on?`,
  async run() {
    return [...(await previewTrips()), ...(await previewCosts())];
  },
};
