/** The streams that a command speaks with. Data goes to stdout; everything that is only for a person's eyes goes to stderr. */
import { createInterface } from 'node:readline/promises';
import { Writable } from 'node:stream';
import { Failure } from '../exit-codes.ts';
import { truncate } from '../output/width.ts';
import { printable } from './printable.ts';

export interface Terminal {
  readonly stdin: NodeJS.ReadStream;
  readonly stdout: NodeJS.WriteStream;
  readonly stderr: NodeJS.WriteStream;
  /** Whether somebody sits there who can be asked. */
  readonly isInteractive: boolean;
  /** Whether somebody watches stderr. */
  readonly showsNotes: boolean;
  /** Characters a line; 80 where it is not known. */
  readonly columns: number;
  /** Data, on stdout. */
  write(text: string): void;
  /** A line on stderr, always: what must not be missed. */
  warn(text: string): void;
  /** A line on stderr, only where somebody watches. */
  note(text: string): void;
  /** A line that the next one overwrites, only where somebody watches; '' takes it away. */
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
    // A terminal that does not know its width says 0.
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
      // A longer one would fill a second line, which the next one does not take away.
      stderr.write(`${CLEAR_LINE}${truncate(printable(text), (stderr.columns || DEFAULT_COLUMNS) - 1)}`);
      hasProgressLine = text !== '';
    },
  };
}

/** Asks, and gives the answer without spaces around it. With `hidden` what is typed is not shown. */
export async function prompt(terminal: Terminal, question: string, hidden = false): Promise<string> {
  if (!terminal.isInteractive) throw new Failure('usage', 'there is nobody to ask: this is not a terminal');
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
    throw new Failure('interrupted', 'nothing was done');
  } finally {
    reader.close();
    if (hidden) terminal.stderr.write('\n');
  }
}
