/**
 * A command is a row: its name, its arguments and options, the API operations that it calls, and its code.
 */
import type { OperationId, Skerry } from '@skerry/sdk';
import type { Argument, Option } from './options.ts';
import type { Column } from './output/format.ts';
import type { Output } from './output/output.ts';
import type { Interrupt } from './terminal/interrupt.ts';
import type { Terminal } from './terminal/terminal.ts';

export type ParsedValues<Kinds> = {
  readonly [Name in keyof Kinds]: Kinds[Name] extends Option<infer T> | Argument<infer T> ? T : never;
};
// biome-ignore lint/suspicious/noExplicitAny: holds any command; the types of each row are checked in place.
type Any = any;
export type Options = Readonly<Record<string, Option<Any>>>;
export type Arguments = Readonly<Record<string, Argument<Any>>>;

/** The environment that a command runs in. */
export interface Context {
  /** The API with the account's token; throws `signed_out` if there is none. */
  readonly skerry: Skerry;
  readonly terminal: Terminal;
  readonly output: Output;
  /** Environment variables. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  readonly interrupt: Interrupt;
  /** `--context`, if given. */
  readonly contextName: string | undefined;
}

export interface Command<A extends Arguments = Arguments, O extends Options = Options> {
  /** The words on the command line: `server create`. */
  readonly name: string;
  readonly aliases?: readonly string[];
  /** Runs when the group is called without a subcommand: `skerry topup` is `skerry topup create`. */
  readonly isDefault?: boolean;
  /** Left out of help; for scripts only. */
  readonly hidden?: boolean;
  readonly about: string;
  /** Details in full sentences, shown below the usage. */
  readonly help?: string;
  /** The API operations that it calls, its main one first. */
  readonly operations: readonly OperationId[];
  readonly args?: A;
  readonly options?: O;
  /**
   * The output's columns. `-o columns=` is checked before the command runs; help and completion list them.
   */
  readonly columns?: readonly Column<Any>[];
  /** A complete command line; shown in help and in the API reference, and run by a test. */
  readonly example: string;
  readonly run: (context: Context, given: ParsedValues<A> & ParsedValues<O>) => Promise<void>;
}

// biome-ignore lint/complexity/noBannedTypes: no arguments and no options unless the row defines them.
export function command<A extends Arguments = {}, O extends Options = {}>(row: Command<A, O>): Command {
  return row as unknown as Command;
}
