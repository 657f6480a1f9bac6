/** `dedicated list`, `fulfil`, `off`, `on`, `wipe`: dedicated machines that no driver controls. */
import { type Command, InvalidArgumentError } from 'commander';
import { type FulfilledSale, fulfillSale, type ManualSale } from '../domain/inventory/fulfill.ts';
import {
  listDedicated,
  type MachineWithAction,
  putBackOnSale,
  recordMachinePower,
  recordWipe,
} from '../domain/inventory/manual-machines.ts';
import { recordCommandOn } from '../domain/staff/target.ts';
import { formatId } from '../kernel/ids.ts';
import { formatCents } from '../kernel/money.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import { formatSessionTime } from '../kernel/time.ts';
import { CYCLE_MONTHS, type CycleMonths, isCycleMonths } from '../spec/limits.ts';
import type { OperatorContext } from './context.ts';
import { addList, formatCount } from './format/table.ts';

export function addDedicated(program: Command, context: OperatorContext): void {
  const dedicated = program
    .command('dedicated')
    .description('Deliver and maintain dedicated servers of customers by hand');
  addList(dedicated, context, {
    about: 'List every machine with its state, its customer, and the action it needs',
    heading: ['machine', 'region', 'plan', 'state', 'since (UTC)', 'server', 'customer', ''],
    read: async (service) => (await listDedicated(service)).map(machineColumns),
  });
  addFulfill(dedicated, context);
  addPowerRecord(dedicated, context);
  addWipe(dedicated, context);
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
    .requiredOption('--customer <email>', 'Customer who ordered it and pays')
    .requiredOption('--image <os>', 'Operating system that you install, such as debian-13')
    .option('--name <name>', 'Server name; generated if omitted')
    .option('--months <count>', `Billing cycle: ${CYCLE_MONTHS.join(', ')}`, parseMonths, 1)
    .option('--ssh-key <id>', 'SSH key of the customer (k_…); repeatable', collect, [])
    .description('Sell a free machine: charge the first cycle and assign addresses; you set it up with them')
    .action(async (machine: string, { sshKey, ...options }: FulfillOptions) => {
      const { service } = await resources.service();
      const sale: ManualSale = { machine, ...options, sshKeys: sshKey };
      const target = { kind: 'machine', name: machine } as const;
      const sold = await recordCommandOn(service, 'machines.fulfill', target, () =>
        fulfillSale(service, sale),
      );
      const term = formatCount(options.months, 'month');
      const price = `${formatCents(sold.server.price_cents_cycle)} USD for ${term}`;
      terminal.out(`${machine} is sold: ${price}; the balance is ${formatCents(sold.balanceAfterCents)} USD`);
      terminal.facts(setupFacts(sold));
    });
}

/** Lists the values to set the machine up with. Without a key, the operator gives the customer a password. */
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
  throw new InvalidArgumentError(`Use one of ${CYCLE_MONTHS.join(', ')}.`);
}

const KEYS_MAX = 50;

function collect(id: string, before: readonly string[]): readonly string[] {
  if (before.length >= KEYS_MAX) throw new InvalidArgumentError(`At most ${KEYS_MAX} keys are allowed.`);
  return [...before, id];
}

function addPowerRecord(dedicated: Command, { resources, terminal }: OperatorContext): void {
  for (const power of ['off', 'on'] as const) {
    dedicated
      .command(power)
      .argument('<machine>')
      .description(`Record that you powered a sold machine ${power}`)
      .action(async (machine: string) => {
        const { service } = await resources.service();
        const { changed, pendingAction, serverStatus } = await recordCommandOn(
          service,
          'machines.record_power',
          { kind: 'machine', name: machine },
          () => recordMachinePower(service, machine, power),
        );
        const remaining =
          pendingAction === null ? '' : `; its server is ${serverStatus}: ${pendingAction} again`;
        terminal.out(`${machine} is ${power}${changed ? '' : ' (unchanged)'}${remaining}`);
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
      'How the disks were wiped before the machine was tested: one line, kept in the audit log',
    )
    .option('--free', 'Put a wiped and tested machine back on sale')
    .option('-y, --yes', 'Skip the confirmation')
    .description('Record that a machine was wiped and tested, then put it back on sale')
    .action((machine: string, options: WipeOptions) => wipe(context, machine, options));
}

async function wipe(
  { resources, terminal }: OperatorContext,
  machine: string,
  options: WipeOptions,
): Promise<void> {
  const { method, free = false, yes = false } = options;
  if ((method !== undefined) === free) {
    throw new OperatorError('pass either --method with how the disks were wiped, or --free, but not both');
  }
  const { service } = await resources.service();
  const question =
    method === undefined
      ? `Put ${machine} back on sale for other customers?`
      : `Was every disk of ${machine} wiped, and was the machine tested afterward?`;
  if (!yes) {
    if (!terminal.ask) throw new OperatorError('nothing was changed: pass --yes to confirm');
    if (!(await terminal.ask(question))) return terminal.out('nothing was changed');
  }
  const operation = method === undefined ? 'machines.put_on_sale' : 'machines.record_wipe';
  await recordCommandOn(service, operation, { kind: 'machine', name: machine }, () =>
    method === undefined ? putBackOnSale(service, machine) : recordWipe(service, machine, method),
  );
  terminal.out(
    method === undefined
      ? `${machine} is free`
      : `${machine} is wiped and tested; run the command with --free to put it back on sale`,
  );
}
