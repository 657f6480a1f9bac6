/** `abuse-templates`: the texts to customers about each kind of abuse. */
import { readFile } from 'node:fs/promises';
import type { Command } from 'commander';
import {
  readAbuseTemplate,
  readAbuseTemplates,
  setAbuseTemplate,
} from '../../domain/staff/abuse/templates.ts';
import { recordCommandOn } from '../../domain/staff/target.ts';
import type { OperatorContext } from '../context.ts';
import { parseDeadlineHours } from '../options.ts';

export function addAbuseTemplates(templates: Command, { resources, terminal }: OperatorContext): void {
  templates
    .command('list')
    .description('List the texts about abuse, by kind')
    .action(async () => {
      const { service } = await resources.service();
      const found = await readAbuseTemplates(service);
      const rows = found.map((row) => [row.id, `${row.deadline_hours}`, row.updated_at ?? 'as proposed']);
      terminal.table(['kind', 'hours', 'changed'], rows);
      terminal.document(found);
    });
  templates
    .command('show')
    .argument('<kind>', 'Kind of abuse')
    .description('Show the text about a kind of abuse')
    .action(async (kind: string) => {
      const { service } = await resources.service();
      const { text, ...rest } = await readAbuseTemplate(service, kind);
      terminal.facts([
        ['kind', rest.id],
        ['hours to answer', `${rest.deadline_hours}`],
      ]);
      terminal.out('');
      for (const line of text.split('\n')) terminal.out(line);
      terminal.document({ ...rest, text });
    });
  templates
    .command('set')
    .argument('<kind>', 'Kind of abuse')
    .requiredOption('--text-file <path>', 'Text with {server}, {address}, {time}, and {deadline}')
    .requiredOption('--hours <count>', 'Hours to answer', parseDeadlineHours)
    .description('Change the text about a kind of abuse')
    .action(async (kind: string, { textFile, hours }: { textFile: string; hours: number }) => {
      const { service } = await resources.service();
      const order = { text: await readFile(textFile, 'utf8'), deadline_hours: hours };
      const target = { kind: 'abuseTemplate', name: kind } as const;
      await recordCommandOn(service, 'abuse_templates.set', target, () =>
        setAbuseTemplate(service, kind, order),
      );
      terminal.out(`saved the text about ${kind}`);
    });
}
