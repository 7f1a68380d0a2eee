import { ActPanel, Claim } from '../landing/act.js';
import { ComparePanel } from '../landing/compare-panel.js';
import { NextPanel } from '../landing/next.js';

export function StartView() {
  return (
    <>
      <div class="view-head landing-head">
        <h1>
          <Claim />
        </h1>
        <p>
          Wallets ask a server for your balance and show what it says. plumbline is an Ethereum layer‑2 node that runs
          in the page: it asks the same servers, and shows an answer only if its proof is right.
        </p>
      </div>
      <ActPanel />
      <ComparePanel />
      <NextPanel />
    </>
  );
}
