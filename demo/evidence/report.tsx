import { useEffect, useRef } from 'preact/hooks';
import { formatBytes, formatMs, formatUnits, groups, pretty, shortHex } from '../lib/format.js';
import { download } from '../state/storage.js';
import { Known } from '../ui/known.js';
import { Panel } from '../ui/panel.js';
import { Chain } from './chain.js';
import { LIES } from './lies.js';
import type { Reading, Refusal } from './state.js';

interface ReportProps {
  readonly reading: Reading;
  readonly refusal?: Refusal | undefined;
}

/** The verdict, the drawing, and the evidence as a file. */
export function EvidenceReport({ reading, refusal }: ReportProps) {
  const { report } = reading;
  const verdict = useRef<HTMLParagraphElement>(null);
  // On a small screen it is below the button that was pressed.
  useEffect(() => verdict.current?.scrollIntoView({ block: 'nearest' }), [reading, refusal]);
  return (
    <Panel
      title="From layer 1 to a balance"
      class="result"
      aside={refusal === undefined && <Known of={{ class: report.class, level: report.level }} />}
    >
      <p ref={verdict} class={`verdict ${refusal === undefined ? 'verdict-good' : 'verdict-bad'}`}>
        {verdictText(reading, refusal)}
      </p>
      <p class="panel-intro">Read it from the top. Each step is checked in this page against the step above it.</p>
      <Chain reading={reading} refusal={refusal} />
      {refusal === undefined && <Export of={reading} />}
      <Words />
    </Panel>
  );
}

/** The outcome in a sentence. */
export function verdictText({ account, balance, proved }: Reading, refusal: Refusal | undefined): string {
  if (refusal === undefined) {
    const block = groups(proved.header!.header.number);
    return `Proved: ${shortHex(account)} has ${formatUnits(balance, 18)} ETH in block ${block}, if the first block below is right.`;
  }
  return `Refused: the ${LIES[refusal.lie].server} server lied and was caught. The chain ends at the check that failed.`;
}

function Export({ of: { bundle, checkpoint, asked, ms, proved } }: { readonly of: Reading }) {
  const json = pretty(bundle);
  const bytes = new TextEncoder().encode(json);
  return (
    <>
      <p class="chain-took">
        The light node started, asked the three servers {asked} questions and checked their answers in {formatMs(ms)}.
      </p>
      <div class="actions">
        <button type="button" onClick={() => download(bytes, `evidence-block-${proved.header!.header.number}.json`)}>
          Download the evidence, {formatBytes(bytes.length)}
        </button>
      </div>
      <p class="hint">
        It proves the header to others who trust the checkpoint, without any server:{' '}
        <code>plumbline verify evidence.json --checkpoint {shortHex(checkpoint)}</code>
      </p>
    </>
  );
}

const WORDS: Readonly<Record<string, string>> = {
  'Layer 1, layer 2': 'Ethereum, and a network such as Linea that settles on it: the rollup.',
  'Beacon block': 'a block of Ethereum’s consensus. It carries a layer-1 block.',
  'Sync committee':
    '512 validators on Ethereum, 32 here, who sign beacon blocks for about a day. Their blocks name the next committee.',
  'State root': 'one hash over all accounts and their storage. A Merkle proof shows what is below it.',
  'zk state root': 'the same for layer 2, in the form that zk proofs are about.',
  'History contract': 'a contract that stores, at the start of each block, the hash of the block before (EIP-2935).',
};

function Words() {
  return (
    <details class="fold">
      <summary>What the words mean</summary>
      <dl class="legend">
        {Object.entries(WORDS).map(([word, meaning]) => (
          <div key={word}>
            <dt>{word}</dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
