/** Runs the CLI like a person or a script: in a separate process with its own configuration folder. */
import { fileURLToPath } from 'node:url';
import { scratchFolder } from '../../support/scratch-folder.ts';
import { type ProgramResult, type StartedProgram, type StartOptions, startProgram } from './start-program.ts';

const BIN = fileURLToPath(new URL('../../../packages/cli/bin/skerry.js', import.meta.url));

export type CliResult = ProgramResult;

export interface CliRun extends StartOptions {
  /** The contents of stdin; empty by default. */
  readonly input?: string;
}

export interface Cli {
  (...words: readonly string[]): Promise<CliResult>;
  readonly with: (run: CliRun, ...words: readonly string[]) => Promise<CliResult>;
  /** Starts the command without waiting for its end. */
  readonly start: (start: StartOptions, ...words: readonly string[]) => StartedProgram;
  /** Returns the output of `-o json`. Fails the test unless the exit code is 0. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads any field, and fails if it is missing.
  readonly json: (...words: readonly string[]) => Promise<any>;
  readonly env: Readonly<Record<string, string>>;
}

/** Returns the CLI with this account in its environment; null: without an account. */
export function createCli(account: { readonly url: string; readonly token: string } | null): Cli {
  const env = {
    PATH: process.env.PATH ?? '',
    HOME: scratchFolder(),
    ...(account ? { SKERRY_API_URL: account.url, SKERRY_TOKEN: account.token } : {}),
  };
  const line = (words: readonly string[]) => [process.execPath, BIN, ...words];
  const run = (given: CliRun, ...words: readonly string[]) =>
    runProgram(line(words), { ...given, env: { ...env, ...given.env } });
  const start = (given: StartOptions, ...words: readonly string[]) =>
    startProgram(line(words), { ...given, env: { ...env, ...given.env } });
  const cli = (...words: readonly string[]) => run({}, ...words);
  const json = async (...words: readonly string[]) => {
    const { code, stdout, stderr } = await cli(...words, '-o', 'json');
    if (code !== 0) throw new Error(`skerry ${words.join(' ')} exited with ${code}: ${stderr}`);
    return JSON.parse(stdout) as unknown;
  };
  return Object.assign(cli, { with: run, start, json, env });
}

export async function runProgram(
  line: readonly string[],
  { input = '', ...start }: CliRun,
): Promise<CliResult> {
  const { child, result } = startProgram(line, start);
  child.stdin.end(input);
  return await result;
}
