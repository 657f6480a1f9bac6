/** Findings as the operator's commands print them: what blocks comes first. */
import type { Finding } from '../../domain/health/status.ts';
import { ProblemsFound } from '../context.ts';
import type { Output } from './output.ts';

type Level = Finding['level'];

const LABELS: Readonly<Record<Level, string>> = { ok: 'OK', note: 'NOTE', warn: 'WARN', fail: 'FAIL' };
const LEVELS_BY_URGENCY: readonly Level[] = ['fail', 'warn', 'note', 'ok'];

/** Prints FAIL, WARN, NOTE, OK, each in the order found. Throws ProblemsFound if any needs attention. */
export function reportFindings(findings: readonly Finding[], { table }: Pick<Output, 'table'>): void {
  const rank = ({ level }: Finding) => LEVELS_BY_URGENCY.indexOf(level);
  const rows = findings
    .toSorted((a, b) => rank(a) - rank(b))
    .map(({ level, subject, message }) => [LABELS[level], subject, message]);
  table(['level', 'subject', 'message'], rows, { isHeadless: true });
  if (findings.some(({ level }) => level === 'warn' || level === 'fail')) throw new ProblemsFound();
}
