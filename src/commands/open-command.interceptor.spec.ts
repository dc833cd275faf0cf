import { describe, expect, it } from '@jest/globals';
import { Subject, type Observable } from 'rxjs';
import { executionContext } from '../../test/support/execution-context.ts';
import { OpenCommandLimit } from '../platform/limits/open-command-limit.ts';
import { OpenCommandInterceptor } from './open-command.interceptor.ts';

describe('OpenCommandInterceptor', () => {
  const limit = new OpenCommandLimit(1);
  const interceptor = new OpenCommandInterceptor(limit);
  const begin = (answer: Observable<unknown>): Observable<unknown> =>
    interceptor.intercept(executionContext({}), { handle: () => answer });

  it.each<[string, (answer: Subject<unknown>) => void]>([
    ['answered', (answer) => answer.complete()],
    ['refused', (answer) => answer.error(new Error('refused'))],
  ])('counts a command as open until it is %s', (_, end) => {
    const answer = new Subject<unknown>();
    begin(answer).subscribe({ error: () => undefined });
    expect(limit.openCommands).toBe(1);
    end(answer);
    expect(limit.openCommands).toBe(0);
  });

  it('refuses one beyond the limit, and counts it no further', () => {
    const answer = new Subject<unknown>();
    begin(answer).subscribe();
    expect(() => begin(new Subject())).toThrow(
      expect.objectContaining({ code: 'overloaded', reason: 'open_commands' }),
    );
    answer.complete();
    expect(limit.openCommands).toBe(0);
  });
});
