/** Findings of a comparison. Each kind is a row of the report. */
export const PROBLEM_KINDS = ['lost', 'doubled', 'stuck', 'unexpected', 'verify', 'died'] as const;
export type ProblemKind = (typeof PROBLEM_KINDS)[number];

export interface Problem {
  readonly kind: ProblemKind;
  readonly text: string;
}

/** An error that something threw: a wait that timed out, or else an answer that no one expects. */
export function thrown(what: string, error: unknown): Problem {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { kind: /timed out|TimeoutError/.test(text) ? 'stuck' : 'unexpected', text: `${what}: ${text}` };
}
