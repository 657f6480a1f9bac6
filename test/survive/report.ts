/** The table of figures of one or more runs. */
import { PROBLEM_KINDS, type ProblemKind } from './checks/problem.ts';
import type { FaultCount } from './faults/breaking.ts';
import type { RunResult } from './run.ts';

export interface Row {
  readonly figure: string;
  readonly value: string;
  /** Its limit; an empty text: none. */
  readonly held: string;
  readonly isOk: boolean;
}

/** Beyond the start of a process on this machine. */
const RECOVERY_MAX_MS = 5_000;
const NAMES: Readonly<Record<ProblemKind, string>> = {
  lost: 'lost',
  doubled: 'doubled',
  stuck: 'stuck',
  unexpected: 'unexpected answers',
  verify: 'findings of skerryd verify',
  died: 'processes that ended on their own',
};

export function tableOf(results: readonly RunResult[], failedRuns = 0): Row[] {
  const total = (of: (result: RunResult) => number) => results.reduce((sum, result) => sum + of(result), 0);
  const max = (of: (result: RunResult) => number) => Math.max(0, ...results.map(of));
  const shown = (figure: string, value: number | string): Row => ({
    figure,
    value: String(value),
    held: '',
    isOk: true,
  });
  const none = (figure: string, value: number): Row => ({
    figure,
    value: String(value),
    held: '0',
    isOk: value === 0,
  });
  /** Without a minimum, a run that does nothing would hold. */
  const each = (figure: string, of: (result: RunResult) => number): Row => ({
    figure,
    value: String(total(of)),
    held: 'at least 1 per seed',
    isOk: results.every((result) => of(result) > 0),
  });
  const delivered = (of: keyof RunResult['delivered']) => total((result) => result.delivered[of]);
  return [
    {
      figure: 'seeds',
      value: results.map(({ seed }) => seed).join(' '),
      held: 'at least 1',
      isOk: results.length > 0,
    },
    shown(
      'seconds',
      total(({ seconds }) => seconds),
    ),
    shown(
      'steps',
      total(({ steps }) => steps.length),
    ),
    shown(
      'requests',
      total(({ asked }) => asked.requests),
    ),
    each('requests acknowledged', ({ asked }) => asked.acknowledged),
    shown(
      'requests refused by a rule',
      total(({ asked }) => asked.refused),
    ),
    shown(
      'answers 503',
      total(({ asked }) => asked.unavailable),
    ),
    shown(
      'requests without an answer',
      total(({ asked }) => asked.unanswered),
    ),
    shown(
      'slowest answer, ms',
      max(({ asked }) => asked.slowest.ms),
    ),
    shown(
      'servers on the host behind a proxy, at most',
      max(({ hosted }) => hosted),
    ),
    shown(
      'starts of processes',
      total(({ starts }) => starts),
    ),
    each('comparisons with the model', ({ calmed }) => calmed.calms),
    each('resources and entries compared', ({ calmed }) => calmed.comparedResources),
    shown(
      'longest wait for due work, ms',
      max(({ calmed }) => calmed.longestSettleMs),
    ),
    shown('events delivered at the end', delivered('delivered')),
    shown('events given up at the end', delivered('givenUp')),
    shown('deliveries repeated, the same', delivered('repeated')),
    ...faultRows(results),
    shown(
      'faults that could not begin or end',
      total(({ faultFailures }) => faultFailures.length),
    ),
    shown(
      'recoveries without another fault',
      total(({ recoveries }) => recoveries.measured),
    ),
    {
      figure: 'longest recovery, ms',
      value: String(max(recoveryMs)),
      held: `at most ${RECOVERY_MAX_MS} more than a start: ${max(({ firstStartMs }) => firstStartMs)}`,
      isOk: results.every((result) => recoveryMs(result) <= RECOVERY_MAX_MS + result.firstStartMs),
    },
    none(
      'published - delivered - pending - given up',
      delivered('published') - delivered('delivered') - delivered('pending') - delivered('givenUp'),
    ),
    none('runs that did not start', failedRuns),
    ...PROBLEM_KINDS.map((kind) =>
      none(
        NAMES[kind],
        total(({ problems }) => problems.filter((problem) => problem.kind === kind).length),
      ),
    ),
  ];
}

const recoveryMs = ({ recoveries }: RunResult): number => Math.max(0, ...recoveries.longestMs.values());

/** So many faults of a name, of which none did anything, prove nothing. */
const TRIES_WITHOUT_EFFECT = 5;

/** Also of faults that never were. */
function faultRows(results: readonly RunResult[]): Row[] {
  const names = [...new Set(results.flatMap(({ faults }) => [...faults.keys()]))].sort();
  return names.map((name) => {
    const sum = (of: keyof FaultCount) =>
      results.reduce((total, { faults }) => total + (faults.get(name)?.[of] ?? 0), 0);
    const [begun, applied] = [sum('begun'), sum('applied')];
    const back = results.map(({ recoveries }) => recoveries.longestMs.get(name) ?? -1);
    const recovered = Math.max(...back) < 0 ? '' : `, ready in ${Math.max(...back)} ms`;
    const value = `${begun === applied ? applied : `${applied} of ${begun}`}${recovered}`;
    const isOk = applied > 0 || begun < TRIES_WITHOUT_EFFECT;
    return { figure: `fault: ${name}`, value, held: isOk ? '' : 'at least one with an effect', isOk };
  });
}

export function printTable(rows: readonly Row[]): string {
  const width = (of: (row: Row) => string) => Math.max(...rows.map((row) => of(row).length));
  const [figures, values] = [
    width(({ figure }) => figure),
    Math.min(
      26,
      width(({ value }) => value),
    ),
  ];
  return rows
    .map(({ figure, value, held, isOk }) => {
      const result = held === '' ? '' : `  held to ${held}: ${isOk ? 'ok' : 'FAILED'}`;
      return `${figure.padEnd(figures)}  ${value.padStart(values)}${result}`;
    })
    .join('\n');
}
