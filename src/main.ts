/**
 * `skerryd`: the service and the operator's commands. Modules that import most of the others are loaded by
 * the commands that need them.
 */
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { acquireDatabase, type DatabaseHandle, identityOptions, withoutPooler } from './compose/database.ts';
import { type Config, describeConfig, loadConfig } from './config.ts';
import { requireSameMode } from './domain/database-identity.ts';
import { createLogger, describeError } from './kernel/logger.ts';
import { OperatorError } from './kernel/operator-error.ts';
import type { OperatorResources } from './operator/context.ts';
import type { Output } from './operator/format/output.ts';
import { addDoctor } from './operator/health/doctor.ts';
import { addHostCommands } from './operator/hosts/this-machine.ts';
import { runOperator } from './operator/run.ts';
import { addServe } from './operator/serve.ts';
import type { ExpectedResources, HostFinding } from './ports/compute.ts';
import { openDatabase } from './store/db.ts';

/** An operator command does one thing at a time. */
const COMMAND_POOL = 2;

const closers: (() => Promise<void>)[] = [];
const warn = (line: string) => void process.stderr.write(`${line}\n`);

// By default Node prints the properties of an error, such as the row that violates a constraint.
process.on('uncaughtException', (error) => {
  warn(`skerryd: ${JSON.stringify(describeError(error))}`);
  process.exit(1);
});

// A reader may close the pipe early: `skerryd hosts list | head`.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

process.exitCode = await runOperator(process.argv.slice(2), createOperatorResources(), addServiceCommands);
for (const close of closers.reverse()) await close();

function dotEnv(): string {
  try {
    // Editors may add a byte order mark.
    return readFileSync('.env', 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return '';
    throw new OperatorError(`.env: cannot be read (${code}); fix its permissions, or remove it`);
  }
}

function config(): Config {
  return loadConfig(process.env, dotEnv());
}

/** Resources that commands open; all are closed at exit. Commands use the database of a running service. */
function createOperatorResources(): OperatorResources {
  async function database(mode: 'join' | 'join or create'): Promise<DatabaseHandle> {
    const handle = await acquireDatabase(config(), mode, warn);
    closers.push(() => handle.stop());
    return handle;
  }
  return {
    settings: () => {
      config();
      return describeConfig(process.env, dotEnv());
    },
    database: async () => {
      const { connection } = await database('join or create');
      // Migrations can take longer than the statement timeout.
      const db = openDatabase(withoutPooler(connection), { poolSize: COMMAND_POOL, statementTimeoutMs: 0 });
      closers.push(() => db.close());
      await requireSameMode(db, config().SKERRY_MODE);
      return db;
    },
    identity: () => identityOptions(config()),
    archives: async () => (await import('./compose/backups.ts')).openArchiveBucket(config()),
    walArchives: async (folder) => (await import('./compose/backups.ts')).findWalArchives(config(), folder),
    service: async () => {
      const handle = await database('join');
      const { openCommandService } = await import('./compose/command-service.ts');
      const { open, close } = await openCommandService(config(), handle, warn);
      closers.push(close);
      return open;
    },
  };
}

function addServiceCommands(program: Command, output: Output): void {
  addServe(program, async ({ processes, role, sharedPort = false, child = false }) => {
    const { serve } = await import('./compose/serve-command.ts');
    const print = (line: string) => void process.stdout.write(`${line}\n`);
    await serve(config(), { processes, roles: role, sharedPort, child, print, warn });
  });
  const out = (line: string) => void process.stdout.write(`${line}\n`);
  const hostCommands = async () =>
    (await import('./compose/host-command.ts')).createHostCommands(config, out);
  addHostCommands(program, hostCommands, out);
  addDoctor(program, {
    resources: createOperatorResources(),
    output,
    progress: process.stderr.isTTY ? warn : null,
    examine,
  });
}

/** Does not open the service: it needs no database. */
async function* examine(expected: ExpectedResources): AsyncIterable<HostFinding> {
  const { createQemuCompute } = await import('./compose/drivers.ts');
  const findings = createQemuCompute(config(), createLogger('error'))?.examine(expected);
  if (findings) return yield* findings;
  const message = 'simulated (SKERRY_COMPUTE=simulator): no real machines are needed or sold';
  yield { level: 'ok', subject: 'machines', message };
}
