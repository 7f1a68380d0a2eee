/** The checks of seals, as one chunk. It is loaded when a chain needs seals. They need `loadSignerRecovery()` before them. */
export { loadSignerRecovery } from '../../ethereum/signer.js';
export { verifyCliqueSeal } from './clique-seal.js';
export { verifyMaruPayload } from './maru-payload.js';
export { verifyMaruAnswers } from './maru-seals.js';
