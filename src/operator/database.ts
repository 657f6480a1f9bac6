/** `migrate`, `verify`, `config`. */
import type { Command } from 'commander';
import { verify } from '../domain/verify/verify.ts';
import { migrate } from '../store/migrate.ts';
import { type OperatorContext, ProblemsFound } from './context.ts';
import { formatTable } from './table.ts';

const SHOWN_EXAMPLES = 10;

export function addDatabase(program: Command, { resources, terminal }: OperatorContext): void {
  program
    .command('migrate')
    .description('bring the database to this version')
    .action(async () => {
      const applied = await migrate(await resources.database());
      terminal.out(
        applied.length > 0 ? `migrated: ${applied.join(', ')}` : 'the database is of this version already',
      );
    });
  program
    .command('verify')
    .description('prove that the ledger and the inventory are sound')
    .action(async () => {
      const { service } = await resources.service();
      const findings = await verify(service);
      const rows = findings.map(({ invariant, checked, broken }) => [
        broken === 0n ? 'ok' : 'BROKEN',
        String(checked),
        invariant.name,
        invariant.description,
      ]);
      for (const line of formatTable([['', 'checked', 'invariant', 'what holds'], ...rows]))
        terminal.out(line);
      const violated = findings.filter((finding) => finding.broken > 0n);
      for (const { invariant, broken, examples } of violated) {
        const more = broken > BigInt(SHOWN_EXAMPLES) ? ' …' : '';
        terminal.err(`skerryd: BROKEN ${invariant.name}: ${broken}, namely ${examples.join(' ')}${more}`);
      }
      terminal.out(`${findings.length - violated.length} of ${findings.length} invariants hold`);
      if (violated.length > 0) throw new ProblemsFound();
    });
  program
    .command('config')
    .description('print every setting, its value and where it comes from')
    .action(() => {
      const rows = resources
        .settings()
        .map(({ name, value, source, about }) => [name, value ?? '(unset)', source, about]);
      for (const line of formatTable([['setting', 'value', 'source', 'what it is for'], ...rows]))
        terminal.out(line);
    });
}
