/** `status`: how the service stands, at a glance. */
import type { Command } from 'commander';
import { readStatus } from '../domain/status.ts';
import { examineRates } from './chains.ts';
import { FoundWrong, type OperatorContext } from './context.ts';
import { table } from './table.ts';

const WORDS = { ok: 'ok', note: 'note', look: 'LOOK' } as const;

export function addStatus(program: Command, { doors, terminal }: OperatorContext): void {
  program
    .command('status')
    .description('print how the service stands; ends with 1 when something does not get on')
    .action(async () => {
      const open = await doors.service();
      const rates = (await examineRates(open)).filter(({ level }) => level !== 'ok');
      const findings = [...(await readStatus(open.service)), ...rates];
      const rows = findings.map(({ level, what, says }) => [WORDS[level], what, says]);
      for (const line of table(rows)) terminal.out(line);
      if (findings.some(({ level }) => level === 'look')) throw new FoundWrong();
    });
}
