/** The command: reads the command line, runs one row, says what went wrong, and leaves with a number that says the same. */
import { readFileSync } from 'node:fs';
import { ApiError, Skerry, type SkerryError } from '@skerry/sdk';
import { asTyped } from './as-typed.ts';
import type { Context } from './command.ts';
import { COMMANDS } from './commands/index.ts';
import { type Account, chooseAccount } from './config/contexts.ts';
import { EXIT_CODES, type ExitName, exitOf, Failure } from './exit-codes.ts';
import { explain } from './explain.ts';
import { readFormat } from './output/format.ts';
import { Output } from './output/output.ts';
import { buildProgram, type Global } from './program.ts';
import { Interrupt } from './terminal/interrupt.ts';
import { openTerminal, type Terminal } from './terminal/terminal.ts';

export async function main(): Promise<void> {
  process.on('uncaughtException', leaveAtOnce);
  // Whoever reads us may have read enough: `skerry server list | head -1`.
  process.stdout.on('error', leaveAtOnce);
  process.stderr.on('error', () => process.exit(EXIT_CODES.internal.code));
  const { warn } = openTerminal();
  const interrupt = new Interrupt(warn, (exit) => process.exit(EXIT_CODES[exit].code)).listen();
  try {
    const program = buildProgram(COMMANDS, version(), (given) => openContext(given, interrupt));
    const words = asTyped(program, COMMANDS, process.argv.slice(2));
    await Promise.race([program.parseAsync(words, { from: 'user' }), interrupt.late]);
    process.exitCode = EXIT_CODES[interrupt.signal.aborted ? interrupt.exit : 'ok'].code;
  } catch (error) {
    const stopped = interrupt.signal.aborted;
    // What the stop itself broke off says nothing.
    const isTold = !stopped || error instanceof Failure || error instanceof ApiError;
    for (const line of isTold ? explain(error) : [`skerry: ${interrupt.words}`]) warn(line);
    process.exitCode = EXIT_CODES[stopped ? interrupt.exit : exitOf(error)].code;
    // A call that still hangs would keep us; what was printed is on its way out first.
    if (stopped) process.stdout.write('', () => process.exit());
  }
}

function clientOf({ url, token }: Account, { fetch }: Interrupt, terminal: Terminal): Skerry {
  const onRetry = ({ message }: SkerryError) => terminal.progress(`${message} Trying again …`);
  return new Skerry({ baseUrl: url, token, fetch, onRetry });
}

function openContext({ output, header, quiet, context: contextName }: Global, interrupt: Interrupt): Context {
  const { env } = process;
  const terminal = openTerminal(quiet);
  let skerry: Skerry | undefined;
  return {
    // Made when it is first needed: what is done without an account works without one.
    get skerry() {
      skerry ??= clientOf(chooseAccount(env, contextName, terminal.warn), interrupt, terminal);
      return skerry;
    },
    terminal,
    output: new Output(terminal, readFormat(output), header),
    env,
    signal: interrupt.signal,
    interrupt,
    contextName,
  };
}

/** For what no command can answer: one line for a person, never a stack. */
function leaveAtOnce(error: Error & { readonly code?: string }): void {
  let exit: ExitName = 'ok';
  if (error.code !== 'EPIPE') {
    exit = exitOf(error);
    for (const line of explain(error)) process.stderr.write(`${line}\n`);
  }
  process.exit(EXIT_CODES[exit].code);
}

function version(): string {
  const file = new URL('../package.json', import.meta.url);
  return (JSON.parse(readFileSync(file, 'utf8')) as { readonly version: string }).version;
}
