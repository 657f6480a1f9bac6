/** `plans`, `regions`, `images`: `create`, `change`, and the commands that retire an entry of the catalog. */
import type { Command } from 'commander';
import { applyEdit, previewEdit } from '../domain/catalogue/edit.ts';
import { type EntryFields, editFor } from '../domain/catalogue/edits.ts';
import { recordCommandOn, type TargetKind } from '../domain/staff/target.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import { CATALOGUE_OPERATIONS, type CatalogueEditOperation } from '../spec/staff/catalogue.ts';
import type { OperatorContext } from './context.ts';
import { formatCount } from './format/table.ts';
import { parsePositiveInt } from './options.ts';

type OptionRow = readonly [flags: string, text: string, parse?: (text: string) => unknown];

const words = (text: string): string[] => text.split(/[\s,]+/).filter((word) => word !== '');
const yesOrNo = (text: string): boolean | string => (text === 'yes' ? true : text === 'no' ? false : text);

/** By the keys of a catalog file. */
const PLAN: Readonly<Record<string, OptionRow>> = {
  category: ['--category <word>', 'Category: vps or dedicated'],
  cpu: ['--cpu <cores>', 'Cores', parsePositiveInt],
  cpu_model: ['--cpu-model <name>', 'Name of the CPU'],
  ram_mb: ['--ram-mb <MiB>', 'Memory', parsePositiveInt],
  disk_gb: ['--disk-gb <GiB>', 'Disk', parsePositiveInt],
  transfer_tb: ['--transfer-tb <TiB>', 'Traffic per month, such as 0.5'],
};
const PLAN_MORE: Readonly<Record<string, OptionRow>> = {
  backup_percent: ['--backup-percent <percent>', 'Price of backups in percent of the price', Number],
  host_tags: ['--tags <tags>', 'Tags that a host needs, with commas between them', words],
  regions: ['--regions <codes>', 'Regions where it is sold, with commas between them', words],
};
const REGION: Readonly<Record<string, OptionRow>> = {
  session_code: ['--session-code <code>', 'Code in the form endpoints'],
  name: ['--name <name>', 'Name that customers see'],
  country: ['--country <code>', 'Country code, such as FR'],
  pop_id: ['--pop <name>', 'Location, such as PAR1'],
};
const REGION_MORE: Readonly<Record<string, OptionRow>> = {
  tor_onion: ['--onion <address>', 'Onion address; empty: none'],
  volume_storage: ['--volume-storage <word>', 'Storage of new volumes: local or shared'],
  disk_storage: ['--disk-storage <word>', 'Storage of the disks of new servers: local or shared'],
};
const IMAGE: Readonly<Record<string, OptionRow>> = {
  arch: ['--arch <words>', 'Architectures: amd64, arm64, or both with a comma between them', words],
  size_gb: ['--size-gb <GiB>', 'Size, such as 1.5'],
  cloud_init: ['--cloud-init <word>', 'Whether it has cloud-init: yes or no', yesOrNo],
  released_at: ['--released <date>', 'Such as 2025-08-09'],
};
const IMAGE_MORE: Readonly<Record<string, OptionRow>> = {
  deprecated_at: ['--deprecated <date>', 'No new servers with it; empty: it is not deprecated'],
};

interface EditCommand {
  readonly operation: CatalogueEditOperation;
  readonly argument: readonly [flags: string, text: string];
  readonly required?: Readonly<Record<string, OptionRow>>;
  readonly optional?: Readonly<Record<string, OptionRow>>;
  /** The fields that the argument stands for. Default: it names the entry. */
  readonly named?: (name: string) => EntryFields;
}

const PLAN_ID = ['<plan>', 'Plan, such as s1'] as const;
const REGION_ID = ['<region>', 'Region code, such as par'] as const;
const IMAGE_NAME = ['<image>', 'Id, or a name such as debian-13'] as const;
const byId = (id: string): EntryFields => ({ id });

const PLAN_COMMANDS: readonly EditCommand[] = [
  {
    ...{ operation: 'plans.create', argument: PLAN_ID, named: byId, optional: PLAN_MORE },
    required: { ...PLAN, price_usd_month: ['--usd-month <price>', 'US dollars per month, such as 7.35'] },
  },
  { operation: 'plans.change', argument: PLAN_ID, optional: { ...PLAN, ...PLAN_MORE } },
  { operation: 'plans.retire', argument: PLAN_ID },
  { operation: 'plans.restore', argument: PLAN_ID },
];

const REGION_COMMANDS: readonly EditCommand[] = [
  { operation: 'regions.create', argument: REGION_ID, named: byId, required: REGION, optional: REGION_MORE },
  { operation: 'regions.change', argument: REGION_ID, optional: { ...REGION, ...REGION_MORE } },
  { operation: 'regions.close', argument: REGION_ID },
  {
    ...{ operation: 'regions.open', argument: REGION_ID },
    optional: { plans: ['--plans <ids>', 'Plans that are sold there, with commas between them', words] },
  },
];

const IMAGE_COMMANDS: readonly EditCommand[] = [
  {
    ...{ operation: 'images.create', argument: ['<family>', 'Family, such as debian'] },
    optional: { ...IMAGE_MORE, variant: ['--variant <name>', 'Such as minimal'] },
    named: (family) => ({ family }),
    required: { ...IMAGE, version: ['--os-version <version>', 'Such as 13 or 24.04'] },
  },
  { operation: 'images.change', argument: IMAGE_NAME, optional: { ...IMAGE, ...IMAGE_MORE } },
  { operation: 'images.retire', argument: IMAGE_NAME },
  { operation: 'images.restore', argument: IMAGE_NAME },
];

export function addPlanEdits(plans: Command, context: OperatorContext): void {
  for (const row of PLAN_COMMANDS) addEdit(plans, context, row);
}

export function addImageEdits(images: Command, context: OperatorContext): void {
  for (const row of IMAGE_COMMANDS) addEdit(images, context, row);
}

export function addRegions(program: Command, context: OperatorContext): void {
  const regions = program.command('regions').description('Add, change, close, and open regions');
  for (const row of REGION_COMMANDS) addEdit(regions, context, row);
}

function addEdit(group: Command, context: OperatorContext, row: EditCommand): void {
  const { summary, command: words } = CATALOGUE_OPERATIONS[row.operation];
  const command = group.command(words.split(' ').at(-1) ?? '').argument(...row.argument);
  const options = new Map<string, string>();
  const add = (rows: Readonly<Record<string, OptionRow>> = {}, isRequired: boolean) => {
    for (const [name, [flags, text, parse = String]] of Object.entries(rows)) {
      if (isRequired) command.requiredOption(flags, text, parse);
      else command.option(flags, text, parse);
      options.set(name, command.options.at(-1)?.attributeName() ?? '');
    }
  };
  add(row.required, true);
  add(row.optional, false);
  command
    .option('-y, --yes', 'Skip the confirmation')
    .description(summary)
    .action((name: string, given: Readonly<Record<string, unknown>>) => {
      const typed = [...options].map(([field, option]) => [field, given[option]] as const);
      const fields = Object.fromEntries(typed.filter(([, value]) => value !== undefined));
      const all = { ...row.named?.(name), ...fields };
      return perform(context, row.operation, { name, fields: all, yes: given.yes === true });
    });
}

const KINDS: Readonly<Record<string, TargetKind>> = { plans: 'plan', regions: 'region', images: 'image' };

async function perform(
  { resources, terminal }: OperatorContext,
  operation: CatalogueEditOperation,
  asked: { readonly name: string; readonly fields: EntryFields; readonly yes: boolean },
): Promise<void> {
  const { service } = await resources.service();
  const { name, fields } = asked;
  const edit = await editFor(service.db, operation, { id: name, fields });
  const preview = await previewEdit(service, edit);
  for (const line of preview.lines) terminal.out(line);
  if (preview.lines.length === 0) return terminal.out('no changes');
  const { servers, customers } = preview;
  terminal.out(`concerns ${formatCount(servers, 'server')} of ${formatCount(customers, 'customer')}`);
  for (const effect of preview.effects) terminal.out(effect);
  if (!asked.yes) {
    if (!terminal.ask) throw new OperatorError('nothing was changed: pass --yes to change the catalog');
    if (!(await terminal.ask('Change this?'))) return terminal.out('nothing was changed');
  }
  const kind = KINDS[operation.split('.')[0] ?? ''] ?? 'plan';
  await recordCommandOn(service, operation, { kind, name }, () => applyEdit(service, edit, preview.code));
  terminal.out('changed');
}
