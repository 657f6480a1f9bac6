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

function summed(root: PlanNode): Carried {
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
  return {
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
