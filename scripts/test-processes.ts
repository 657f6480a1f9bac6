/** What runs below the tests, as Linux tells of it in /proc; elsewhere nothing is known. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

const TICKS_PER_S = 100;
/** What stands behind the name in parentheses: state, parent, group and so on. */
const STAT_FIELDS = { state: 0, parent: 1, group: 2, startTicks: 19 } as const;

export interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** Tells it from a later one of the same number. */
  readonly startTicks: number;
  readonly ageS: number;
  readonly argv: readonly string[];
}

/** A process for a test file, and what it has started, however deep. */
interface FileProcess extends Process {
  readonly file: string;
  readonly descendants: readonly Process[];
}

/** The test files that are being run by this process, the oldest first. */
export function runningTestFiles(runner: number): readonly FileProcess[] {
  const all = listProcesses();
  return all
    .filter(({ parent }) => parent === runner)
    .map((one) => ({ ...one, file: testFileOf(one), descendants: descendants(one.pid, all) }))
    .sort((one, other) => other.ageS - one.ageS);
}

/** What has lost its parent, but is still of the group: it was started by a test, and may hold a pipe of one. */
export function orphansOf(group: number): readonly Process[] {
  const all = listProcesses();
  const members = new Set(all.filter((one) => one.group === group).map(({ pid }) => pid));
  return all.filter(({ pid, parent }) => pid !== group && members.has(pid) && !members.has(parent));
}

/** Ends those that still are what they were. */
export function killAll(targets: readonly Process[]): void {
  const now = new Map(listProcesses().map((one) => [one.pid, one.startTicks]));
  for (const { pid, startTicks } of targets) {
    if (now.get(pid) !== startTicks) continue;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }
}

/** A program by its name, and what it runs: `node skerry.js`, `zsh`. Not all that it was called with: that may be long, or secret. */
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

/** Processes end while one looks at them. */
function readText(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
