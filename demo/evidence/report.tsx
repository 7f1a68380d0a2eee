import { accountName, capital } from '../lib/accounts.js';
import { formatBytes, formatMs, formatUnits, groups, pretty } from '../lib/format.js';
import { toneOf } from '../lib/trust.js';
import type { Question } from '../state/link.js';
import { download } from '../state/storage.js';
import { Copy } from '../ui/copyable.js';
import { Known } from '../ui/known.js';
import { Panel } from '../ui/panel.js';
import { AnswerTo, CopyLink } from '../ui/question.js';
import { Verdict } from '../ui/verdict.js';
import { Chain } from './chain.js';
import { LIES } from './lies.js';
import { linksOf } from './links.js';
import { fields, type Reading, type Refusal } from './state.js';

interface ReportProps {
  readonly reading: Reading;
  readonly refusal?: Refusal | undefined;
  readonly question: Question;
}

/** The verdict, the drawing, and the evidence as a file. */
export function EvidenceReport({ reading, refusal, question }: ReportProps) {
  const { report } = reading;
  const known = { class: report.class, level: report.level };
  const aside = (
    <>
      {refusal === undefined && <Known of={known} />}
      <CopyLink to={question} name="this evidence" />
    </>
  );
  return (
    <AnswerTo to={question} now={fields.value}>
      <Panel title="From layer 1 to a balance" class="result" aside={aside}>
        <Verdict tone={refusal === undefined ? toneOf(known) : 'bad'} of={refusal ?? reading}>
          {verdictText(reading, refusal)}
        </Verdict>
        <p class="panel-intro">Read it from the top. Each step is checked in this page against the step above it.</p>
        <Chain reading={reading} refusal={refusal} />
        {refusal === undefined && <Export of={reading} />}
        <Words />
      </Panel>
    </AnswerTo>
  );
}

/** The outcome in a sentence. */
export function verdictText(reading: Reading, refusal: Refusal | undefined): string {
  const { account, balance, proved } = reading;
  if (refusal === undefined) {
    const block = groups(proved.header!.header.number);
    const links = linksOf(reading).length - 1;
    return `${capital(accountName(account))} holds ${formatUnits(balance, 18)} ETH at block ${block}. Checked: ${links} links from the block of layer 1 that you trust, with ${proved.participants.length} signatures of committees.`;
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
        <code class="whole">plumbline verify evidence.json --checkpoint {checkpoint}</code>{' '}
        <Copy text={`plumbline verify evidence.json --checkpoint ${checkpoint}`} name="the command" />
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
