/** The processes below the test runner, read from /proc. Empty on systems without it. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

const TICKS_PER_S = 100;
/** Indexes of the fields in /proc/PID/stat after the name in parentheses. */
const STAT_FIELDS = { state: 0, parent: 1, group: 2, startTicks: 19 } as const;

export interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** Distinguishes the process from a later one with the same id. */
  readonly startTicks: number;
  readonly ageS: number;
  readonly argv: readonly string[];
}

/** The process of a test file, with all its descendants. */
interface FileProcess extends Process {
  readonly file: string;
  readonly descendants: readonly Process[];
}

/** Returns the test files that the runner is running, oldest first. */
export function runningTestFiles(runner: number): readonly FileProcess[] {
  const all = listProcesses();
  return all
    .filter(({ parent }) => parent === runner)
    .map((child) => ({ ...child, file: testFileOf(child), descendants: descendants(child.pid, all) }))
    .sort((a, b) => b.ageS - a.ageS);
}

/**
 * Returns processes of the group whose parent has exited: leftovers of tests, which may hold a test's output
 * open.
 */
export function orphansOf(group: number): readonly Process[] {
  const all = listProcesses();
  const members = new Set(all.filter((each) => each.group === group).map(({ pid }) => pid));
  return all.filter(({ pid, parent }) => pid !== group && members.has(pid) && !members.has(parent));
}

/** Kills the targets. A start time that changed means that the process id was reused. */
export function killAll(targets: readonly Process[]): void {
  const startTicksByPid = new Map(listProcesses().map((each) => [each.pid, each.startTicks]));
  for (const { pid, startTicks } of targets) {
    if (startTicksByPid.get(pid) !== startTicks) continue;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has exited in the meantime.
    }
  }
}

/** Names a program and its script, such as `node skerry.js`. Other arguments may be long or secret. */
export function describeProcess({ argv: [program = '', ...rest] }: Process): string {
  const script = rest.find((word) => /\.\w{1,4}$/.test(word));
  return [program, ...(script === undefined ? [] : [script])].map((word) => basename(word)).join(' ');
}

function testFileOf({ argv }: Process): string {
  return argv.findLast((word) => word.endsWith('.test.ts')) ?? '';
}

function descendants(pid: number, all: readonly Process[]): readonly Process[] {
  return all
    .filter(({ parent }) => parent === pid)
    .flatMap((child) => [child, ...descendants(child.pid, all)]);
}

function listProcesses(): readonly Process[] {
  const upS = Number(readText('/proc/uptime')?.split(' ')[0] ?? 0);
  const pids = readFolder('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    const stat = readText(`/proc/${pid}/stat`);
    const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields === undefined || fields[STAT_FIELDS.state] === 'Z') return [];
    const startTicks = Number(fields[STAT_FIELDS.startTicks]);
    const argv = readText(`/proc/${pid}/cmdline`)?.split('\0').filter(Boolean) ?? [];
    const ageS = Math.round(upS - startTicks / TICKS_PER_S);
    return [
      {
        pid: Number(pid),
        parent: Number(fields[STAT_FIELDS.parent]),
        group: Number(fields[STAT_FIELDS.group]),
        startTicks,
        ageS,
        argv,
      },
    ];
  });
}

function readFolder(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Returns null if the process exits while its files are read. */
function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
