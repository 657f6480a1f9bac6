/** A command is a row: what it is called, what it takes, which operations of the contract it carries out, and how. */
import type { OperationId, Skerry } from '@skerry/sdk';
import type { Argument, Option } from './options.ts';
import type { Column } from './output/columns.ts';
import type { Output } from './output/output.ts';
import type { Interrupt } from './terminal/interrupt.ts';
import type { Terminal } from './terminal/terminal.ts';

type ParsedValues<Kinds> = {
  readonly [Name in keyof Kinds]: Kinds[Name] extends Option<infer T> | Argument<infer T> ? T : never;
};
// biome-ignore lint/suspicious/noExplicitAny: of any command; each one's own types are checked where its row is written.
type Any = any;
export type Options = Readonly<Record<string, Option<Any>>>;
export type Arguments = Readonly<Record<string, Argument<Any>>>;

/** What a command has to do its work with. */
export interface Context {
  /** The API, with the token of the context in use; fails with `signed_out` when there is none. */
  readonly skerry: Skerry;
  readonly terminal: Terminal;
  readonly output: Output;
  /** The environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  readonly interrupt: Interrupt;
  /** `--context`, if given. */
  readonly contextName: string | undefined;
}

export interface Command<A extends Arguments = Arguments, O extends Options = Options> {
  /** Its words: `server create`. */
  readonly name: string;
  readonly aliases?: readonly string[];
  /** What its group does when nothing else is said: `skerry topup` is `skerry topup create`. */
  readonly isDefault?: boolean;
  /** Not shown in help: for programs. */
  readonly hidden?: boolean;
  readonly about: string;
  /** More, in full sentences, below the usage. */
  readonly help?: string;
  /** The operations of the contract that it calls, the one that it is for first. */
  readonly operations: readonly OperationId[];
  readonly args?: A;
  readonly options?: O;
  /** Of what it prints: `-o columns=` is checked before anything is done, and help and completion name them. */
  readonly columns?: readonly Column<Any>[];
  /** A whole command line; shown in help and in the API's reference, and run by a test. */
  readonly example: string;
  readonly run: (context: Context, given: ParsedValues<A> & ParsedValues<O>) => Promise<void>;
}

// biome-ignore lint/complexity/noBannedTypes: no arguments and no options unless the row says so.
export function command<A extends Arguments = {}, O extends Options = {}>(row: Command<A, O>): Command {
  return row as unknown as Command;
}
