import { test } from 'vitest';
import { liesAlone, liesBesideAnHonestOne, liesToExecution } from '../support/message-lies.js';

// Each lie once; test/slow/lies-messages.test.ts tells them in 500 ways.
test('no lie makes a false state, and none hides a message in blocks that are proved', () => liesAlone(56));

test('no lie about what a claim reads makes it pass or fail', () => liesToExecution());

test('with an honest endpoint beside, every answer is that of the true chain', () => liesBesideAnHonestOne(48));
