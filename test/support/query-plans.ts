/** Query plans, for tests that a list's cost does not depend on its length. */
import assert from 'node:assert/strict';
import type { Sql, SqlValues } from '../../src/kernel/sql.ts';
import { bindParameters } from '../../src/store/parameters.ts';

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
  /** Rows that were visited, including those that a filter removed. */
  readonly rowsTouched: number;
}

/** Runs `read` and returns the plan of each of its statements. */
export async function explainStatements(
  db: Sql,
  read: (sql: Sql) => Promise<unknown>,
): Promise<PlanSummary[]> {
  const plans: PlanSummary[] = [];
  const rows = async <Row extends object>(text: string, values?: SqlValues): Promise<Row[]> => {
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
    // A subplan reads data for one displayed row, such as an invoice's transactions. Its size is already
    // bounded.
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

/** Fails the test unless `read` follows an index from its first row to its last and visits few other rows. */
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
      `${label}: visited ${rowsTouched} rows through ${indexes.join(', ')}`,
    );
  }
}

export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** Returns the one statement that `read` would run, without running it. */
export async function captureStatement(read: (sql: Sql) => Promise<unknown>): Promise<Statement> {
  const statements: Statement[] = [];
  const rows = async (text: string, values?: SqlValues) => {
    statements.push(bindParameters(text, values));
    return [];
  };
  const row = async (text: string, values?: SqlValues) => {
    await rows(text, values);
    return undefined;
  };
  await read({ rows, row, run: async () => 0 });
  const [statement] = statements;
  assert.ok(statement && statements.length === 1, 'read must run exactly one statement');
  return statement;
}

/** PostgreSQL may plan a prepared statement per execution or once for all values. Tests check both modes. */
export const PLAN_MODES = ['force_custom_plan', 'force_generic_plan'] as const;
export type PlanMode = (typeof PLAN_MODES)[number];

export interface PlanMeasurement extends PlanSummary {
  /** Like `rowsTouched`, for table and index scans only. */
  readonly rowsScanned: number;
  /** The number of 8 KiB pages that were read. */
  readonly blocks: number;
  /** Planning plus execution, without the round trip to the client. */
  readonly ms: number;
}

/**
 * Prepares the statement on a connection, for example a transaction. Each `explain` call runs it and returns
 * its plan.
 */
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
  const options = 'analyze, timing off, buffers, format json';
  const execute = `explain (${options}) execute ${name} (${literals.join(', ')})`;
  return {
    explain: async () => {
      const row = await connection.row<{ 'QUERY PLAN': readonly ExplainOutput[] }>(execute);
      const plan = row?.['QUERY PLAN'][0];
      assert.ok(plan, 'the explanation contains a plan');
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
