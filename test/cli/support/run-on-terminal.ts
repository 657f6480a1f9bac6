/** Runs the command on a pseudo-terminal, as a person sees it: keys are pressed when what they answer has appeared. */
import { fileURLToPath } from 'node:url';
import { startProgram } from './start-program.ts';

const BIN = fileURLToPath(new URL('../../../packages/cli/bin/skerry.js', import.meta.url));
const REPEAT_EVERY_MS = 3_000;

export interface Key {
  /** What the screen shows before. */
  readonly after: string | RegExp;
  readonly press?: string;
  /** Pressed once more, now and then, until the next key's turn has come: TAB, which a busy host may leave unanswered. */
  readonly repeat?: string;
  /** What happens elsewhere then. */
  readonly act?: () => Promise<unknown>;
}

export interface TerminalRun {
  readonly env: Readonly<Record<string, string>>;
  readonly keys?: readonly Key[];
  readonly columns?: number;
}

export interface TerminalResult {
  readonly code: number | null;
  /** All that was written to the terminal: stdout and stderr. */
  readonly screen: string;
}

export const CTRL_C = '\u0003';

export async function runOnTerminal(run: TerminalRun, ...words: readonly string[]): Promise<TerminalResult> {
  const line = [process.execPath, BIN, ...words]
    .map((word) => `'${word.replaceAll("'", "'\\''")}'`)
    .join(' ');
  return await runLineOnTerminal(run, `exec ${line}`);
}

/** A line of the shell. Its keys are echoed as on any terminal, unless the program turns that off. */
export async function runLineOnTerminal(
  { env, keys = [], columns = 80 }: TerminalRun,
  line: string,
): Promise<TerminalResult> {
  const args = ['-qe', '--echo', 'always', '-c', `stty cols ${columns} rows 40; ${line}`, '/dev/null'];
  const terminal = { TERM: 'xterm-256color', ...env };
  const { child, printed, result, stop } = startProgram(['script', ...args], { env: terminal });
  const { promise: failed, reject } = Promise.withResolvers<never>();
  const left = [...keys];
  let seen = 0;
  let repeatTimer: NodeJS.Timeout | undefined;
  child.stdout.on('data', () => {
    for (let key = left[0]; key; key = left[0]) {
      const at = printed.stdout
        .slice(seen)
        .search(typeof key.after === 'string' ? toPattern(key.after) : key.after);
      if (at < 0) break;
      seen = printed.stdout.length;
      left.shift();
      clearInterval(repeatTimer);
      const { press, repeat, act } = key;
      if (press !== undefined) child.stdin.write(press);
      if (repeat !== undefined) repeatTimer = setInterval(() => child.stdin.write(repeat), REPEAT_EVERY_MS);
      act?.().catch(reject);
    }
  });
  try {
    const { code, stdout } = await Promise.race([result, failed]);
    if (left[0]) throw new Error(`it has ended, with ${code}`);
    return { code, screen: stdout };
  } catch (error) {
    if (!left[0]) throw error;
    throw new Error(`never seen: ${left[0].after}, only:\n${printed.stdout}`, { cause: error });
  } finally {
    clearInterval(repeatTimer);
    stop();
  }
}

function toPattern(text: string): RegExp {
  return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
}
