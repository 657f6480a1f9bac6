/** Runs the command on a pseudo-terminal, as a person sees it: keys are pressed when what they answer has appeared. */
import { fileURLToPath } from 'node:url';
import { beginProgram } from './begin.ts';

const BIN = fileURLToPath(new URL('../../../packages/cli/bin/skerry.js', import.meta.url));
const INSIST_EVERY_MS = 3_000;

export interface Key {
  /** What the screen shows before. */
  readonly after: string | RegExp;
  readonly press?: string;
  /** Pressed once more, now and then, until the next key's turn has come: TAB, which a busy host may leave unanswered. */
  readonly insist?: string;
  /** What happens elsewhere then. */
  readonly act?: () => Promise<unknown>;
}

export interface OnTerminal {
  readonly env: Readonly<Record<string, string>>;
  readonly keys?: readonly Key[];
  readonly columns?: number;
}

export interface Shown {
  readonly code: number | null;
  /** All that was written to the terminal: stdout and stderr. */
  readonly screen: string;
}

export const CTRL_C = '\u0003';

export async function runOnTerminal(run: OnTerminal, ...words: readonly string[]): Promise<Shown> {
  const line = [process.execPath, BIN, ...words]
    .map((word) => `'${word.replaceAll("'", "'\\''")}'`)
    .join(' ');
  return await lineOnTerminal(run, `exec ${line}`);
}

/** A line of the shell. Its keys are echoed as on any terminal, unless the program turns that off. */
export async function lineOnTerminal(
  { env, keys = [], columns = 80 }: OnTerminal,
  line: string,
): Promise<Shown> {
  const args = ['-qe', '--echo', 'always', '-c', `stty cols ${columns} rows 40; ${line}`, '/dev/null'];
  const terminal = { TERM: 'xterm-256color', ...env };
  const { child, said, end, stop } = beginProgram(['script', ...args], { env: terminal });
  const { promise: failed, reject } = Promise.withResolvers<never>();
  const left = [...keys];
  let seen = 0;
  let insisting: NodeJS.Timeout | undefined;
  child.stdout.on('data', () => {
    for (let key = left[0]; key; key = left[0]) {
      const at = said.stdout
        .slice(seen)
        .search(typeof key.after === 'string' ? escaped(key.after) : key.after);
      if (at < 0) break;
      seen = said.stdout.length;
      left.shift();
      clearInterval(insisting);
      const { press, insist, act } = key;
      if (press !== undefined) child.stdin.write(press);
      if (insist !== undefined) insisting = setInterval(() => child.stdin.write(insist), INSIST_EVERY_MS);
      act?.().catch(reject);
    }
  });
  try {
    const { code, stdout } = await Promise.race([end, failed]);
    if (left[0]) throw new Error(`it has ended, with ${code}`);
    return { code, screen: stdout };
  } catch (error) {
    if (!left[0]) throw error;
    throw new Error(`never seen: ${left[0].after}, only:\n${said.stdout}`, { cause: error });
  } finally {
    clearInterval(insisting);
    stop();
  }
}

function escaped(text: string): RegExp {
  return new RegExp(text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'));
}
