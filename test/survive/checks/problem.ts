/** Findings of a comparison. Each kind is a row of the report. */
export const PROBLEM_KINDS = ['lost', 'doubled', 'stuck', 'unexpected', 'verify', 'died'] as const;
export type ProblemKind = (typeof PROBLEM_KINDS)[number];

export interface Problem {
  readonly kind: ProblemKind;
  readonly text: string;
}
