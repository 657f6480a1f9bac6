/**
 * Runs one operator command. Exit codes: 0 success, 1 failure or a reported problem, 2 incorrect usage.
 * `tickets receive` has those of mail servers.
 */
import { stdin, stdout } from 'node:process';
import { createInterface } from 'node:readline/promises';
import { Command, CommanderError, Option } from 'commander';
import { Failure } from '../kernel/fail.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import { readVersion } from '../kernel/settings/version.ts';
import { addAudit } from './audit.ts';
import { addBackup } from './backups/backup.ts';
import { addMarkRestored, addRestoreTo } from './backups/point-in-time.ts';
import { addRestore } from './backups/restore.ts';
import { addCatalogue } from './catalogue.ts';
import { addRegions } from './catalogue-edits.ts';
import { type OperatorContext, type OperatorResources, ProblemsFound, type Terminal } from './context.ts';
import { addAbuse } from './customers/abuse.ts';
import { addCustomers } from './customers/accounts.ts';
import { addTickets } from './customers/tickets.ts';
import { addDatabase } from './database.ts';
import { addDedicated } from './dedicated.ts';
import { addDns } from './dns.ts';
import { createOutput, OUTPUT_FORMATS, type Output, type OutputControl } from './format/output.ts';
import { addStatus } from './health/doctor.ts';
import { addFigures } from './health/figures.ts';
import { addIncidents } from './health/incidents.ts';
import { addWork } from './health/work.ts';
import { addHosts } from './hosts/inventory.ts';
import { addImages } from './images.ts';
import { addIps } from './ips.ts';
import { addLegal } from './legal.ts';
import { addMachines } from './machines.ts';
import { addMaintenance } from './maintenance.ts';
import { addChain } from './money/chain.ts';
import { addCoupons } from './money/coupons.ts';
import { addDeposits } from './money/deposits.ts';
import { addPlans } from './money/plans.ts';
import { addPrices } from './money/prices.ts';
import { addRecover } from './money/recover.ts';
import { addTopups } from './money/topups.ts';
import { addPolicy } from './policy.ts';
import { addFloods } from './servers/floods.ts';
import { addOperations } from './servers/operations.ts';
import { addServers } from './servers/servers.ts';
import { addSnapshots } from './servers/snapshots.ts';
import { addApprovals } from './staff/approvals.ts';
import { addStaff } from './staff/people.ts';
import { addSwitch } from './switch.ts';
import { addAnnouncements } from './talking/announcements.ts';
import { addMailings } from './talking/mailings.ts';
import { addWebhooks } from './webhooks.ts';

/** In the order of the help. */
const COMMANDS: readonly ((program: Command, context: OperatorContext) => void)[] = [
  addStatus,
  addFigures,
  addStaff,
  addApprovals,
  addAudit,
  addDatabase,
  addBackup,
  addRestore,
  addRestoreTo,
  addMarkRestored,
  addRecover,
  addCatalogue,
  addRegions,
  addHosts,
  addImages,
  addSnapshots,
  addMachines,
  addIps,
  addDns,
  addCustomers,
  addTickets,
  addAnnouncements,
  addMailings,
  addAbuse,
  addFloods,
  addServers,
  addOperations,
  addWork,
  addDedicated,
  addTopups,
  addDeposits,
  addCoupons,
  addChain,
  addWebhooks,
  addPlans,
  addPrices,
  addSwitch,
  addMaintenance,
  addIncidents,
  addPolicy,
  addLegal,
];

/** Adds commands that only the composition root can provide, such as `serve`. */
export type AddCommands = (program: Command, output: Output) => void;

/** Takes `argv` without the program name. Reports a failure as one line on standard error. */
export async function runOperator(
  argv: readonly string[],
  resources: OperatorResources,
  addCommands: AddCommands = () => undefined,
  terminal: Terminal = processTerminal(),
): Promise<number> {
  const output = createOutput(terminal);
  try {
    await buildProgram({ resources, terminal: output }, addCommands).parseAsync([...argv], { from: 'user' });
    output.end();
    return 0;
  } catch (error) {
    if (error instanceof ProblemsFound) {
      output.end();
      return error.exitCode;
    }
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
    terminal.err(`skerryd: ${formatError(error)}`);
    return 1;
  }
}

/** The program with every command. `more` adds the commands that the composition root runs. */
export function buildProgram(
  context: Omit<OperatorContext, 'terminal'> & { readonly terminal: OutputControl },
  addCommands: AddCommands,
): Command {
  const program = new Command('skerryd')
    .description('Run Skerry and manage the service')
    .version(readVersion(), '-V, --version', 'Print the version')
    .addOption(
      new Option('-o, --output <format>', 'Print as text, JSON, or YAML')
        .choices(OUTPUT_FORMATS)
        .default('table'),
    )
    .hook('preAction', (command) => context.terminal.setFormat(command.opts().output))
    .configureHelp({ showGlobalOptions: true })
    .helpOption('-h, --help', 'Show this help')
    .helpCommand('help [command]', 'Show help for a command')
    .configureOutput({
      writeOut: (text) => context.terminal.out(text.trimEnd()),
      writeErr: (text) => context.terminal.err(text.trimEnd()),
      outputError: (text, write) => write(`skerryd: ${text.replace(/^error: /, '').replace(/\s+/g, ' ')}`),
    })
    .exitOverride();
  addCommands(program, context.terminal);
  for (const add of COMMANDS) add(program, context);
  inheritSettings(program);
  return program;
}

/** Applies the program's help and error settings to every subcommand. */
function inheritSettings(command: Command): void {
  for (const child of command.commands) {
    child.copyInheritedSettings(command);
    inheritSettings(child);
  }
}

function formatError(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const isExpected = error instanceof OperatorError || error instanceof Failure;
  return `${isExpected ? '' : 'failed: '}${message.replace(/\s+/g, ' ').trim()}`;
}

function processTerminal(): Terminal {
  const write = (stream: NodeJS.WriteStream) => (line: string) => void stream.write(`${line}\n`);
  return {
    out: write(stdout),
    err: write(process.stderr),
    ask: stdin.isTTY && stdout.isTTY ? confirmOnTerminal : null,
  };
}

async function confirmOnTerminal(question: string): Promise<boolean> {
  const reader = createInterface({ input: stdin, output: stdout });
  try {
    return /^y(es)?$/i.test((await reader.question(`${question} [y/N] `)).trim());
  } finally {
    reader.close();
  }
}
