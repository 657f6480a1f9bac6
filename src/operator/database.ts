/** `migrate`, `verify`, `config`. */
import type { Command } from 'commander';
import { verify } from '../domain/verify/verify.ts';
import { migrate } from '../store/migrate.ts';
import { FoundWrong, type OperatorContext } from './context.ts';
import { table } from './table.ts';

const SHOWN_EXAMPLES = 10;

export function addDatabase(program: Command, { doors, terminal }: OperatorContext): void {
  program
    .command('migrate')
    .description('bring the database to this version')
    .action(async () => {
      const ran = await migrate(await doors.database());
      terminal.out(
        ran.length > 0 ? `migrated: ${ran.join(', ')}` : 'the database is of this version already',
      );
    });
  program
    .command('verify')
    .description('prove that the ledger and the inventory are sound')
    .action(async () => {
      const { service } = await doors.service();
      const findings = await verify(service);
      const rows = findings.map(({ invariant, checked, broken }) => [
        broken === 0n ? 'ok' : 'BROKEN',
        String(checked),
        invariant.name,
        invariant.proves,
      ]);
      for (const line of table([['', 'checked', 'invariant', 'what holds'], ...rows])) terminal.out(line);
      const wrong = findings.filter((finding) => finding.broken > 0n);
      for (const { invariant, broken, examples } of wrong) {
        const more = broken > BigInt(SHOWN_EXAMPLES) ? ' …' : '';
        terminal.err(`skerryd: BROKEN ${invariant.name}: ${broken}, namely ${examples.join(' ')}${more}`);
      }
      terminal.out(`${findings.length - wrong.length} of ${findings.length} invariants hold`);
      if (wrong.length > 0) throw new FoundWrong();
    });
  program
    .command('config')
    .description('print every setting, its value and where it comes from')
    .action(() => {
      const rows = doors
        .settings()
        .map(({ name, value, source, about }) => [name, value ?? '(unset)', source, about]);
      for (const line of table([['setting', 'value', 'source', 'what it is for'], ...rows]))
        terminal.out(line);
    });
}
