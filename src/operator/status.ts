/** `status`: how the service stands, at a glance. */
import type { Command } from 'commander';
import { readStatus } from '../domain/status.ts';
import { checkRates } from './chains.ts';
import { type OperatorContext, ProblemsFound } from './context.ts';
import { formatTable } from './table.ts';

const LEVEL_LABELS = { ok: 'ok', note: 'note', look: 'LOOK' } as const;

export function addStatus(program: Command, { resources, terminal }: OperatorContext): void {
  program
    .command('status')
    .description('print how the service stands; ends with 1 when something does not get on')
    .action(async () => {
      const open = await resources.service();
      const rates = (await checkRates(open)).filter(({ level }) => level !== 'ok');
      const findings = [...(await readStatus(open.service)), ...rates];
      const rows = findings.map(({ level, subject, message }) => [LEVEL_LABELS[level], subject, message]);
      for (const line of formatTable(rows)) terminal.out(line);
      if (findings.some(({ level }) => level === 'look')) throw new ProblemsFound();
    });
}
