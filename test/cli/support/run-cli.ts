/** Runs the command as a person or a script does: a process of its own, with its own folder for settings. */
import { fileURLToPath } from 'node:url';
import { scratchFolder } from '../../support/scratch-folder.ts';
import { type ProgramResult, type StartedProgram, type StartOptions, startProgram } from './start-program.ts';

const BIN = fileURLToPath(new URL('../../../packages/cli/bin/skerry.js', import.meta.url));

export type CliResult = ProgramResult;

export interface CliRun extends StartOptions {
  /** What comes on stdin; nothing when left out. */
  readonly input?: string;
}

export interface Cli {
  (...words: readonly string[]): Promise<CliResult>;
  readonly with: (run: CliRun, ...words: readonly string[]) => Promise<CliResult>;
  /** Only begins it: the test has something to do meanwhile. */
  readonly start: (start: StartOptions, ...words: readonly string[]) => StartedProgram;
  /** The JSON that it prints with `-o json`. Fails the test unless it leaves with 0. */
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever is there, and fails where it is not.
  readonly json: (...words: readonly string[]) => Promise<any>;
  readonly env: Readonly<Record<string, string>>;
}

/** The command with this account in its environment; null: with none. */
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
    if (code !== 0) throw new Error(`skerry ${words.join(' ')} left with ${code}: ${stderr}`);
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
