/** `maintenance start`, `maintenance end`, `maintenance list`. */
import { type Command, InvalidArgumentError } from 'commander';
import {
  endMaintenance,
  listMaintenance,
  MAINTENANCE_MINUTES_MAX,
  startMaintenance,
} from '../domain/rules/maintenance.ts';
import { recordCommand } from '../domain/staff/perform.ts';
import { formatSessionTime } from '../kernel/time.ts';
import type { Operation } from '../spec/operations.ts';
import type { OperatorContext } from './context.ts';
import { addList, formatCount } from './format/table.ts';
import { parseOperation, parsePositiveInt } from './options.ts';

interface StartOptions {
  readonly operation?: Operation;
  readonly minutes: number;
  readonly reason?: string;
}

export function addMaintenance(program: Command, context: OperatorContext): void {
  const { resources, terminal } = context;
  const maintenance = program
    .command('maintenance')
    .description('Block the service or one operation for a limited time');
  maintenance
    .command('start')
    .option('--operation <name>', 'Operation, such as servers.create; default: all', parseOperation)
    .requiredOption('--minutes <count>', 'Duration, starting now', parseMinutes)
    .option('--reason <text>', 'Shown to customers')
    .description('Refuse requests with 503 until the time is up')
    .action(async ({ operation, minutes, reason }: StartOptions) => {
      const { service } = await resources.service();
      const request = { operation: operation ?? null, minutes, reason: reason ?? null };
      const act = { operation: 'maintenance.start', target: null } as const;
      const window = await recordCommand(service, act, () => startMaintenance(service, request));
      terminal.out(
        `${window.operation ?? 'every operation'} is closed until ${formatSessionTime(window.ends_at)} UTC`,
      );
    });
  maintenance
    .command('end')
    .description('End all open windows now')
    .action(async () => {
      const { service } = await resources.service();
      const act = { operation: 'maintenance.end', target: null } as const;
      const ended = await recordCommand(service, act, () => endMaintenance(service));
      terminal.out(ended === 0 ? 'no open windows' : `ended ${formatCount(ended, 'window')}`);
    });
  addList(maintenance, context, {
    about: 'List the open windows',
    heading: ['operation', 'from (UTC)', 'to (UTC)', 'reason'],
    read: async (service) =>
      (await listMaintenance(service)).map((window) => [
        window.operation ?? 'every operation',
        formatSessionTime(window.starts_at),
        formatSessionTime(window.ends_at),
        window.reason ?? '',
      ]),
  });
}

function parseMinutes(text: string): number {
  const minutes = parsePositiveInt(text);
  const max = MAINTENANCE_MINUTES_MAX;
  if (minutes > max) throw new InvalidArgumentError(`It must be at most ${max} minutes.`);
  return minutes;
}
