/** `maintenance start`, `maintenance end`, `maintenance list`. */
import { type Command, InvalidArgumentError } from 'commander';
import { endMaintenance, listMaintenance, startMaintenance } from '../domain/rules/maintenance.ts';
import { sessionTime } from '../kernel/time.ts';
import type { Operation } from '../spec/operations.ts';
import type { OperatorContext } from './context.ts';
import { readOperation } from './operation.ts';
import { wholeAboveZero } from './options.ts';
import { counted, table } from './table.ts';

interface StartOptions {
  readonly operation?: Operation;
  readonly minutes: number;
  readonly reason?: string;
}

export function addMaintenance(program: Command, { doors, terminal }: OperatorContext): void {
  const maintenance = program
    .command('maintenance')
    .description('close the service, or one operation, for a time');
  maintenance
    .command('start')
    .option('--operation <name>', 'such as servers.create; default: every operation', readOperation)
    .requiredOption('--minutes <count>', 'how long from now', readMinutes)
    .option('--reason <text>', 'customers read it')
    .description('answer 503 until the time is up')
    .action(async ({ operation, minutes, reason }: StartOptions) => {
      const { service } = await doors.service();
      const wanted = { operation: operation ?? null, minutes, reason: reason ?? null };
      const window = await startMaintenance(service, wanted);
      terminal.out(
        `${window.operation ?? 'every operation'} is closed until ${sessionTime(window.ends_at)} UTC`,
      );
    });
  maintenance
    .command('end')
    .description('end every open window now')
    .action(async () => {
      const { service } = await doors.service();
      const ended = await endMaintenance(service);
      terminal.out(ended === 0 ? 'no window was open' : `ended ${counted(ended, 'window')}`);
    });
  maintenance
    .command('list')
    .description('print the open windows')
    .action(async () => {
      const { service } = await doors.service();
      const rows = (await listMaintenance(service)).map((window) => [
        window.operation ?? 'every operation',
        sessionTime(window.starts_at),
        sessionTime(window.ends_at),
        window.reason ?? '',
      ]);
      for (const line of table([['operation', 'from (UTC)', 'to (UTC)', 'reason'], ...rows]))
        terminal.out(line);
    });
}

/** A window of more than a year would be a mistake, and no time that a database can hold. */
const MINUTES_MAX = 366 * 24 * 60;

function readMinutes(text: string): number {
  const minutes = wholeAboveZero(text);
  if (minutes > MINUTES_MAX) throw new InvalidArgumentError(`Give at most ${MINUTES_MAX} minutes.`);
  return minutes;
}
