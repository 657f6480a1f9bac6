/** Entry point: parses the command line, runs one command, prints errors, and sets the exit code. */
import { ApiError, Skerry, type SkerryError } from '@skerry/sdk';
import type { Context } from './command.ts';
import { COMMANDS } from './commands/index.ts';
import { type Account, resolveAccount } from './config/contexts.ts';
import { EXIT_CODES, type ExitName, exitFor, explain, Failure } from './exit-codes.ts';
import { parseFormat } from './output/format.ts';
import { Output } from './output/output.ts';
import { buildProgram, type GlobalOptions, insertSeparator } from './program.ts';
import { Interrupt } from './terminal/interrupt.ts';
import { openTerminal, type Terminal } from './terminal/terminal.ts';
import { readVersion } from './version.ts';

export async function main(): Promise<void> {
  process.on('uncaughtException', exitImmediately);
  // The reader may stop early: `skerry server list | head -1`.
  process.stdout.on('error', exitImmediately);
  process.stderr.on('error', () => process.exit(EXIT_CODES.internal.code));
  const { warn } = openTerminal();
  const interrupt = new Interrupt(warn, (exit) => process.exit(EXIT_CODES[exit].code)).listen();
  try {
    const program = buildProgram(COMMANDS, readVersion(), (given) => createContext(given, interrupt));
    const argv = insertSeparator(program, COMMANDS, process.argv.slice(2));
    await Promise.race([program.parseAsync(argv, { from: 'user' }), interrupt.graceExpired]);
    process.exitCode = EXIT_CODES[interrupt.signal.aborted ? interrupt.exit : 'ok'].code;
  } catch (error) {
    const wasInterrupted = interrupt.signal.aborted;
    // An error caused by the interruption itself carries no information.
    const isExplained = !wasInterrupted || error instanceof Failure || error instanceof ApiError;
    for (const line of isExplained ? explain(error) : [`skerry: ${interrupt.message}`]) warn(line);
    process.exitCode = EXIT_CODES[wasInterrupted ? interrupt.exit : exitFor(error)].code;
    // A pending call would keep the process alive; exit once stdout is flushed.
    if (wasInterrupted) process.stdout.write('', () => process.exit());
  }
}

function createClient({ url, token }: Account, { fetch }: Interrupt, terminal: Terminal): Skerry {
  const onRetry = ({ message }: SkerryError) => terminal.progress(`${message} Retrying …`);
  return new Skerry({ baseUrl: url, token, fetch, onRetry });
}

function createContext(
  { output, header, quiet, context: contextName }: GlobalOptions,
  interrupt: Interrupt,
): Context {
  const { env } = process;
  const terminal = openTerminal(quiet);
  let skerry: Skerry | undefined;
  return {
    // Created on first use: some commands need no account.
    get skerry() {
      skerry ??= createClient(resolveAccount(env, contextName, terminal.warn), interrupt, terminal);
      return skerry;
    },
    terminal,
    output: new Output(terminal, parseFormat(output), header),
    env,
    signal: interrupt.signal,
    interrupt,
    contextName,
  };
}

/** Handles errors outside of any command: one line, no stack trace. */
function exitImmediately(error: Error & { readonly code?: string }): void {
  let exit: ExitName = 'ok';
  if (error.code !== 'EPIPE') {
    exit = exitFor(error);
    for (const line of explain(error)) process.stderr.write(`${line}\n`);
  }
  process.exit(EXIT_CODES[exit].code);
}
