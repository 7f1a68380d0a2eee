import { type AnswerReport, createNode, devnet, type Hex, type PlumblineNode } from 'plumbline-l2';
import { requireAddress } from '../lib/calls.js';
import { PageError } from '../lib/explain.js';
import { isOwnChain, question, showLink } from '../state/link.js';
import { running } from '../state/session.js';
import { fillChain, isFilled, olderCheckpoint } from './layer-one.js';
import { LIES, type LieName, type Said } from './lies.js';
import { refusedLink } from './links.js';
import { type Devnet, devnetIn, devnetOfServer, type Liar, SERVERS, serversOver, type Told } from './servers.js';
import { type Reading, shown, stage } from './state.js';

/** Reads the finalized balance of an account with a light node, and collects what proves it. */
export async function readBalance(account: string): Promise<void> {
  const asked = question('evidence', { account });
  shown.value = undefined;
  shown.value = { reading: await read(requireAddress(account, 'Account')), question: asked };
  showLink(asked);
}

/** Reads the balance once more, from servers that say the same but for one lie. @throws Error if it is not refused */
export async function readLie(account: string, lie: LieName): Promise<void> {
  const address = requireAddress(account, 'Account');
  const asked = question('evidence', { account }, { lie });
  const before = shown.value?.reading;
  shown.value = undefined;
  const reading = before?.account === address && before.node === devnetOfPage().node ? before : await read(address);
  const { server, about, change } = LIES[lie];
  let said: Said | undefined;
  const liar: Liar = (from, question, answer) => {
    if (from === server && about.test(question)) said = change(answer as never) ?? said;
  };
  const ask = serversOver(devnetOfPage(), reading.told, liar);
  stage.value = 'Another light node starts, and is lied to.';
  try {
    await withLightNode(ask, reading, (light) => balanceOf(light, address));
  } catch (error) {
    const link = refusedLink(error);
    if (said === undefined || link === undefined) throw error;
    shown.value = { reading, refusal: { lie, said, link, error }, question: asked };
    showLink(asked);
    return;
  }
  throw new Error(`The lie was not refused: ${LIES[lie].text}.`);
}

/** Reads the first example. A devnet that is not the page's own is never mined for it: the visitor has to click. */
export async function firstReading(account: string): Promise<void> {
  const of = devnetOfPage();
  if (running.value?.settings.kind === 'devnet' || (await isFilled(of))) await readBalance(account);
}

function devnetOfPage(): Devnet {
  const now = running.value;
  if (now === undefined || !isOwnChain())
    throw new PageError('PAGE', 'This needs the devnet of this page. Start it under “Node”.');
  return now.settings.here === true ? devnetOfServer(now.node) : devnetIn(now.node);
}

async function read(account: Hex): Promise<Reading> {
  const behind = devnetOfPage();
  const { node } = behind;
  const { verifyEvidence, hexToBytes } = await import('plumbline-l2/verify');
  await fillChain(behind);
  const checkpoint = await olderCheckpoint(behind);
  const told: Told = new Map();
  const network = devnet({ scheme: node.info.hashScheme! });
  stage.value = 'A light node starts, reads and checks.';
  const began = performance.now();
  return withLightNode(serversOver(behind, told), { checkpoint, network }, async (light) => {
    const { balance, report } = await balanceOf(light, account);
    const [asked, ms] = [told.size, performance.now() - began];
    const [block] = report.blocks;
    if (block === undefined) throw new Error('The balance rests on no block whose header is proved.');
    const bundle = await light.exportEvidence({ block: block.number });
    const proved = await verifyEvidence(bundle, { network, checkpoint: hexToBytes(checkpoint) });
    if (!proved.verified) throw new Error(`The evidence is refused: ${proved.message}`);
    return { node, network, checkpoint, account, balance, report, bundle, proved, told, asked, ms };
  });
}

/** Opens a light node that has the servers of this page, and closes it after the work. */
async function withLightNode<Result>(
  fetch: typeof globalThis.fetch,
  { checkpoint, network }: Pick<Reading, 'checkpoint' | 'network'>,
  work: (light: PlumblineNode) => Promise<Result>,
): Promise<Result> {
  const layerOne = { consensus: [SERVERS.beacon], execution: [SERVERS['layer-1']], checkpoint: { root: checkpoint } };
  const light = await createNode({
    chain: { kind: 'light', network, endpoints: [SERVERS['layer-2']], layerOne },
    fetch,
  });
  try {
    return await work(light);
  } finally {
    await light.close();
  }
}

async function balanceOf(light: PlumblineNode, account: Hex) {
  let report: AnswerReport | undefined;
  light.on('answer', (answered) => {
    report = answered;
  });
  const balance = BigInt((await light.request({ method: 'eth_getBalance', params: [account, 'finalized'] })) as Hex);
  return { balance, report: report! };
}
