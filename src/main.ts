/** `skerryd`: the service and its operator's commands. */
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { acquireDatabase, type DatabaseHandle } from './compose/database.ts';
import { createAddressDeriver } from './compose/derive-addresses.ts';
import { createQemuCompute } from './compose/qemu.ts';
import { createHostRegistrar } from './compose/seed.ts';
import { serve } from './compose/serve-command.ts';
import { openService } from './compose/service.ts';
import { type Config, describeConfig, loadConfig } from './config.ts';
import { requireSameMode } from './domain/database-identity/open.ts';
import { createLogger, describeError } from './kernel/logger.ts';
import { OperatorError } from './kernel/operator-error.ts';
import type { OperatorResources } from './operator/context.ts';
import { addDoctor } from './operator/doctor.ts';
import { runOperator } from './operator/run.ts';
import { addServe } from './operator/serve.ts';
import type { ExpectedResources, HostFinding } from './ports/compute.ts';
import { openDatabase } from './store/db.ts';

/** An operator's command does one thing at a time. */
const COMMAND_POOL = 2;

const closers: (() => Promise<void>)[] = [];
const warn = (line: string) => void process.stderr.write(`${line}\n`);

// Node would print what hangs on an error: a row that broke a constraint, say.
process.on('uncaughtException', (error) => {
  warn(`skerryd: ${JSON.stringify(describeError(error))}`);
  process.exit(1);
});

// Whoever reads our output may have seen enough (`skerryd hosts list | head`).
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);

process.exitCode = await runOperator(process.argv.slice(2), createOperatorResources(), addServiceCommands);
for (const close of closers.reverse()) await close();

function dotEnv(): string {
  try {
    // An editor may have put a byte order mark in front.
    return readFileSync('.env', 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return '';
    throw new OperatorError(`.env: it cannot be read (${code}); mend it, or take it away`);
  }
}

function config(): Config {
  return loadConfig(process.env, dotEnv());
}

/** What the commands open, closed in the end; beside a running service they use its database. */
function createOperatorResources(): OperatorResources {
  async function database(manner: 'join' | 'join or make'): Promise<DatabaseHandle> {
    const handle = await acquireDatabase(config(), manner, warn);
    closers.push(() => handle.stop());
    return handle;
  }
  return {
    settings: () => {
      config();
      return describeConfig(process.env, dotEnv());
    },
    database: async () => {
      const { connection } = await database('join or make');
      // A migration may take longer than any statement of the service may.
      const db = openDatabase(connection, { poolSize: COMMAND_POOL, statementTimeoutMs: 0 });
      closers.push(() => db.close());
      await requireSameMode(db, config().SKERRY_MODE);
      return db;
    },
    service: async () => {
      const { connection } = await database('join');
      // What a command has to say, it says itself: its log holds what went wrong.
      const quiet = { ...config(), SKERRY_LOG_LEVEL: 'error' as const };
      const { service, simulation, live, close } = await openService(quiet, connection);
      closers.push(close);
      return {
        service,
        register: createHostRegistrar(service, simulation?.compute ?? null),
        coins: live && { market: live.market, deriverFor: (coin) => createAddressDeriver(quiet, coin) },
      };
    },
  };
}

function addServiceCommands(program: Command): void {
  addServe(program, async ({ processes, role, child = false }) => {
    const print = (line: string) => void process.stdout.write(`${line}\n`);
    await serve(config(), { processes, roles: role, child, print, warn });
  });
  addDoctor(program, {
    resources: createOperatorResources(),
    out: (line) => void process.stdout.write(`${line}\n`),
    progress: process.stderr.isTTY ? warn : null,
    examine,
  });
}

/** By itself, for it needs no database. */
function examine(promised: ExpectedResources): AsyncIterable<HostFinding> {
  const log = createLogger('error');
  return createQemuCompute(config(), log)?.examine(promised) ?? simulatedFindings();
}

async function* simulatedFindings(): AsyncIterable<HostFinding> {
  const message = 'simulated (SKERRY_COMPUTE=simulator): nothing real is needed, and nothing real is sold';
  yield { level: 'ok', subject: 'machines', message };
}
