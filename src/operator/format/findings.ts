/** Findings as the operator's commands print them: what blocks comes first. */
import type { Finding } from '../../domain/health/status.ts';
import { ProblemsFound } from '../context.ts';
import { formatTable } from './table.ts';

type Level = Finding['level'];

const LABELS: Readonly<Record<Level, string>> = { ok: 'OK', note: 'NOTE', warn: 'WARN', fail: 'FAIL' };
const LEVELS_BY_URGENCY: readonly Level[] = ['fail', 'warn', 'note', 'ok'];

/** Returns one line per finding: FAIL, WARN, NOTE, OK, each in the order it was found. */
function formatFindings(findings: readonly Finding[]): string[] {
  const rank = ({ level }: Finding) => LEVELS_BY_URGENCY.indexOf(level);
  return formatTable(
    findings
      .toSorted((a, b) => rank(a) - rank(b))
      .map(({ level, subject, message }) => [LABELS[level], subject, message]),
  );
}

/** Prints findings; throws ProblemsFound if any needs attention. */
export function reportFindings(findings: readonly Finding[], out: (line: string) => void): void {
  for (const line of formatFindings(findings)) out(line);
  if (findings.some(({ level }) => level === 'warn' || level === 'fail')) throw new ProblemsFound();
}
