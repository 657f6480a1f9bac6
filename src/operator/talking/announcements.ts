/** `announcements`: short texts above every page of the panel. */
import { type Command, Option } from 'commander';
import {
  type AnnouncementChange,
  type AnnouncementObject,
  type AnnouncementOrder,
  changeAnnouncement,
  createAnnouncement,
  endAnnouncement,
  listAnnouncements,
  readAnnouncement,
} from '../../domain/customers/talking/announcements.ts';
import { recordCommand } from '../../domain/staff/perform.ts';
import { recordCommandOn } from '../../domain/staff/target.ts';
import { ANNOUNCEMENT_LEVELS, AUDIENCES } from '../../spec/staff/talking.ts';
import type { OperatorContext } from '../context.ts';
import type { Output } from '../format/output.ts';
import { formatMoreHint } from '../format/table.ts';
import { parsePositiveInt, parseTime } from '../options.ts';

const LIMIT = 100;
const ID = 'Id of the announcement, ann_…';

export function addAnnouncements(program: Command, context: OperatorContext): void {
  const { resources, terminal } = context;
  const announcements = program.command('announcements').description('Announce something on the panel');
  announcements
    .command('list')
    .option('--limit <count>', `Maximum number of rows, default ${LIMIT}`, parsePositiveInt, LIMIT)
    .description('List announcements, newest first')
    .action(async (query: { readonly limit: number }) => {
      const { service } = await resources.service();
      const { announcements: rows, hasMore } = await listAnnouncements(service, query);
      const cells = rows.map((row) => [
        row.id,
        row.state,
        row.level,
        audienceOf(row),
        row.ends_at,
        row.title,
      ]);
      terminal.table(['announcement', 'state', 'level', 'shown to', 'until', 'title'], cells);
      terminal.document(rows);
      if (hasMore) terminal.err(formatMoreHint(rows.length, 'announcement'));
    });
  announcements
    .command('show')
    .argument('<id>', ID)
    .description('Show an announcement')
    .action(async (id: string) => {
      const { service } = await resources.service();
      print(terminal, await readAnnouncement(service, id));
    });
  addChanges(announcements, context);
  announcements
    .command('end')
    .argument('<id>', ID)
    .description('End an announcement now')
    .action(async (id: string) => {
      const { service } = await resources.service();
      const target = { kind: 'announcement', name: id } as const;
      await recordCommandOn(service, 'announcements.end', target, () => endAnnouncement(service, id));
      terminal.out(`${id} has ended`);
    });
}

function addChanges(announcements: Command, { resources, terminal }: OperatorContext): void {
  withOptions(announcements.command('create').argument('<title>', 'One line'))
    .requiredOption('--text <text>', 'Plain text; each line is a paragraph')
    .requiredOption('--until <time>', 'When it ends, such as 2026-12-01T22:00:00Z', parseTime)
    .description('Publish an announcement')
    .action(async (title: string, options: AnnouncementOrder) => {
      const { service } = await resources.service();
      const order = { ...options, title, level: options.level ?? 'info' };
      const act = { operation: 'announcements.create', target: null } as const;
      const created = await recordCommand(service, act, () =>
        createAnnouncement(service, { ...order, audience: options.audience ?? 'customers' }),
      );
      terminal.out(`${created.id}: ${created.state} until ${created.ends_at}`);
      terminal.document(created);
    });
  withOptions(announcements.command('change').argument('<id>', ID))
    .option('--title <title>', 'One line')
    .option('--text <text>', 'Plain text; each line is a paragraph')
    .option('--until <time>', 'When it ends', parseTime)
    .description('Change an announcement; omitted options stay')
    .action(async (id: string, change: AnnouncementChange) => {
      const { service } = await resources.service();
      const target = { kind: 'announcement', name: id } as const;
      const changed = await recordCommandOn(service, 'announcements.change', target, () =>
        changeAnnouncement(service, id, change),
      );
      print(terminal, changed);
    });
}

function withOptions(command: Command): Command {
  return command
    .addOption(new Option('--level <level>', 'Default: info').choices(ANNOUNCEMENT_LEVELS))
    .addOption(new Option('--audience <audience>', 'Default: customers').choices(AUDIENCES))
    .option('--region <region>', 'Only customers with a server there')
    .option('--link <link>', 'A page of the panel such as /status, or https://…')
    .option('--from <time>', 'When it begins; default: now', parseTime);
}

function audienceOf({ audience, region }: AnnouncementObject): string {
  return region === null ? audience : `customers in ${region}`;
}

function print(terminal: Output, announcement: AnnouncementObject): void {
  const { object: _, ...facts } = announcement;
  terminal.facts(Object.entries(facts));
  terminal.document(announcement);
}
