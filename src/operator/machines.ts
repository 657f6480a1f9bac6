/** `machines add`, `machines remove`, `machines list`. */
import type { Command } from 'commander';
import { addMachines as addToStock } from '../domain/inventory/hosts.ts';
import { removeMachine } from '../domain/inventory/manual-machines.ts';
import { recordCommand } from '../domain/staff/perform.ts';
import { recordCommandOn } from '../domain/staff/target.ts';
import { countMachines } from '../store/inventory/hosts.ts';
import type { OperatorContext } from './context.ts';
import { addList, formatCount } from './format/table.ts';

export function addMachines(program: Command, context: OperatorContext): void {
  const { resources, terminal } = context;
  const machines = program.command('machines').description('Manage the stock of dedicated machines');
  machines
    .command('add')
    .argument('<name...>', 'Names of one or more machines in the compute driver')
    .requiredOption('--region <code>', 'Region code, such as par')
    .requiredOption('--plan <id>', 'Dedicated plan that they are sold as')
    .description('Add machines to the stock')
    .action(async (names: string[], { region, plan }: { region: string; plan: string }) => {
      const { service, register } = await resources.service();
      await recordCommand(service, { operation: 'machines.add', target: names[0] ?? null }, () =>
        addToStock(service, { names, regionId: region, planId: plan }, register),
      );
      terminal.out(`${formatCount(names.length, 'machine')} added: plan ${plan} in ${region}`);
    });
  machines
    .command('remove')
    .argument('<name>')
    .description('Remove a machine that is not sold from the stock')
    .action(async (name: string) => {
      const { service } = await resources.service();
      await recordCommandOn(service, 'machines.remove', { kind: 'machine', name }, () =>
        removeMachine(service, name),
      );
      terminal.out(`${name} is removed`);
    });
  addList(machines, context, {
    about: 'List the stock by region and plan',
    heading: ['region', 'plan', 'machines', 'free'],
    read: async (service) =>
      (await countMachines(service.db)).map((row) => [
        row.region_id,
        row.plan_id,
        String(row.total),
        String(row.free),
      ]),
  });
}
