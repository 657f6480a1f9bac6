/**
 * Looks after the files while they run. A test that hangs fails by its own time-out; but a file may hang outside of its tests, or in a
 * loop that lets no time-out come, and what it started may hold its output open when it has ended. Such a file is killed, so
 * that it fails by its name and the others go on.
 */
import { describeProcess, killAll, orphansOf, type Process, runningTestFiles } from './test-processes.ts';

const CHECK_INTERVAL_MS = 2_000;

export interface TestWatchdog {
  /** What still runs, a line for each file. */
  readonly describeRunning: () => readonly string[];
  /** Stops looking, and ends what tests have left, in groups of its own, too. */
  readonly stop: () => void;
}

/** `runner` is the leader of the group of all tests. */
export function startWatchdog(runner: number, fileMaxMs: number, log: (line: string) => void): TestWatchdog {
  const limitText = `within ${fileMaxMs / 1_000} s`;
  const isLate = ({ ageS }: Process) => ageS * 1_000 > fileMaxMs;
  const started = new Map<number, Process>();
  const files = () => {
    const found = runningTestFiles(runner);
    for (const one of found.flatMap(({ descendants }) => descendants)) started.set(one.pid, one);
    return found;
  };
  const check = () => {
    for (const file of files().filter(isLate)) {
      log(`${file.file} has not ended ${limitText}: stopping it${describeDescendants(file.descendants)}`);
      killAll([file, ...file.descendants]);
    }
    const orphans = orphansOf(runner).filter(isLate);
    for (const orphan of orphans)
      log(`what a test has left has not ended ${limitText}: stopping ${describeProcess(orphan)}`);
    killAll(orphans);
  };
  const timer = setInterval(check, CHECK_INTERVAL_MS);
  timer.unref();
  return {
    describeRunning: () =>
      files().map(
        ({ file, ageS, descendants }) => `${file}, for ${ageS} s${describeDescendants(descendants)}`,
      ),
    stop: () => {
      clearInterval(timer);
      killAll([...started.values()]);
    },
  };
}

function describeDescendants(below: readonly Process[]): string {
  return below.length === 0 ? '' : `, with ${below.map(describeProcess).join(', ')}`;
}
