import { ActPanel } from '../landing/act.js';
import { ComparePanel } from '../landing/compare-panel.js';
import { NextPanel } from '../landing/next.js';

export function StartView() {
  return (
    <>
      <div class="view-head landing-head">
        <h1>Your wallet asks a server. This page checks the answer.</h1>
        <p>
          plumbline is an Ethereum node for Linea that runs in a web page. It is for wallets and those who build them:
          it asks the same servers, and shows a balance only if its proof is right.
        </p>
      </div>
      <ActPanel />
      <ComparePanel />
      <NextPanel />
    </>
  );
}
