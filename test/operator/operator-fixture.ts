/** Runs operator commands in a test as typed, and captures their output. */
import type { OpenService, OperatorResources } from '../../src/operator/context.ts';
import { runOperator } from '../../src/operator/run.ts';
import { type DomainFixture, openDomainFixture } from '../domain/fixture.ts';

export interface CommandResult {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface OperatorFixture {
  readonly backend: DomainFixture;
  /** Runs a command. `answer` is typed when it asks; null means there is no terminal. */
  run(argv: readonly string[], answer?: boolean | null): Promise<CommandResult>;
}

export async function openOperatorFixture(): Promise<OperatorFixture> {
  const backend = await openDomainFixture();
  const resources: OperatorResources = {
    settings: () => [{ name: 'SKERRY_PORT', value: '8080', source: 'default', about: 'port to listen on' }],
    database: async () => backend.db,
    service: async () => ({
      service: backend.service,
      register: backend.register,
      carryOut: async () => undefined,
      coins: null,
    }),
  };
  return {
    backend,
    run: (argv, answer = null) => runWith(resources, argv, answer),
  };
}

/** Runs a command on a service that is open. */
export async function runCommand(open: OpenService, argv: readonly string[]): Promise<CommandResult> {
  const resources = { settings: () => [], database: async () => fail(), service: async () => open };
  return await runWith(resources, argv, null);
}

function fail(): never {
  throw new Error('the command opened a database of its own');
}

async function runWith(
  resources: OperatorResources,
  argv: readonly string[],
  answer: boolean | null,
): Promise<CommandResult> {
  const out: string[] = [];
  const err: string[] = [];
  const ask = answer === null ? null : async () => answer;
  const terminal = {
    out: (line: string) => void out.push(line),
    err: (line: string) => void err.push(line),
    ask,
  };
  const code = await runOperator(argv, resources, undefined, terminal);
  return { code, out: out.join('\n'), err: err.join('\n') };
}
