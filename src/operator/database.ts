/** `migrate`, `verify`, `config`. */
import type { Command } from 'commander';
import { verify } from '../domain/verify/verify.ts';
import { migrate } from '../store/migrate.ts';
import { type OperatorContext, ProblemsFound } from './context.ts';
import { printTable } from './format/table.ts';

const SHOWN_EXAMPLES = 10;

export function addDatabase(program: Command, { resources, terminal }: OperatorContext): void {
  program
    .command('migrate')
    .description('Migrate the database to this version')
    .action(async () => {
      const applied = await migrate(await resources.database());
      terminal.out(applied.length > 0 ? `migrated: ${applied.join(', ')}` : 'the database is up to date');
    });
  program
    .command('verify')
    .description('Verify the ledger and the inventory; exits 1 if an invariant is broken')
    .action(async () => {
      const { service } = await resources.service();
      const findings = await verify(service);
      const rows = findings.map(({ invariant, checked, broken }) => [
        broken === 0n ? 'OK' : 'BROKEN',
        String(checked),
        invariant.name,
        invariant.description,
      ]);
      printTable(terminal, ['', 'checked', 'invariant', 'description'], rows);
      const violated = findings.filter((finding) => finding.broken > 0n);
      for (const { invariant, broken, examples } of violated) {
        const more = broken > BigInt(SHOWN_EXAMPLES) ? ' …' : '';
        terminal.err(`skerryd: BROKEN ${invariant.name}: ${broken} rows: ${examples.join(' ')}${more}`);
      }
      terminal.out(`${findings.length - violated.length} of ${findings.length} invariants hold`);
      if (violated.length > 0) throw new ProblemsFound();
    });
  program
    .command('config')
    .description('Show every setting, its value, and its source')
    .action(() => {
      const rows = resources
        .settings()
        .map(({ name, value, source, about }) => [name, value ?? '(unset)', source, about]);
      printTable(terminal, ['setting', 'value', 'source', 'description'], rows);
    });
}
