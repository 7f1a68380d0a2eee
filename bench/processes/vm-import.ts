/** The yardstick: a fresh process that imports @ethereumjs/vm and does nothing with it. */
import '@ethereumjs/vm';
import { leaveRun } from './process-run.js';

leaveRun();
