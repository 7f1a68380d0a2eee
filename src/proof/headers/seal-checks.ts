/** The checks of seals, as one module to load when a chain asks for seals at all. */
export { verifyCliqueSeal } from './clique-seal.js';
export { verifyMaruPayload } from './maru-payload.js';
export { verifyMaruAnswers } from './maru-seals.js';
