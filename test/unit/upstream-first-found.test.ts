import { describe, expect, test } from 'vitest';
import { requestFirstFound } from '../../src/upstream/group.js';
import { failureOf } from '../support/mock-upstream-scene.js';
import { useScene } from '../support/upstream-scene-hooks.js';

const scene = useScene();

/** What a provider answers: null stands for “not here”, an error for one that cannot be reached. */
type Answer = string | null | Error;

/** Asks providers `a`, `b` and so on. @returns what was found, and who was asked */
function ask(answers: readonly Answer[], options: { agreeing?: number; signal?: AbortSignal; refuses?: string } = {}) {
  const asked: string[] = [];
  const group = scene.group(
    answers.map((answer, i) => ({
      name: 'abc'[i]!,
      provider: {
        request: async () => {
          asked.push('abc'[i]!);
          if (answer instanceof Error) throw answer;
          return answer;
        },
      },
    })),
  );
  const { refuses, ...rest } = options;
  const accept = (answer: unknown) => {
    if (answer === refuses) throw new Error('refused');
    return answer === null ? undefined : (answer as string);
  };
  return { asked, found: requestFirstFound(group, 'm', [], { ...rest, accept, waits: false }) };
}

describe('the first endpoint that has what is requested', () => {
  test('is the answer, and the others are not asked', async () => {
    const { asked, found } = ask([null, 'here', 'there']);
    expect(await found).toBe('here');
    expect(asked).toEqual(['a', 'b']);
  });

  test('two origins without it are enough, if the others have no other answer', async () => {
    expect(await ask([null, null]).found).toBeUndefined();
    expect(await ask([null, null, new Error('down')]).found).toBeUndefined();
    expect(await ask([null, null, 'here']).found).toBe('here');
  });

  test('a single origin decides alone, and more can be demanded', async () => {
    expect(await ask([null]).found).toBeUndefined();
    expect(await ask([null, null, null], { agreeing: 3 }).found).toBeUndefined();
    expect(await failureOf(ask([null, null, new Error('down')], { agreeing: 3 }).found)).toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
    });
  });

  test('one origin of two that does not have it proves nothing', async () => {
    const error = await failureOf(ask([new Error('down'), null]).found);
    expect(error).toMatchObject({
      code: 'UPSTREAM_UNAVAILABLE',
      message: 'too few endpoints answered to tell that it does not exist (a: the provider failed)',
      details: { endpoints: [{ origin: 'a', kind: 'unavailable', reason: 'the provider failed' }] },
    });
  });

  test('what is refused of an answer is told, and an abort is no absence', async () => {
    expect(await failureOf(ask(['bad'], { refuses: 'bad' }).found)).toMatchObject({ message: 'refused' });
    const stopped = new AbortController();
    stopped.abort(new Error('enough'));
    expect(await failureOf(ask([null, null], { signal: stopped.signal }).found)).toMatchObject({ code: 'ABORTED' });
  });
});
