/** Runs the CLI on a pseudo-terminal, as a person sees it: presses a key when its prompt has appeared. */
import { fileURLToPath } from 'node:url';
import { startProgram } from './start-program.ts';

const BIN = fileURLToPath(new URL('../../../packages/cli/bin/skerry.js', import.meta.url));
const REPEAT_EVERY_MS = 3_000;

export interface Key {
  /** The text on the screen that triggers the key. */
  readonly after: string | RegExp;
  readonly press?: string;
  /** Pressed repeatedly until the next key is triggered: a busy host may not respond to the first TAB. */
  readonly repeat?: string;
  /** An action elsewhere at that moment. */
  readonly act?: () => Promise<unknown>;
}

export interface TerminalRun {
  readonly env: Readonly<Record<string, string>>;
  readonly keys?: readonly Key[];
  readonly columns?: number;
}

export interface TerminalResult {
  readonly code: number | null;
  /** Everything that was written to the terminal: stdout and stderr. */
  readonly screen: string;
}

export const CTRL_C = '\u0003';

export async function runOnTerminal(run: TerminalRun, ...words: readonly string[]): Promise<TerminalResult> {
  const line = [process.execPath, BIN, ...words]
    .map((word) => `'${word.replaceAll("'", "'\\''")}'`)
    .join(' ');
  return await runLineOnTerminal(run, `exec ${line}`);
}

/** Runs a line of shell. The terminal echoes keys unless the program turns that off. */
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
    if (left[0]) throw new Error(`the program exited with ${code}`);
    return { code, screen: stdout };
  } catch (error) {
    if (!left[0]) throw error;
    throw new Error(`the screen never showed ${left[0].after}:\n${printed.stdout}`, { cause: error });
  } finally {
    clearInterval(repeatTimer);
    stop();
  }
}

function toPattern(text: string): RegExp {
  return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
}
