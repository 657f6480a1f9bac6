/** `skerryd`: the service and its operator's commands. */
import { existsSync, readFileSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from 'commander';
import { serve } from './compose/serve-command.ts';
import type { Role } from './compose/serve.ts';
import { type Config, loadConfig } from './config.ts';

const ROLES: readonly Role[] = ['api', 'worker'];
const PROCESSES_MAX = 64;

function config(): Config {
  return loadConfig(process.env, existsSync('.env') ? readFileSync('.env', 'utf8') : '');
}

function parseProcesses(text: string): number {
  const count = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > PROCESSES_MAX) throw new InvalidArgumentError(`give a number from 1 to ${PROCESSES_MAX}`);
  return count;
}

function parseRoles(text: string): ReadonlySet<Role> {
  const roles = text.split(',').map((word) => ROLES.find((role) => role === word.trim()));
  if (roles.includes(undefined)) throw new InvalidArgumentError(`give one or both of ${ROLES.join(',')}`);
  return new Set(roles as Role[]);
}

const program = new Command('skerryd').description('The Skerry service and its operator’s commands.');
program
  .command('serve')
  .description('run the service until SIGTERM')
  .addOption(new Option('--processes <n>', 'how many processes share the work').default(1).argParser(parseProcesses))
  .addOption(
    new Option('--role <roles>', 'what this one does: api, worker or both')
      .default(new Set(ROLES), 'api,worker')
      .argParser(parseRoles),
  )
  .action(async (options: { processes: number; role: ReadonlySet<Role> }) => {
    await serve(config(), {
      processes: options.processes,
      roles: options.role,
      say: (line) => process.stdout.write(`${line}\n`),
      warn: (line) => process.stderr.write(`${line}\n`),
    });
  });

try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`skerryd: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
