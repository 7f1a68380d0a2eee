import { DEV_ACCOUNTS, TEST_TOKEN } from 'plumbline-l2';
import type { LineaProofJson } from 'plumbline-l2/verify';
import { accountName, capital, TOKEN_SYMBOL } from '../lib/accounts.js';
import { balanceSlot } from '../lib/balance-slot.js';
import { formatUnits, groups, shortHex } from '../lib/format.js';
import { hexOf } from '../lib/hex.js';
import { type Tone, toneOf, weakest } from '../lib/trust.js';
import type { Examined } from './state.js';

/** Whose balance of the test token a slot holds; undefined for other slots. */
function ownerOf(address: string, key: string): string | undefined {
  if (address.toLowerCase() !== TEST_TOKEN) return undefined;
  return DEV_ACCOUNTS.find((one) => balanceSlot(one.address) === key.toLowerCase())?.address;
}

/** What a slot holds, in the unit that it is known to have. */
export function slotText(address: string, key: string, value: string | undefined): string {
  const owner = ownerOf(address, key);
  if (owner !== undefined) return `${formatUnits(BigInt(value ?? 0), 18)} ${TOKEN_SYMBOL}`;
  return value === undefined ? 'zero: not in the tree' : groups(BigInt(value));
}

/** What a slot is called: by whose balance it holds, or by its key. */
export function slotName(address: string, key: string): string {
  const owner = ownerOf(address, key);
  return owner === undefined ? `Slot ${shortHex(short(key), 8)}` : `${TOKEN_SYMBOL} of ${accountName(owner)}`;
}

function slotClaim(address: string, key: string, value: string | undefined): string {
  const owner = ownerOf(address, key);
  const text = slotText(address, key, value);
  if (owner !== undefined) return `${accountName(owner)} holds ${text}`;
  return `slot ${shortHex(short(key), 8)} of ${accountName(address)} is ${value === undefined ? 'empty' : text}`;
}

/** Hex without its leading zeros. */
function short(word: string): string {
  return `0x${word.slice(2).replace(/^0+(?=.)/, '')}`;
}

/** What an answer says, as a claim; of a refused one what it would be. */
export function claimOf({ answer, verdict, root }: Examined): string {
  const address = answer.accountProof.key;
  const at = root.block === undefined ? '' : ` at block ${groups(root.block)}`;
  if (!verdict.verified) return `${claimed(answer).join('; ')}${at}`;
  const { account, slots } = verdict;
  if (account === undefined) return `${capital(accountName(address))} does not exist${at}`;
  const held = `${accountName(address)} holds ${formatUnits(account.balance, 18)} ETH`;
  const claims = slots.map(({ key, value, exists }) => {
    return slotClaim(address, hexOf(key), exists ? hexOf(value) : undefined);
  });
  return capital(`${(claims.length > 0 ? claims : [held]).join('; ')}${at}`);
}

/** Claims of an answer that was not verified: read from its text, and true in no way. */
function claimed({ accountProof, storageProofs }: LineaProofJson): string[] {
  if (storageProofs.length === 0)
    return [`${accountName(accountProof.key)} ${'proof' in accountProof ? 'exists' : 'does not exist'}`];
  return storageProofs.map((item) => {
    const value = 'proof' in item && /^0x[0-9a-f]{1,64}$/i.test(item.proof.value) ? item.proof.value : undefined;
    return slotClaim(accountProof.key, item.key, value);
  });
}

/** The weakest link below what a proof shows: a root that the visitor names rests on the visitor's word alone. */
export function proofTone({ root }: Examined): Tone {
  return root.proves === undefined ? 'warn' : weakest(toneOf(root.known), toneOf(root.proves));
}
