/** `machines add`, `machines list`. */
import type { Command } from 'commander';
import { addMachines as addToStock } from '../domain/inventory/hosts.ts';
import { countMachines } from '../store/inventory/hosts.ts';
import type { OperatorContext } from './context.ts';
import { formatCount, formatTable } from './format/table.ts';

export function addMachines(program: Command, { resources, terminal }: OperatorContext): void {
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
  machines
    .command('list')
    .description('List the stock by region and plan')
    .action(async () => {
      const { service } = await resources.service();
      const rows = (await countMachines(service.db)).map((row) => [
        row.region_id,
        row.plan_id,
        String(row.total),
        String(row.free),
      ]);
      for (const line of formatTable([['region', 'plan', 'machines', 'free'], ...rows])) terminal.out(line);
    });
}
