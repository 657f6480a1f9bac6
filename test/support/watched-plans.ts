/** Watches the plans of everything that runs on a database. */
import type { Database, Sql, SqlValues } from '../../src/kernel/sql.ts';

interface PlanNode {
  readonly 'Node Type': string;
  readonly 'Relation Name'?: string;
  readonly 'Actual Rows': number;
  /** 0: it was not executed. */
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly PlanNode[];
}

export interface PlanBounds {
  /** A table or partition with more rows must not be read from end to end. */
  readonly tableRows: number;
  /** More rows must not be sorted. */
  readonly sortedRows: number;
}

export interface WatchedPlans {
  readonly db: Database;
  /** Plans that exceed the bounds, with their statements. */
  readonly faults: readonly string[];
  /** How many statements ran. */
  count(): number;
}

const EXPLAINED = /^\s*(?:\(?select|with|insert|update|delete)\b/i;

/** Each statement runs twice: the first time for its plan, which is rolled back. */
export async function watchPlans(db: Database, bounds: PlanBounds): Promise<WatchedPlans> {
  const large = new Set(
    (
      await db.rows<{ name: string }>(
        `select relname as name from pg_class where relkind = 'r' and reltuples > $1`,
        [bounds.tableRows],
      )
    ).map(({ name }) => name),
  );
  const faults: string[] = [];
  let count = 0;
  const look = (node: PlanNode, text: string): void => {
    const name = node['Relation Name'] ?? '';
    const type = node['Node Type'];
    const isSlow =
      (type === 'Seq Scan' && large.has(name) && node['Actual Loops'] > 0) ||
      (large.has(name) && (node['Rows Removed by Filter'] ?? 0) * node['Actual Loops'] > bounds.tableRows) ||
      (/Sort/.test(type) && node['Actual Rows'] > bounds.sortedRows);
    if (isSlow) faults.push(`${type} ${name} (${node['Actual Rows']} rows): ${text.replace(/\s+/g, ' ')}`);
    for (const child of node.Plans ?? []) look(child, text);
  };
  const explain = async (tx: Sql, text: string, values?: SqlValues): Promise<void> => {
    if (!EXPLAINED.test(text)) return;
    count += 1;
    await tx.run('savepoint plan');
    const row = await tx.row<{ 'QUERY PLAN': readonly { Plan: PlanNode }[] }>(
      `explain (analyze, timing off, format json) ${text}`,
      values,
    );
    await tx.run('rollback to plan');
    const root = row?.['QUERY PLAN'][0]?.Plan;
    if (root) look(root, text);
  };
  const watch = (tx: Sql): Sql => ({
    rows: async (text, values) => {
      await explain(tx, text, values);
      return await tx.rows(text, values);
    },
    row: async (text, values) => {
      await explain(tx, text, values);
      return await tx.row(text, values);
    },
    run: async (text, values) => {
      await explain(tx, text, values);
      return await tx.run(text, values);
    },
  });
  const watched: Database = {
    rows: (text, values) => db.transaction((tx) => watch(tx).rows(text, values)),
    row: (text, values) => db.transaction((tx) => watch(tx).row(text, values)),
    run: (text, values) => db.transaction((tx) => watch(tx).run(text, values)),
    transaction: (work) => db.transaction((tx) => work(watch(tx))),
  };
  return { db: { ...db, ...watched }, faults, count: () => count };
}
