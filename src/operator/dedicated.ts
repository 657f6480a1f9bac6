/** `dedicated list`, `fulfil`, `off`, `on`, `wipe`: dedicated machines where no driver reaches them. */
import { type Command, InvalidArgumentError } from 'commander';
import { type FulfilledSale, fulfillSale, type ManualSale } from '../domain/inventory/fulfill.ts';
import { recordMachinePower } from '../domain/inventory/machine-power.ts';
import { listDedicated, type MachineWithAction } from '../domain/inventory/manual-machines.ts';
import { putBackOnSale, recordWipe } from '../domain/inventory/wipe.ts';
import { formatId } from '../kernel/ids.ts';
import { formatCents } from '../kernel/money.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import { formatSessionTime } from '../kernel/time.ts';
import { CYCLE_MONTHS, type CycleMonths, isCycleMonths } from '../spec/limits.ts';
import type { OperatorContext } from './context.ts';
import { formatCount, formatFacts, formatTable } from './table.ts';

export function addDedicated(program: Command, context: OperatorContext): void {
  const dedicated = program
    .command('dedicated')
    .description('dedicated machines that are sold and looked after by hand');
  addList(dedicated, context);
  addFulfill(dedicated, context);
  addPowerRecord(dedicated, context);
  addWipe(dedicated, context);
}

function addList(dedicated: Command, { resources, terminal }: OperatorContext): void {
  dedicated
    .command('list')
    .description('print every machine: where it is in its round, whose it is, what is to be done to it')
    .action(async () => {
      const { service } = await resources.service();
      const heading = ['machine', 'region', 'plan', 'state', 'since (UTC)', 'server', 'customer', ''];
      const machines = await listDedicated(service);
      for (const line of formatTable([heading, ...machines.map(machineColumns)])) terminal.out(line);
    });
}

function machineColumns(machine: MachineWithAction): string[] {
  return [
    machine.name,
    machine.region_id,
    machine.plan_id,
    machine.state,
    formatSessionTime(machine.state_since),
    machine.server_id === null ? '' : formatId('server', machine.server_id),
    machine.email ?? '',
    machine.pendingAction ?? '',
  ];
}

interface FulfillOptions {
  readonly customer: string;
  readonly image: string;
  readonly name?: string;
  readonly months: CycleMonths;
  readonly sshKey: readonly string[];
}

function addFulfill(dedicated: Command, { resources, terminal }: OperatorContext): void {
  dedicated
    .command('fulfil')
    .argument('<machine>')
    .requiredOption('--customer <email>', 'who asked for it, and pays')
    .requiredOption('--image <os>', 'what you install on it, such as debian-13')
    .option('--name <name>', 'the server’s; one is made up when left out')
    .option('--months <count>', `the cycle: ${CYCLE_MONTHS.join(', ')}`, parseMonths, 1)
    .option('--ssh-key <id>', 'k_…, a key of the customer’s; may be given again', collect, [])
    .description('sell a free machine: charge its cycle and take its addresses; you set it up with them')
    .action(async (machine: string, { sshKey, ...options }: FulfillOptions) => {
      const { service } = await resources.service();
      const sale: ManualSale = { machine, ...options, sshKeys: sshKey };
      const sold = await fulfillSale(service, sale);
      const price = `${formatCents(sold.server.price_cents_cycle)} USD for ${formatCount(options.months, 'month')}`;
      terminal.out(`${machine} is sold: ${price}; the balance is ${formatCents(sold.balanceAfterCents)} USD`);
      for (const line of formatFacts(setupFacts(sold))) terminal.out(line);
    });
}

/** What the machine is set up with; how to sign in without a key is the operator's to tell the customer. */
function setupFacts({ server, publicKeys }: FulfilledSale): [string, string | null][] {
  return [
    ['server', formatId('server', server.id)],
    ['name', server.name],
    ['IPv4', server.ipv4],
    ['gateway', server.ipv4_gateway],
    ['IPv6', server.ipv6_prefix],
    ['paid until', `${formatSessionTime(server.paid_until)} UTC`],
    ...publicKeys.map((key): [string, string] => ['SSH key', key]),
  ];
}

function parseMonths(text: string): CycleMonths {
  const months = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  if (isCycleMonths(months)) return months;
  throw new InvalidArgumentError(`It is one of ${CYCLE_MONTHS.join(', ')}.`);
}

const KEYS_MAX = 50;

function collect(id: string, before: readonly string[]): readonly string[] {
  if (before.length >= KEYS_MAX) throw new InvalidArgumentError(`Give at most ${KEYS_MAX} keys.`);
  return [...before, id];
}

function addPowerRecord(dedicated: Command, { resources, terminal }: OperatorContext): void {
  for (const power of ['off', 'on'] as const) {
    dedicated
      .command(power)
      .argument('<machine>')
      .description(`say that you have switched a sold machine ${power}`)
      .action(async (machine: string) => {
        const { service } = await resources.service();
        const { changed, pendingAction, serverStatus } = await recordMachinePower(service, machine, power);
        const remaining =
          pendingAction === null ? '' : `; its server is ${serverStatus}: ${pendingAction} again`;
        terminal.out(`${machine} is ${power}${changed ? '' : ' (as before)'}${remaining}`);
      });
  }
}

interface WipeOptions {
  readonly method?: string;
  readonly free?: true;
  readonly yes?: true;
}

function addWipe(dedicated: Command, context: OperatorContext): void {
  dedicated
    .command('wipe')
    .argument('<machine>')
    .option(
      '--method <text>',
      'its disks were wiped, how, and it was tested since: one line, kept in the audit log',
    )
    .option('--free', 'put one that was wiped and tested back on sale')
    .option('-y, --yes', 'do not ask')
    .description('say that a machine was wiped and tested; then put it back on sale')
    .action((machine: string, options: WipeOptions) => wipe(context, machine, options));
}

async function wipe(
  { resources, terminal }: OperatorContext,
  machine: string,
  options: WipeOptions,
): Promise<void> {
  const { method, free = false, yes = false } = options;
  if ((method !== undefined) === free) {
    throw new OperatorError('say --method with how the disks were wiped, or then --free: one of them');
  }
  const { service } = await resources.service();
  const question =
    method === undefined
      ? `Sell ${machine} to somebody else from now on?`
      : `Was every disk of ${machine} wiped, and the machine tested since?`;
  if (!yes) {
    if (!terminal.ask) throw new OperatorError('nothing was changed: say --yes when it is so');
    if (!(await terminal.ask(question))) return terminal.out('nothing was changed');
  }
  if (method === undefined) await putBackOnSale(service, machine);
  else await recordWipe(service, machine, method);
  terminal.out(
    method === undefined
      ? `${machine} is free`
      : `${machine} is wiped and tested; --free puts it back on sale`,
  );
}
