/** The result of a run in which everything held, for tests of the table and of the seeds. */
import type { Step } from './history.ts';
import type { RunResult } from './run.ts';

export const CALM: Step = { kind: 'calm', number: 0 };

export function fakeResult(changes: Partial<RunResult> = {}): RunResult {
  return {
    ...{ seed: 1, steps: [CALM], seconds: 60, problems: [], faults: new Map(), faultFailures: [] },
    ...{ starts: 3, firstStartMs: 1_000, hosted: 1 },
    asked: {
      requests: 2,
      acknowledged: 1,
      refused: 0,
      unavailable: 1,
      unanswered: 0,
      slowest: { ms: 20, what: 'GET /servers' },
    },
    recoveries: { measured: 1, longestMs: new Map([['process killed', 900]]), slow: [] },
    calmed: { calms: 1, longestSettleMs: 100, comparedResources: 1, hosted: 1 },
    delivered: { published: 1, delivered: 1, pending: 0, givenUp: 0, repeated: 0 },
    ...changes,
  };
}
