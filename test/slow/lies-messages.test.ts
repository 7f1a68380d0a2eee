import { test } from 'vitest';
import { liesAlone, liesBesideAnHonestOne, liesToExecution } from '../support/message-lies.js';

test('500 lies about messages make no false state, and hide no message in blocks that are proved', () =>
  liesAlone(500));

test('500 lies about what a claim reads make none pass or fail', () => liesToExecution(500));

test('with an honest endpoint beside, every answer under 150 lies is that of the true chain', () =>
  liesBesideAnHonestOne(150));
