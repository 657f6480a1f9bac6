/** Dumps a database's contents in a form that can be compared across two moments. */
import type { Sql } from '../../src/kernel/sql.ts';

/** The service's own tables. Those of the simulated world are in another schema. */
const TABLES = [
  ...['customers', 'balances', 'transfers', 'servers', 'operations', 'hosts', 'machines'],
  ...[
    'firewall_groups',
    'firewall_rules',
    'firewall_attachments',
    'tasks',
    'api_tokens',
    'webhooks',
    'deliveries',
  ],
  ...['ipv4_addresses', 'ipv6_prefixes', 'audit_events', 'events', 'idempotency'],
];

/** Returns every row of every table that a change may touch, as text, without `ignoredColumns`. */
export async function dumpTables(
  tx: Sql,
  ignoredColumns: readonly string[] = [],
): Promise<Record<string, string[]>> {
  const contents: Record<string, string[]> = {};
  for (const table of TABLES) {
    const rows = await tx.rows<{ row: string }>(
      `select (to_jsonb(t) - $1::text[])::text as row from ${table} t order by 1`,
      [ignoredColumns],
    );
    contents[table] = rows.map(({ row }) => row);
  }
  return contents;
}
