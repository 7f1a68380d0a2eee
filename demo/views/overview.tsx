import { ChainPanel } from '../overview/chain.js';
import { LatestPanel } from '../overview/latest.js';
import { LegendPanel } from '../overview/legend.js';
import { StoragePanel } from '../overview/storage.js';
import { TimingsPanel } from '../overview/timings.js';

export function OverviewView() {
  return (
    <>
      <div class="view-head">
        <h1>Overview</h1>
        <p>The node of this page, and how it is. No server is asked what can be proved or worked out here.</p>
      </div>
      <ChainPanel />
      <div class="columns">
        <TimingsPanel />
        <div class="stack">
          <StoragePanel />
          <LatestPanel />
        </div>
      </div>
      <LegendPanel />
    </>
  );
}
