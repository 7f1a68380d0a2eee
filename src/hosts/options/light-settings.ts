import type { BlockTag } from '../../chain/block-reference.js';
import type { HeadLevel } from '../../chain/light/heads/heads.js';
import type { LightChainParts } from '../../chain/light/light-options.js';
import { invalidParameter } from '../../errors.js';
import { hexToBytes } from '../../primitives/hex.js';
import type { EndpointGroup } from '../../upstream/group.js';
import type { LightChainOptions } from './light-options.js';

const HEAD_TIMEOUT_MS = 8_000;

/**
 * What the options say of a light chain, and the defaults where they do not.
 *
 * @param upstream - the endpoints of layer 2
 * @throws PlumblineError `INVALID_PARAMETER`; `INVALID_HEX`, `INVALID_LENGTH` for the hash of the trusted block
 */
export function lightSettings(options: Omit<LightChainOptions, 'kind'>, upstream: EndpointGroup) {
  const { network, layerOneHeader } = options;
  return {
    network,
    ...levelOf(options, upstream),
    required: requiredOf(options),
    maxLagBlocks: options.maxLagBlocks ?? 32,
    maxReorgDepth: options.maxReorgDepth ?? 64,
    headMaxAgeMs: options.headMaxAgeMs ?? network.slotSeconds * 1000,
    headTimeoutMs: HEAD_TIMEOUT_MS,
    accessLists: options.accessLists ?? true,
    finalityMaxAgeMs: options.finalityMaxAgeMs ?? 60_000,
    proveLayerOne: options.proveLayerOne ?? false,
    layerOneAgreeing: options.layerOneAgreeing ?? 1,
    layerOneHeader: layerOneHeader && hexToBytes(layerOneHeader.hash, 32),
  } satisfies Partial<LightChainParts>;
}

const HEAD_LEVELS: readonly string[] = ['plain', 'linked', 'sealed'] satisfies HeadLevel[];
const TAGS: readonly string[] = ['latest', 'pending', 'earliest', 'safe', 'finalized'] satisfies BlockTag[];

/** Levels by tag. @throws PlumblineError `INVALID_PARAMETER` for what is none of them: it would ask for nothing */
function requiredOf({ required = {} }: Pick<LightChainOptions, 'required'>) {
  for (const [tag, level] of Object.entries(required)) {
    if (!TAGS.includes(tag)) throw invalidParameter('required', `${tag} is not a block tag; use ${TAGS.join(', ')}`);
    if (level !== undefined && !HEAD_LEVELS.includes(level))
      throw invalidParameter(`required.${tag}`, `must be one of ${HEAD_LEVELS.join(', ')}`);
  }
  return required;
}

/** @throws PlumblineError `INVALID_PARAMETER` for no level, or when fewer origins are given than have to agree */
function levelOf({ level, agreeing = 2 }: Pick<LightChainOptions, 'level' | 'agreeing'>, { endpoints }: EndpointGroup) {
  const origins = new Set(endpoints.map(({ origin }) => origin)).size;
  const chosen = level ?? (origins > 1 ? 'linked' : 'plain');
  if (!HEAD_LEVELS.includes(chosen)) throw invalidParameter('level', `must be one of ${HEAD_LEVELS.join(', ')}`);
  if (chosen === 'linked' && (!Number.isInteger(agreeing) || agreeing < 2 || agreeing > origins)) {
    throw invalidParameter(
      'agreeing',
      `must be from 2 to ${origins}, the number of origins in endpoints; got ${agreeing}`,
    );
  }
  return { level: chosen, agreeing };
}
