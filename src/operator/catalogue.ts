/** `catalogue load`, `catalogue export`, `catalogue show`. */
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { stringify } from 'yaml';
import { exportCatalogue } from '../domain/catalogue/export.ts';
import { compareCatalogue, loadCatalogue } from '../domain/catalogue/load.ts';
import { formatCents } from '../kernel/money.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import type { Sql } from '../kernel/sql.ts';
import { listOfficialImages, listPlans, listRegions } from '../store/catalogue/catalogue.ts';
import type { OperatorContext } from './context.ts';
import { formatTable } from './format/columns.ts';

export function addCatalogue(program: Command, context: OperatorContext): void {
  const catalogue = program
    .command('catalogue')
    .description('Manage the catalog: regions, plans, prices, images');
  catalogue
    .command('load')
    .argument('<file>', 'Catalog file (YAML); format: docs/operators/sell.md')
    .option('-y, --yes', 'Skip the confirmation')
    .description('Show how a file differs from the database, then load it')
    .action((file: string, options: { yes?: true }) => load(context, file, options.yes ?? false));
  catalogue
    .command('export')
    .description('Print the current catalog as a file, to edit and load')
    .action(async () => {
      const { service } = await context.resources.service();
      const file = await exportCatalogue(service.db);
      context.terminal.out(stringify(file).trimEnd());
      context.terminal.document(file);
    });
  catalogue
    .command('show')
    .description('Show the current catalog')
    .action(async () => {
      const { service } = await context.resources.service();
      for (const line of await formatCatalogue(service.db)) context.terminal.out(line);
    });
}

async function load({ resources, terminal }: OperatorContext, file: string, yes: boolean): Promise<void> {
  const text = readText(file);
  const { service, register } = await resources.service();
  const sandbox = service.settings.mode === 'sandbox';
  const changes = await compareCatalogue(service, text, { sandbox });
  if (changes.length === 0) return terminal.out('no changes');
  for (const line of changes) terminal.out(line);
  if (!yes) {
    if (!terminal.ask) throw new OperatorError('nothing was changed: pass --yes to load the file');
    if (!(await terminal.ask('Load these changes?'))) return terminal.out('nothing was changed');
  }
  await loadCatalogue(service, text, { sandbox, register, confirmedLines: changes });
  terminal.out('loaded');
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    throw new OperatorError(code === 'ENOENT' ? `file not found: ${file}` : `cannot read ${file} (${code})`);
  }
}

async function formatCatalogue(db: Sql): Promise<string[]> {
  const availability = (row: { readonly active: boolean }) => (row.active ? '' : 'retired');
  const regions = (await listRegions(db)).map((row) => [
    row.id,
    row.session_code,
    row.name,
    row.country,
    availability(row),
  ]);
  const plans = (await listPlans(db)).map((row) => [
    row.id,
    row.category,
    String(row.cpu),
    String(row.ram_mb),
    String(row.disk_gb),
    formatCents(row.price_cents_month),
    `${row.backup_percent}%`,
    row.regions.join(' '),
    availability(row),
  ]);
  const images = (await listOfficialImages(db)).map((row) => [
    row.family,
    row.version,
    row.variant ?? '',
    row.released_at,
    row.deprecated_at ? `deprecated ${row.deprecated_at}` : availability(row),
  ]);
  return [
    ...formatTable([['region', 'session', 'name', 'country', ''], ...regions]),
    '',
    ...formatTable([
      ['plan', 'category', 'cpu', 'ram_mb', 'disk_gb', 'usd/month', 'backups', 'regions', ''],
      ...plans,
    ]),
    '',
    ...formatTable([['image', 'version', 'variant', 'released', ''], ...images]),
  ];
}
