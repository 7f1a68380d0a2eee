import { useSignal } from '@preact/signals';
import type { VerifiedLineaProof } from 'plumbline-l2/verify';
import { formatMs, formatUnits, groups, pretty, shortHex } from '../lib/format.js';
import { hexOf } from '../lib/hex.js';
import type { Knowledge } from '../state/requests.js';
import { type Fact, Facts } from '../ui/facts.js';
import { Known } from '../ui/known.js';
import { Json, Panel } from '../ui/panel.js';
import type { Anatomy } from './anatomy.js';
import { ChecksList } from './checks-list.js';
import { PathList } from './path-list.js';
import type { Examined } from './state.js';
import { TAMPERINGS } from './tamper.js';
import { Tree } from './tree.js';

/** What a verified answer proves, in the order of the request. */
function provenFacts({ account, slots }: VerifiedLineaProof, known: Knowledge | undefined): Fact[] {
  if (account === undefined) return [{ name: 'Account', value: 'does not exist in this state', prose: true, known }];
  return [
    { name: 'Balance', value: `${formatUnits(account.balance, 18)} ETH`, known },
    { name: 'Nonce', value: groups(account.nonce), known },
    { name: 'Code', value: account.codeSize === 0n ? 'none' : `${groups(account.codeSize)} bytes`, known },
    ...slots.map(({ key, value, exists }) => ({
      name: `Slot ${shortHex(hexOf(key), 8)}`,
      value: exists ? <SlotValue value={hexOf(value)} /> : 'zero: not in the tree',
      known,
    })),
  ];
}

function SlotValue({ value }: { readonly value: string }) {
  const short = `0x${value.slice(2).replace(/^0+(?=.)/, '')}`;
  return (
    <span title={value}>
      {short} <span class="soft">= {groups(BigInt(value))}</span>
    </span>
  );
}

/** The verdict, what is proven, and each item with its drawing and its checks. */
export function ProofReport({ of }: { readonly of: Examined }) {
  const { verdict, root, known, answer, scheme, ms, tampered, drawings } = of;
  return (
    <>
      <Panel
        title="Verdict"
        class="result"
        aside={known !== undefined && tampered === undefined && <Known of={known} />}
      >
        {verdict.verified ? (
          <p class="verdict verdict-good">Verified: the proof leads to {root.name}.</p>
        ) : (
          <p class="verdict verdict-bad">
            Refused: {verdict.message} <code>{verdict.reason}</code>
          </p>
        )}
        {tampered !== undefined && (
          <p class="hint">This copy was forged here: {TAMPERINGS[tampered]} was changed before it was looked at.</p>
        )}
        <Facts
          of={[
            { name: 'Root', value: <span title={root.hash}>{shortHex(root.hash, 12)}</span>, known: root.known },
            { name: 'Root from', value: root.from, prose: true },
            root.block !== undefined && { name: 'Block', value: groups(root.block) },
            !verdict.verified && { name: 'Place', value: verdict.at },
            { name: 'Checked in', value: `${formatMs(ms)}, ${scheme} in WebAssembly` },
          ]}
        />
        {verdict.verified && (
          <>
            <h3>{root.proves === undefined ? 'What is proven, if that root is right' : 'What is proven'}</h3>
            <Facts of={provenFacts(verdict, root.proves)} />
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
    </>
  );
}

const FEW = 8;

const capital = (text: string) => text.slice(0, 1).toUpperCase() + text.slice(1);

function Item({ of, examined }: { readonly of: Anatomy; readonly examined: Examined }) {
  const all = useSignal(false);
  const checks = examined.checks.filter(
    ({ item }) => item === of.at || (of.at === 'accountProof' && item === 'storageProofs'),
  );
  const isAccount = of.at === 'accountProof';
  const storageRoot = storageRootOf(examined);
  const busy = Math.max(...of.branches.map(({ steps }) => steps.filter(({ empty }) => !empty).length));
  const title = isAccount ? 'The account in the state tree' : `Slot ${shortHex(of.key, 8)} in the storage tree`;
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

/** Storage root inside the account value of the answer: the third of its six words. */
function storageRootOf({ answer: { accountProof } }: Examined): string | undefined {
  return 'proof' in accountProof ? `0x${accountProof.proof.value.slice(2 + 128, 2 + 192)}` : undefined;
}
