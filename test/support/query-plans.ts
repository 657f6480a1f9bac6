/** How the database carries statements out: for tests that a list costs the same however long it is. */
import assert from 'node:assert/strict';
import type { Sql } from '../../src/kernel/sql.ts';

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Index Name'?: string;
  readonly 'Parent Relationship'?: string;
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

export interface PlanSummary {
  readonly nodes: readonly string[];
  readonly indexes: readonly string[];
  /** Rows that were looked at, those thrown away included. */
  readonly rowsTouched: number;
}

/** Runs `read` and says how each of its statements was carried out. */
export async function explainStatements(
  db: Sql,
  read: (sql: Sql) => Promise<unknown>,
): Promise<PlanSummary[]> {
  const plans: PlanSummary[] = [];
  const rows = async <Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]> => {
    const [row] = await db.rows<{ 'QUERY PLAN': readonly { Plan: PlanNode }[] }>(
      `explain (analyze, format json) ${text}`,
      values,
    );
    const root = row?.['QUERY PLAN'][0]?.Plan;
    if (root) plans.push(summarizePlan(root));
    return await db.rows<Row>(text, values);
  };
  await read({
    rows,
    row: async (text, values) => (await rows(text, values))[0] as never,
    run: db.run.bind(db),
  });
  return plans;
}

function summarizePlan(root: PlanNode): PlanSummary & { readonly rowsScanned: number } {
  const nodes: PlanNode[] = [];
  const visit = (node: PlanNode): void => {
    // What is read beside each row shown, such as the transactions of an invoice, is bounded by itself.
    if (node['Parent Relationship'] === 'SubPlan') return;
    nodes.push(node);
    node.Plans?.forEach(visit);
  };
  visit(root);
  const rows = (node: PlanNode) =>
    (node['Actual Rows'] + (node['Rows Removed by Filter'] ?? 0)) * node['Actual Loops'];
  const scans = nodes.filter((node) => node['Node Type'].endsWith('Scan'));
  return {
    rowsScanned: Math.max(...scans.map(rows)),
    nodes: nodes.map((node) => node['Node Type']),
    indexes: nodes.flatMap((node) => node['Index Name'] ?? []),
    rowsTouched: Math.max(...nodes.map(rows)),
  };
}

/** Fails the test unless `read` follows an index from the first row it shows to the last, and looks at few others. */
export async function assertUsesIndex(
  db: Sql,
  read: (sql: Sql) => Promise<unknown>,
  size: number,
  label: string,
): Promise<void> {
  const plans = await explainStatements(db, read);
  assert.ok(plans.length > 0, label);
  for (const { nodes, indexes, rowsTouched } of plans) {
    const slow = nodes.filter((node) => /Seq Scan|Sort|Bitmap/.test(node));
    assert.deepEqual(slow, [], `${label}: ${nodes.join(', ')}`);
    assert.ok(indexes.length > 0, label);
    assert.ok(
      rowsTouched <= 2 * (size + 1),
      `${label}: looked at ${rowsTouched} rows by ${indexes.join(', ')}`,
    );
  }
}

export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** The one statement that `read` sends, without sending it. */
export async function captureStatement(read: (sql: Sql) => Promise<unknown>): Promise<Statement> {
  const statements: Statement[] = [];
  const rows = async (text: string, values: readonly unknown[] = []) => {
    statements.push({ text, values });
    return [];
  };
  const row = async (text: string, values?: readonly unknown[]) => {
    await rows(text, values);
    return undefined;
  };
  await read({ rows, row, run: async () => 0 });
  const [statement] = statements;
  assert.ok(statement && statements.length === 1, 'it sends one statement');
  return statement;
}

/** A prepared statement is planned anew for its values, or once for all values: PostgreSQL chooses by its estimates. */
export const PLAN_MODES = ['force_custom_plan', 'force_generic_plan'] as const;
export type PlanMode = (typeof PLAN_MODES)[number];

export interface PlanMeasurement extends PlanSummary {
  /** As `touched`, of tables and indexes alone. */
  readonly rowsScanned: number;
  /** Pages of 8 KiB that were looked at. */
  readonly blocks: number;
  /** Planning and execution, without the way to the client. */
  readonly ms: number;
}

/** Prepares the statement on a connection (a transaction, say) and says how it is carried out, each time it is asked. */
export async function prepareStatement(
  connection: Sql,
  { text, values }: Statement,
  mode: PlanMode,
): Promise<{ explain(): Promise<PlanMeasurement>; deallocate(): Promise<void> }> {
  preparedCount += 1;
  const name = `page_${preparedCount}`;
  await connection.run(`set plan_cache_mode = ${mode}`);
  await connection.run(`prepare ${name} as ${text}`);
  const literals = values.map((value) => `'${formatLiteral(value).replaceAll("'", "''")}'`);
  const execute = `explain (analyze, timing off, buffers, format json) execute ${name} (${literals.join(', ')})`;
  return {
    explain: async () => {
      const row = await connection.row<{ 'QUERY PLAN': readonly ExplainOutput[] }>(execute);
      const plan = row?.['QUERY PLAN'][0];
      assert.ok(plan, 'a plan is explained');
      const ms = plan['Planning Time'] + plan['Execution Time'];
      return {
        ...summarizePlan(plan.Plan),
        blocks: plan.Plan['Shared Hit Blocks'] + plan.Plan['Shared Read Blocks'],
        ms,
      };
    },
    deallocate: async () => {
      await connection.run(`deallocate ${name}`);
    },
  };
}

let preparedCount = 0;

interface ExplainOutput {
  readonly Plan: PlanNode & { readonly 'Shared Hit Blocks': number; readonly 'Shared Read Blocks': number };
  readonly 'Planning Time': number;
  readonly 'Execution Time': number;
}

function formatLiteral(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map((item) => JSON.stringify(item)).join()}}`;
  return value instanceof Date ? value.toISOString() : String(value);
}
