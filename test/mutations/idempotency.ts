/** Faults in Idempotency-Keys. */
import type { Mutation } from './mutation.ts';

export const IDEMPOTENCY: readonly Mutation[] = [
  {
    name: 'the response is stored outside the transaction of its change',
    file: 'src/domain/idempotency.ts',
    find: 'await storeForKey(tx, service, request, key, answerTo(result));',
    replace: 'await storeForKey(service.db, service, request, key, answerTo(result));',
    caughtBy: { file: 'test/domain/idempotency.test.ts', name: 'a rolled-back change leaves no response' },
    budgetS: 30,
    figure: 'one_key',
  },
  {
    name: 'a change is kept although its key was taken',
    file: 'src/domain/idempotency.ts',
    find: 'if (!stored) throw new KeyAlreadyUsed();',
    replace: 'void stored;',
    caughtBy: {
      file: 'test/domain/idempotency-races.test.ts',
      name: 'concurrent requests in any number of processes are one change with one response',
    },
    budgetS: 40,
    figure: 'one_key',
  },
  {
    name: 'a second process overwrites the response of the first',
    file: 'src/store/idempotency.ts',
    find: 'where i.created_at <= $retained_since`;',
    replace: '`;',
    caughtBy: {
      file: 'test/domain/idempotency-races.test.ts',
      name: 'concurrent requests in any number of processes are one change with one response',
    },
    budgetS: 40,
    figure: 'one_key',
  },
  {
    name: 'the fingerprint of a request leaves out its body',
    file: 'src/domain/sessions/stored-response.ts',
    find: '    canonicalize(request.body),\n',
    replace: '',
    caughtBy: {
      file: 'test/domain/idempotency.test.ts',
      name: 'a key with another body, path, method, or query is a conflict',
    },
    budgetS: 30,
    figure: 'one_key',
  },
  {
    name: 'a key is kept for an hour less than promised',
    file: 'src/domain/sessions/stored-response.ts',
    find: 'LIMITS.idempotencyRetentionHours * HOUR_MS',
    replace: '(LIMITS.idempotencyRetentionHours - 1) * HOUR_MS',
    caughtBy: {
      file: 'test/domain/idempotency.test.ts',
      name: 'a key is stored for 24 hours of the business clock',
    },
    budgetS: 30,
    figure: 'one_key',
  },
  {
    name: 'a failure replaces the response of the request that won',
    file: 'src/domain/idempotency.ts',
    find: '    if (other) return other;\n    if (error instanceof KeyAlreadyUsed ||',
    replace: '    if (error instanceof KeyAlreadyUsed ||',
    caughtBy: {
      file: 'test/domain/idempotency-races.test.ts',
      name: 'concurrent requests share one response even if the first spent the last of the',
    },
    budgetS: 40,
    figure: 'one_key',
  },
];
