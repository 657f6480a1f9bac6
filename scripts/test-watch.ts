/**
 * Looks after the files while they run. A test that hangs fails by its own time-out; but a file may hang outside of its tests, or in a
 * loop that lets no time-out come, and what it started may hold its output open when it has ended. Such a file is killed, so
 * that it fails by its name and the others go on.
 */
import { killAll, nameOf, orphansOf, type Process, testFilesBelow } from './test-processes.ts';

const LOOK_EVERY_MS = 2_000;

export interface Watch {
  /** What still runs, a line for each file. */
  readonly stillThere: () => readonly string[];
  /** Stops looking, and ends what tests have left, in groups of its own, too. */
  readonly stop: () => void;
}

/** `runner` is the leader of the group of all tests. */
export function watchTests(runner: number, fileMaxMs: number, say: (line: string) => void): Watch {
  const within = `within ${fileMaxMs / 1_000} s`;
  const isLate = ({ ageS }: Process) => ageS * 1_000 > fileMaxMs;
  const started = new Map<number, Process>();
  const files = () => {
    const found = testFilesBelow(runner);
    for (const one of found.flatMap(({ below }) => below)) started.set(one.pid, one);
    return found;
  };
  const look = () => {
    for (const file of files().filter(isLate)) {
      say(`${file.file} has not ended ${within}: stopping it${withOthers(file.below)}`);
      killAll([file, ...file.below]);
    }
    const left = orphansOf(runner).filter(isLate);
    for (const orphan of left)
      say(`what a test has left has not ended ${within}: stopping ${nameOf(orphan)}`);
    killAll(left);
  };
  const timer = setInterval(look, LOOK_EVERY_MS);
  timer.unref();
  return {
    stillThere: () => files().map(({ file, ageS, below }) => `${file}, for ${ageS} s${withOthers(below)}`),
    stop: () => {
      clearInterval(timer);
      killAll([...started.values()]);
    },
  };
}

function withOthers(below: readonly Process[]): string {
  return below.length === 0 ? '' : `, with ${below.map(nameOf).join(', ')}`;
}
