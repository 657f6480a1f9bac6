/** `migrate`, `verify`, `config`. */
import type { Command } from 'commander';
import { checkHeads } from '../domain/audit/heads.ts';
import type { Service } from '../domain/context.ts';
import { type InvariantResult, verify } from '../domain/verify/verify.ts';
import { OperatorError } from '../kernel/operator-error.ts';
import { countUnlinked, readChainHead } from '../store/audit-chain.ts';
import { migrate } from '../store/migrate.ts';
import { listTopStatements, readDatabaseSettings } from '../store/service/statements.ts';
import { type OperatorContext, ProblemsFound } from './context.ts';
import type { Output } from './format/output.ts';
import { parsePositiveInt } from './options.ts';

const SHOWN_EXAMPLES = 10;
const STATEMENTS_SHOWN = 20;
const STATEMENT_MAX_CHARS = 200;
const NO_STATISTICS =
  'the database has no statistics of statements; add pg_stat_statements to shared_preload_libraries, ' +
  'restart PostgreSQL, and run: create extension pg_stat_statements';

type Finding = Omit<InvariantResult, 'invariant'> & {
  readonly invariant: Pick<InvariantResult['invariant'], 'name' | 'description'>;
};

function printFindings(terminal: Output, findings: readonly Finding[]): void {
  const rows = findings.map(({ invariant, checked, broken }) => [
    broken === 0n ? 'OK' : 'BROKEN',
    String(checked),
    invariant.name,
    invariant.description,
  ]);
  terminal.table(['', 'checked', 'invariant', 'description'], rows);
  const violated = findings.filter((finding) => finding.broken > 0n);
  for (const { invariant, broken, examples } of violated) {
    const more = broken > BigInt(SHOWN_EXAMPLES) ? ' …' : '';
    terminal.err(`skerryd: BROKEN ${invariant.name}: ${broken} rows: ${examples.join(' ')}${more}`);
  }
}

/** Compares the signed heads outside the database with the audit log. */
async function verifyHeads(service: Service, path: string | undefined): Promise<Finding> {
  const { checked, broken, faults, unknownKeys } = await checkHeads(service, path);
  const unverified = unknownKeys > 0n ? `; ${unknownKeys} lines have a key that is no longer set` : '';
  return {
    invariant: {
      name: 'audit log matches its daily heads',
      description: `each line of audit-heads.log is authentic and fits the chain${unverified}`,
    },
    checked,
    broken,
    examples: faults.map((fault) => `${fault};`),
  };
}

async function describeAuditHead({ db }: Service): Promise<string> {
  const { no, hash } = await readChainHead(db);
  const waiting = await countUnlinked(db);
  return `audit log: head is link ${no}, ${hash.toString('hex')}; ${waiting} rows wait for their link`;
}

export function addDatabase(program: Command, { resources, terminal }: OperatorContext): void {
  program
    .command('migrate')
    .description('Migrate the database to this version')
    .option(
      '--while-running',
      'Migrate while the previous version runs; fails if a migration is incompatible with it',
    )
    .action(async ({ whileRunning = false }: { readonly whileRunning?: boolean }) => {
      const applied = await migrate(await resources.database(), { tell: terminal.err, whileRunning });
      terminal.out(applied.length > 0 ? `migrated: ${applied.join(', ')}` : 'the database is up to date');
    });
  program
    .command('verify')
    .option('--heads <file>', 'A copy of audit-heads.log, default: the one in the data folder')
    .description('Verify the ledger, the inventory, and the audit log; exits 1 if an invariant is broken')
    .action(async ({ heads }: { readonly heads?: string }) => {
      const { service } = await resources.service();
      const findings = [...(await verify(service)), await verifyHeads(service, heads)];
      printFindings(terminal, findings);
      terminal.out(await describeAuditHead(service));
      const holding = findings.filter(({ broken }) => broken === 0n).length;
      terminal.out(`${holding} of ${findings.length} invariants hold`);
      if (holding < findings.length) throw new ProblemsFound();
    });
  program
    .command('database')
    .description('Examine the database')
    .command('statements')
    .description('Show the statements that took the most time, from pg_stat_statements')
    .option('--limit <count>', 'Maximum number of rows, default 20', parsePositiveInt, STATEMENTS_SHOWN)
    .action(async ({ limit }: { readonly limit: number }) => {
      const { service } = await resources.service();
      if (!(await readDatabaseSettings(service.db)).has_statistics) throw new OperatorError(NO_STATISTICS);
      const rows = (await listTopStatements(service.db, limit)).map((row) => [
        `${(row.share * 100).toFixed(1)} %`,
        String(row.calls),
        row.mean_ms.toFixed(2),
        String(row.rows),
        row.text.slice(0, STATEMENT_MAX_CHARS),
      ]);
      terminal.table(['time', 'calls', 'mean ms', 'rows', 'statement'], rows);
    });
  program
    .command('config')
    .description('Show every setting, its value, and its source')
    .action(() => {
      const rows = resources
        .settings()
        .map(({ name, value, source, about }) => [name, value ?? '(unset)', source, about]);
      terminal.table(['setting', 'value', 'source', 'description'], rows);
    });
}
