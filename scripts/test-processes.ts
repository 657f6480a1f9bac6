/** What runs below the tests, as Linux tells of it in /proc; elsewhere nothing is known. */
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

const TICKS_PER_S = 100;
/** What stands behind the name in parentheses: state, parent, group and so on. */
const AT = { state: 0, parent: 1, group: 2, startTicks: 19 } as const;

export interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  /** Tells it from a later one of the same number. */
  readonly startTicks: number;
  readonly ageS: number;
  readonly words: readonly string[];
}

/** A process for a test file, and what it has started, however deep. */
interface FileProcess extends Process {
  readonly file: string;
  readonly below: readonly Process[];
}

/** The test files that are being run by this process, the oldest first. */
export function testFilesBelow(runner: number): readonly FileProcess[] {
  const all = processes();
  return all
    .filter(({ parent }) => parent === runner)
    .map((one) => ({ ...one, file: fileOf(one), below: descendants(one.pid, all) }))
    .sort((one, other) => other.ageS - one.ageS);
}

/** What has lost its parent, but is still of the group: it was started by a test, and may hold a pipe of one. */
export function orphansOf(group: number): readonly Process[] {
  const all = processes();
  const members = new Set(all.filter((one) => one.group === group).map(({ pid }) => pid));
  return all.filter(({ pid, parent }) => pid !== group && members.has(pid) && !members.has(parent));
}

/** Ends those that still are what they were. */
export function killAll(doomed: readonly Process[]): void {
  const now = new Map(processes().map((one) => [one.pid, one.startTicks]));
  for (const { pid, startTicks } of doomed) {
    if (now.get(pid) !== startTicks) continue;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It has ended meanwhile.
    }
  }
}

/** A program by its name, and what it runs: `node skerry.js`, `zsh`. Not all that it was called with: that may be long, or secret. */
export function nameOf({ words: [program = '', ...rest] }: Process): string {
  const what = rest.find((word) => /\.\w{1,4}$/.test(word));
  return [program, ...(what === undefined ? [] : [what])].map((word) => basename(word)).join(' ');
}

function fileOf({ words }: Process): string {
  return words.findLast((word) => word.endsWith('.test.ts')) ?? '';
}

function descendants(pid: number, all: readonly Process[]): readonly Process[] {
  return all
    .filter(({ parent }) => parent === pid)
    .flatMap((child) => [child, ...descendants(child.pid, all)]);
}

function processes(): readonly Process[] {
  const upS = Number(textOf('/proc/uptime')?.split(' ')[0] ?? 0);
  const pids = listOf('/proc').filter((name) => /^\d+$/.test(name));
  return pids.flatMap((pid) => {
    const stat = textOf(`/proc/${pid}/stat`);
    const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ');
    if (fields === undefined || fields[AT.state] === 'Z') return [];
    const startTicks = Number(fields[AT.startTicks]);
    const words = textOf(`/proc/${pid}/cmdline`)?.split('\0').filter(Boolean) ?? [];
    const ageS = Math.round(upS - startTicks / TICKS_PER_S);
    return [
      {
        pid: Number(pid),
        parent: Number(fields[AT.parent]),
        group: Number(fields[AT.group]),
        startTicks,
        ageS,
        words,
      },
    ];
  });
}

function listOf(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

/** Processes end while one looks at them. */
function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
}
