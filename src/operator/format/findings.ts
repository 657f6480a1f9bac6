/** Findings as the operator's commands print them: what blocks comes first. */
import type { Finding } from '../../domain/health/status.ts';
import { formatTable } from './table.ts';

type Level = Finding['level'];

const LABELS: Readonly<Record<Level, string>> = { ok: 'OK', note: 'NOTE', warn: 'WARN', fail: 'FAIL' };
const LEVELS_BY_URGENCY: readonly Level[] = ['fail', 'warn', 'note', 'ok'];

/** Returns one line per finding: FAIL, WARN, NOTE, OK, each in the order it was found. */
export function formatFindings(findings: readonly Finding[]): string[] {
  const rank = ({ level }: Finding) => LEVELS_BY_URGENCY.indexOf(level);
  return formatTable(
    findings
      .toSorted((a, b) => rank(a) - rank(b))
      .map(({ level, subject, message }) => [LABELS[level], subject, message]),
  );
}

/** Whether a command that reports these findings exits 1. */
export function hasProblem(findings: readonly Finding[]): boolean {
  return findings.some(({ level }) => level === 'warn' || level === 'fail');
}
