/** `serve`: its options. The composition root starts the processes. */
import { type Command, InvalidArgumentError, Option } from 'commander';

const ROLES = ['api', 'worker'] as const;
const PROCESSES_MAX = 64;

type ServeRole = (typeof ROLES)[number];

export interface ServeChoice {
  readonly processes: number;
  readonly role: ReadonlySet<ServeRole>;
  /** Whether other services on this machine listen on the same port. */
  readonly sharedPort?: true;
  /** Set in processes that a parent process started. */
  readonly child?: true;
}

/** Adds `serve` to the program. `run` starts the service and resolves when it has stopped. */
export function addServe(program: Command, run: (choice: ServeChoice) => Promise<void>): void {
  program
    .command('serve')
    .description('Run the service until SIGTERM')
    .addOption(
      new Option('--processes <n>', 'Number of processes that share the work')
        .default(1)
        .argParser(parseProcesses),
    )
    .addOption(
      new Option('--role <roles>', 'Work of these processes: api, worker, or both')
        .default(new Set(ROLES), 'api,worker')
        .argParser(parseRoles),
    )
    .option('--shared-port', 'Let other services on this machine listen on the same port')
    .addOption(new Option('--child').hideHelp())
    .action(run);
}

function parseProcesses(text: string): number {
  const count = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (count < 1 || count > PROCESSES_MAX)
    throw new InvalidArgumentError(`It must be a whole number from 1 to ${PROCESSES_MAX}.`);
  return count;
}

function parseRoles(text: string): ReadonlySet<ServeRole> {
  const words = text.split(',').map((word) => word.trim());
  const roles = words.flatMap((word) => ROLES.filter((role) => role === word));
  if (roles.length < words.length) throw new InvalidArgumentError(`Use one or both of ${ROLES.join(',')}.`);
  return new Set(roles);
}
