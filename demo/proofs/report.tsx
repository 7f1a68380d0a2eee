import { useSignal } from '@preact/signals';
import type { VerifiedLineaProof } from 'plumbline-l2/verify';
import { storageRootIn } from '../lib/account-value.js';
import { capital } from '../lib/accounts.js';
import { formatMs, groups, pretty } from '../lib/format.js';
import { hexOf } from '../lib/hex.js';
import type { Knowledge } from '../lib/trust.js';
import { Amount } from '../ui/amount.js';
import { Copyable } from '../ui/copyable.js';
import { type Fact, Facts } from '../ui/facts.js';
import { Known } from '../ui/known.js';
import { Long } from '../ui/long.js';
import { Json, Panel } from '../ui/panel.js';
import { AnswerTo, CopyLink } from '../ui/question.js';
import { Verdict } from '../ui/verdict.js';
import type { Anatomy } from './anatomy.js';
import { ChecksList } from './checks-list.js';
import { claimOf, proofTone, slotName, slotText } from './claim.js';
import { PathList } from './path-list.js';
import { type Examined, fields } from './state.js';
import { TAMPERINGS } from './tamper.js';
import { Tree } from './tree.js';

/** What a verified answer proves, in the order of the request. */
function provenFacts(address: string, { account, slots }: VerifiedLineaProof, known: Knowledge | undefined): Fact[] {
  if (account === undefined) return [{ name: 'Account', value: 'does not exist in this state', prose: true, known }];
  return [
    { name: 'Balance', value: <Amount value={account.balance} decimals={18} unit="ETH" />, known },
    { name: 'Nonce', value: groups(account.nonce), known },
    { name: 'Code', value: account.codeSize === 0n ? 'none' : `${groups(account.codeSize)} bytes`, known },
    ...slots.map(({ key, value, exists }) => ({
      name: slotName(address, hexOf(key)),
      value: (
        <>
          {slotText(address, hexOf(key), exists ? hexOf(value) : undefined)}
          {exists && <Long name="Raw value" text={hexOf(value)} folded />}
        </>
      ),
      known,
    })),
  ];
}

/** The outcome in a sentence: what is so, and what was checked for it; or what is not, and why. */
export function verdictText(of: Examined): string {
  const { verdict, checks, root } = of;
  const claim = claimOf(of);
  if (!verdict.verified) return `Refused: this answer does not show that ${claim}. ${capital(verdict.message)}.`;
  const rest = root.known?.class === 'forwarded' ? ' That root is one layer-1 server’s word.' : '';
  return `${claim}. Checked: ${checks.length} hashes and links, up to ${root.name}.${rest}`;
}

/** The verdict, what is proven, and each item with its drawing and its checks. */
export function ProofReport({ of }: { readonly of: Examined }) {
  const { verdict, root, known, answer, scheme, ms, tampered, drawings } = of;
  const aside = (
    <>
      {known !== undefined && tampered === undefined && <Known of={known} />}
      <CopyLink to={of.question} name="this proof" />
    </>
  );
  return (
    <AnswerTo to={of.question} now={fields.value}>
      <Panel title="Verdict" class="result" aside={aside}>
        <Verdict tone={verdict.verified ? proofTone(of) : 'bad'} of={of}>
          {verdictText(of)} {!verdict.verified && <code>{verdict.reason}</code>}
        </Verdict>
        {tampered !== undefined && (
          <p class="hint">This copy was forged here: {TAMPERINGS[tampered]} was changed before it was looked at.</p>
        )}
        <Facts
          of={[
            { name: 'Root', value: <Copyable hex={root.hash} name="root" />, known: root.known },
            { name: 'Root from', value: root.from, prose: true },
            root.block !== undefined && { name: 'Block', value: groups(root.block) },
            !verdict.verified && { name: 'Place', value: verdict.at },
            { name: 'Checked in', value: `${formatMs(ms)}, ${scheme} in WebAssembly` },
          ]}
        />
        {verdict.verified && (
          <>
            <h3>{root.proves === undefined ? 'What is proven, if that root is right' : 'What is proven'}</h3>
            <Facts of={provenFacts(answer.accountProof.key, verdict, root.proves)} />
          </>
        )}
        <Json summary="The answer" text={pretty(answer)} />
      </Panel>
      {drawings === undefined ? (
        <Panel title="Path">
          <p class="empty">
            A word of the answer is no element of the hash’s field, so its path cannot be hashed or drawn.
          </p>
        </Panel>
      ) : (
        drawings.map((drawing) => <Item key={drawing.at} of={drawing} examined={of} />)
      )}
    </AnswerTo>
  );
}

const FEW = 8;

function Item({ of, examined }: { readonly of: Anatomy; readonly examined: Examined }) {
  const all = useSignal(false);
  const checks = examined.checks.filter(
    ({ item }) => item === of.at || (of.at === 'accountProof' && item === 'storageProofs'),
  );
  const isAccount = of.at === 'accountProof';
  const storageRoot = storageRootOf(examined);
  const busy = Math.max(...of.branches.map(({ steps }) => steps.filter(({ empty }) => !empty).length));
  const title = isAccount
    ? 'The account in the state tree'
    : `${slotName(examined.answer.accountProof.key, of.key)} in the storage tree`;
  return (
    <Panel title={title} aside={<span class="pill">{of.branches.length === 1 ? 'present' : 'absent'}</span>}>
      <div class="proof">
        <div class="proof-tree">
          <Tree
            of={of}
            checks={checks}
            rootName={isAccount ? capital(examined.root.name) : 'Storage root in the account'}
            root={isAccount ? examined.root.hash : (storageRoot ?? of.branches[0]!.topHash)}
            detail={all.value ? 40 : FEW}
            tone={isAccount ? proofTone(examined) : 'good'}
          />
          {busy > FEW && (
            <button
              type="button"
              class="button-small"
              onClick={() => {
                all.value = !all.value;
              }}
            >
              {all.value ? 'Draw fewer levels' : 'Draw every level'}
            </button>
          )}
        </div>
        <div class="proof-checks">
          <ChecksList of={checks} label={`Checks of ${of.at}`} />
          <PathList of={of} />
        </div>
      </div>
    </Panel>
  );
}

/** Storage root inside the account value of the answer. */
function storageRootOf({ answer: { accountProof } }: Examined): string | undefined {
  return 'proof' in accountProof ? storageRootIn(accountProof.proof.value) : undefined;
}
