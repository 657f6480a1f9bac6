/** `machines add`, `machines list`. */
import type { Command } from 'commander';
import { addMachines as addToStock } from '../domain/inventory/hosts.ts';
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
      await addToStock(service, { names, regionId: region, planId: plan }, register);
      terminal.out(`${formatCount(names.length, 'machine')} added: plan ${plan} in ${region}`);
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
