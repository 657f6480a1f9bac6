/** `abuse attach`, `abuse file`, and `abuse remove-file`: the files of a report of abuse. */
import { writeFile } from 'node:fs/promises';
import { basename } from 'node:path';
import type { Command } from 'commander';
import { attachAbuseFile, readAbuseFile, removeAbuseFile } from '../../domain/staff/abuse/files.ts';
import { recordCommandOn } from '../../domain/staff/target.ts';
import { ABUSE_LIMITS } from '../../spec/staff/abuse.ts';
import type { OperatorContext } from '../context.ts';
import { readBounded } from '../read-file.ts';

const ID = 'Id of the report, abr_…';
const FILE = 'Id of the file, abf_…';

export function addAbuseFiles(abuse: Command, { resources, terminal }: OperatorContext): void {
  abuse
    .command('attach')
    .argument('<id>', ID)
    .argument('<file>', 'A packet capture, a saved mail, a plain text file, an image, or a PDF')
    .description('Attach a file to a report of abuse')
    .action(async (id: string, file: string) => {
      const { service } = await resources.service();
      const content = await readBounded(file, ABUSE_LIMITS.fileMaxBytes);
      const report = await recordCommandOn(
        service,
        'abuse_reports.attach',
        { kind: 'abuseReport', name: id },
        () => attachAbuseFile(service, id, { name: basename(file), content }),
      );
      terminal.out(`attached ${content.length} bytes to ${id}`);
      terminal.document(report);
    });
  abuse
    .command('file')
    .argument('<id>', ID)
    .argument('<file>', FILE)
    .requiredOption('--to <path>', 'Where to write it')
    .description('Write a file of a report of abuse to disk')
    .action(async (id: string, file: string, { to }: { to: string }) => {
      const { service } = await resources.service();
      const { content, type } = await readAbuseFile(service, id, file);
      await writeFile(to, content, { flag: 'wx', mode: 0o600 });
      terminal.out(`wrote ${content.length} bytes of ${type} to ${to}`);
    });
  abuse
    .command('remove-file')
    .argument('<id>', ID)
    .argument('<file>', FILE)
    .description('Remove a file of a report of abuse')
    .action(async (id: string, file: string) => {
      const { service } = await resources.service();
      const target = { kind: 'abuseReport', name: id } as const;
      const report = await recordCommandOn(service, 'abuse_reports.remove_file', target, () =>
        removeAbuseFile(service, id, file),
      );
      terminal.out(`removed ${file} from ${id}`);
      terminal.document(report);
    });
}
