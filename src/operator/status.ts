/** `status`: the state of the service at a glance. */
import type { Command } from 'commander';
import { readStatus } from '../domain/status.ts';
import { checkRates } from './chains.ts';
import { type OperatorContext, ProblemsFound } from './context.ts';
import { formatFindings, hasProblem } from './findings.ts';

export function addStatus(program: Command, { resources, terminal }: OperatorContext): void {
  program
    .command('status')
    .description('Show the state of the service; exits 1 if anything needs attention')
    .action(async () => {
      const open = await resources.service();
      const rates = (await checkRates(open)).filter(({ level }) => level !== 'ok');
      const findings = [...(await readStatus(open.service)), ...rates];
      for (const line of formatFindings(findings)) terminal.out(line);
      if (hasProblem(findings)) throw new ProblemsFound();
    });
}
