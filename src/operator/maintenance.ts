/** `maintenance start`, `maintenance end`, `maintenance list`. */
import { type Command, InvalidArgumentError } from 'commander';
import type { Service } from '../domain/context.ts';
import {
  endMaintenance,
  endMaintenanceWindow,
  listMaintenance,
  MAINTENANCE_MINUTES_MAX,
  startMaintenance,
} from '../domain/rules/maintenance.ts';
import { recordCommand } from '../domain/staff/perform.ts';
import { recordCommandOn } from '../domain/staff/target.ts';
import { formatId } from '../kernel/ids.ts';
import { OperatorError } from '../kernel/operator-error.ts';
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
    .argument('[id]', 'Of `maintenance list`; default: the only open window')
    .option('--all', 'End all open windows')
    .description('End an open window now, or all of them')
    .action(async (id: string | undefined, { all: isAll = false }: { readonly all?: boolean }) => {
      const { service } = await resources.service();
      if (id !== undefined) {
        if (isAll) throw new OperatorError('give an id or --all, not both');
        const target = { kind: 'maintenanceWindow', name: id } as const;
        await recordCommandOn(service, 'maintenance.end_one', target, () =>
          endMaintenanceWindow(service, id),
        );
        terminal.out('ended 1 window');
        return;
      }
      if (!isAll) await requireOne(service);
      const act = { operation: 'maintenance.end', target: null } as const;
      const ended = await recordCommand(service, act, () => endMaintenance(service));
      terminal.out(ended === 0 ? 'no open windows' : `ended ${formatCount(ended, 'window')}`);
    });
  addList(maintenance, context, {
    about: 'List the open windows',
    heading: ['id', 'operation', 'from (UTC)', 'to (UTC)', 'reason'],
    read: async (service) =>
      (await listMaintenance(service)).map((window) => [
        formatId('maintenanceWindow', window.id),
        window.operation ?? 'every operation',
        formatSessionTime(window.starts_at),
        formatSessionTime(window.ends_at),
        window.reason ?? '',
      ]),
  });
}

/** Refuses to guess which of several windows to end. */
async function requireOne(service: Service): Promise<void> {
  const open = await listMaintenance(service);
  if (open.length < 2) return;
  const names = open.map(
    ({ id, operation }) => `${formatId('maintenanceWindow', id)} (${operation ?? 'every operation'})`,
  );
  throw new OperatorError(`${open.length} windows are open, give an id or --all: ${names.join(', ')}`);
}

function parseMinutes(text: string): number {
  const minutes = parsePositiveInt(text);
  const max = MAINTENANCE_MINUTES_MAX;
  if (minutes > max) throw new InvalidArgumentError(`It must be at most ${max} minutes.`);
  return minutes;
}
