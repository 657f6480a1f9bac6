/**
 * Watches the test files. A test that hangs fails by its own timeout. But a file may hang outside of its
 * tests or block its thread so that no timeout fires, and its leftover processes may hold its output open.
 * The watchdog kills such a file, so it fails by name and the other files continue.
 */
import { describeProcess, killAll, orphansOf, type Process, runningTestFiles } from './test-processes.ts';

const CHECK_INTERVAL_MS = 2_000;

export interface TestWatchdog {
  /** Describes the running files, one line each. */
  readonly describeRunning: () => readonly string[];
  /** Stops watching and kills leftover processes of tests, including those in other process groups. */
  readonly stop: () => void;
}

/** `runner` is the leader of the process group of all tests. */
export function startWatchdog(runner: number, fileMaxMs: number, log: (line: string) => void): TestWatchdog {
  const limit = `within ${fileMaxMs / 1_000} s`;
  const isLate = ({ ageS }: Process) => ageS * 1_000 > fileMaxMs;
  const started = new Map<number, Process>();
  const files = () => {
    const running = runningTestFiles(runner);
    for (const each of running.flatMap(({ descendants }) => descendants)) started.set(each.pid, each);
    return running;
  };
  const check = () => {
    for (const file of files().filter(isLate)) {
      log(`${file.file} did not finish ${limit}; killing it${describeDescendants(file.descendants)}`);
      killAll([file, ...file.descendants]);
    }
    const orphans = orphansOf(runner).filter(isLate);
    for (const orphan of orphans)
      log(`a leftover process did not exit ${limit}; killing ${describeProcess(orphan)}`);
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

function describeDescendants(descendants: readonly Process[]): string {
  return descendants.length === 0 ? '' : `, with ${descendants.map(describeProcess).join(', ')}`;
}
