/** `figures` and `capacity`: the business over time, and what each region has left. */
import { type Command, Option } from 'commander';
import { readCapacity } from '../../domain/staff/capacity.ts';
import { figuresCsv, readFigures } from '../../domain/staff/figures.ts';
import { FIGURE_PERIOD_NAMES, type FigurePeriod } from '../../spec/staff/figures.ts';
import type { OperatorContext } from '../context.ts';
import { addList } from '../format/table.ts';

export function addFigures(program: Command, context: OperatorContext): void {
  const { resources, terminal } = context;
  program
    .command('figures')
    .addOption(new Option('--period <word>', 'How far back').choices(FIGURE_PERIOD_NAMES).default('month'))
    .option('--csv', 'Print the values by time as CSV')
    .description('Show sales, revenue, and balances over a period')
    .action(async ({ period, csv = false }: { period: FigurePeriod; csv?: boolean }) => {
      const { service } = await resources.service();
      const figures = await readFigures(service, period);
      if (csv) return terminal.out(figuresCsv(figures).trimEnd());
      const rows = figures.series.map(({ title, part, unit, total }) => {
        const amount = unit === 'usd' ? total?.toFixed(2) : total;
        return [part === null ? title : `  ${part}`, `${amount ?? 'not measured yet'}`, unit];
      });
      terminal.table(['figure', 'value', 'unit'], rows);
      terminal.document(figures);
    });
  addList(program, context, {
    name: 'capacity',
    about: 'Show what each region has left',
    heading: ['region', 'hosts', 'ram_mb used', 'disk_gb used', 'ipv4 free', 'ipv6 free', 'machines free'],
    read: async (service) =>
      (await readCapacity(service)).map((row) => [
        row.region,
        String(row.hosts),
        `${row.used_ram_mb}/${row.ram_mb}`,
        `${row.used_disk_gb}/${row.disk_gb}`,
        `${row.ipv4_free}/${row.ipv4_free + row.ipv4_used}`,
        `${row.ipv6_free}/${row.ipv6_free + row.ipv6_used}`,
        row.machines.map(({ plan, free, total }) => `${plan} ${free}/${total}`).join(', '),
      ]),
  });
}
