/** The streams of a command. Data goes to stdout; everything meant for a person goes to stderr. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { Failure } from '../exit-codes.ts';
import { flag } from '../options.ts';
import { printable, truncate } from '../output/text.ts';

export interface Terminal {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  /** Whether we can ask the user a question. */
  readonly isInteractive: boolean;
  /** Whether stderr is a terminal and `--quiet` is off. */
  readonly showsNotes: boolean;
  /** Characters per line; 80 if unknown. */
  readonly columns: number;
  /** Data, on stdout. */
  write(text: string): void;
  /** Writes a line to stderr in any case, for messages that must not be missed. */
  warn(text: string): void;
  /** Writes a line to stderr if `showsNotes`. */
  note(text: string): void;
  /** Writes a line that the next line overwrites if `showsNotes`; '' clears it. */
  progress(text: string): void;
}

const DEFAULT_COLUMNS = 80;
const CLEAR_LINE = '\r\u001b[K';

export function openTerminal(quiet = false): Terminal {
  const { stdin, stdout, stderr } = process;
  const showsNotes = stderr.isTTY === true && !quiet;
  let hasProgressLine = false;
  const writeLine = (text: string) => {
    if (hasProgressLine) stderr.write(CLEAR_LINE);
    hasProgressLine = false;
    stderr.write(`${printable(text)}\n`);
  };
  return {
    stdin,
    stdout,
    stderr,
    isInteractive: stdin.isTTY === true && stderr.isTTY === true,
    showsNotes,
    // A terminal that does not know its width reports 0.
    columns: stdout.columns || DEFAULT_COLUMNS,
    write: (text) => {
      if (hasProgressLine && showsNotes) stderr.write(CLEAR_LINE);
      hasProgressLine = false;
      stdout.write(text);
    },
    warn: writeLine,
    note: (text) => {
      if (showsNotes) writeLine(text);
    },
    progress: (text) => {
      if (!showsNotes) return;
      // A longer text would wrap, and the next line would clear only its second row.
      stderr.write(`${CLEAR_LINE}${truncate(printable(text), (stderr.columns || DEFAULT_COLUMNS) - 1)}`);
      hasProgressLine = text !== '';
    },
  };
}

/** Asks a question and returns the trimmed answer. With `hidden`, the input is not echoed. */
export async function prompt(terminal: Terminal, question: string, hidden = false): Promise<string> {
  if (!terminal.isInteractive) throw new Failure('usage', 'cannot ask for input: stdin is not a terminal');
  const discard = new Writable({ write: (_chunk, _encoding, done) => done() });
  const output = hidden ? discard : terminal.stderr;
  const reader = createInterface({ input: terminal.stdin, output, terminal: true });
  const stopped = new AbortController();
  reader.once('SIGINT', () => stopped.abort());
  reader.once('close', () => stopped.abort());
  try {
    if (hidden) terminal.stderr.write(question);
    return (await reader.question(hidden ? '' : question, { signal: stopped.signal })).trim();
  } catch {
    throw new Failure('interrupted', 'interrupted; nothing was changed');
  } finally {
    reader.close();
    if (hidden) terminal.stderr.write('\n');
  }
}

/** The option of every destructive command. */
export const YES_OPTION = flag('Skip the confirmation', { short: 'y' });

/**
 * Asks before an action that cannot be undone and continues only after a yes. `consequence` completes a
 * sentence: `delete server web-1 and all data on its disk`.
 */
export async function confirm(terminal: Terminal, yes: boolean, consequence: string): Promise<void> {
  if (yes) return;
  if (!terminal.isInteractive) {
    throw new Failure('not_confirmed', `this would ${consequence}; pass --yes to confirm`);
  }
  const answer = await prompt(terminal, `This will ${consequence}.\nContinue? [y/N] `);
  if (!/^y(es)?$/i.test(answer)) throw new Failure('not_confirmed', 'canceled; nothing was changed');
}
