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

export interface Carried {
  readonly nodes: readonly string[];
  readonly indexes: readonly string[];
  /** Rows that were looked at, those thrown away included. */
  readonly touched: number;
}

/** Runs `read` and says how each of its statements was carried out. */
export async function carriedOut(db: Sql, read: (sql: Sql) => Promise<unknown>): Promise<Carried[]> {
  const carried: Carried[] = [];
  const rows = async <Row extends object>(text: string, values?: readonly unknown[]): Promise<Row[]> => {
    const [row] = await db.rows<{ 'QUERY PLAN': readonly { Plan: PlanNode }[] }>(
      `explain (analyze, format json) ${text}`,
      values,
    );
    const root = row?.['QUERY PLAN'][0]?.Plan;
    if (root) carried.push(summed(root));
    return await db.rows<Row>(text, values);
  };
  await read({
    rows,
    row: async (text, values) => (await rows(text, values))[0] as never,
    run: db.run.bind(db),
  });
  return carried;
}

function summed(root: PlanNode): Carried & { readonly scanned: number } {
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
    scanned: Math.max(...scans.map(rows)),
    nodes: nodes.map((node) => node['Node Type']),
    indexes: nodes.flatMap((node) => node['Index Name'] ?? []),
    touched: Math.max(...nodes.map(rows)),
  };
}

/** Fails the test unless `read` follows an index from the first row it shows to the last, and looks at few others. */
export async function assertFollowsIndex(
  db: Sql,
  read: (sql: Sql) => Promise<unknown>,
  size: number,
  what: string,
): Promise<void> {
  const carried = await carriedOut(db, read);
  assert.ok(carried.length > 0, what);
  for (const { nodes, indexes, touched } of carried) {
    const slow = nodes.filter((node) => /Seq Scan|Sort|Bitmap/.test(node));
    assert.deepEqual(slow, [], `${what}: ${nodes.join(', ')}`);
    assert.ok(indexes.length > 0, what);
    assert.ok(touched <= 2 * (size + 1), `${what}: looked at ${touched} rows by ${indexes.join(', ')}`);
  }
}

export interface Statement {
  readonly text: string;
  readonly values: readonly unknown[];
}

/** The one statement that `read` sends, without sending it. */
export async function statementOf(read: (sql: Sql) => Promise<unknown>): Promise<Statement> {
  const sent: Statement[] = [];
  const rows = async (text: string, values: readonly unknown[] = []) => {
    sent.push({ text, values });
    return [];
  };
  const row = async (text: string, values?: readonly unknown[]) => {
    await rows(text, values);
    return undefined;
  };
  await read({ rows, row, run: async () => 0 });
  const [statement] = sent;
  assert.ok(statement && sent.length === 1, 'it sends one statement');
  return statement;
}

/** A prepared statement is planned anew for its values, or once for all values: PostgreSQL chooses by its estimates. */
export const PLAN_MODES = ['force_custom_plan', 'force_generic_plan'] as const;
export type PlanMode = (typeof PLAN_MODES)[number];

export interface Explained extends Carried {
  /** As `touched`, of tables and indexes alone. */
  readonly scanned: number;
  /** Pages of 8 KiB that were looked at. */
  readonly blocks: number;
  /** Planning and execution, without the way to the client. */
  readonly ms: number;
}

/** Prepares the statement on a connection (a transaction, say) and says how it is carried out, each time it is asked. */
export async function preparedOn(
  connection: Sql,
  { text, values }: Statement,
  mode: PlanMode,
): Promise<{ explain(): Promise<Explained>; forget(): Promise<void> }> {
  prepared += 1;
  const name = `page_${prepared}`;
  await connection.run(`set plan_cache_mode = ${mode}`);
  await connection.run(`prepare ${name} as ${text}`);
  const literals = values.map((value) => `'${literal(value).replaceAll("'", "''")}'`);
  const execute = `explain (analyze, timing off, buffers, format json) execute ${name} (${literals.join(', ')})`;
  return {
    explain: async () => {
      const row = await connection.row<{ 'QUERY PLAN': readonly ExplainedPlan[] }>(execute);
      const plan = row?.['QUERY PLAN'][0];
      assert.ok(plan, 'a plan is explained');
      const ms = plan['Planning Time'] + plan['Execution Time'];
      return {
        ...summed(plan.Plan),
        blocks: plan.Plan['Shared Hit Blocks'] + plan.Plan['Shared Read Blocks'],
        ms,
      };
    },
    forget: async () => {
      await connection.run(`deallocate ${name}`);
    },
  };
}

let prepared = 0;

interface ExplainedPlan {
  readonly Plan: PlanNode & { readonly 'Shared Hit Blocks': number; readonly 'Shared Read Blocks': number };
  readonly 'Planning Time': number;
  readonly 'Execution Time': number;
}

function literal(value: unknown): string {
  if (Array.isArray(value)) return `{${value.map((item) => JSON.stringify(item)).join()}}`;
  return value instanceof Date ? value.toISOString() : String(value);
}
