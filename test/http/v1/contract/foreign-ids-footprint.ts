/** All stored data of a customer, which requests of other customers must not change. */
import assert from 'node:assert/strict';
import { ROUTES } from '../../../../src/http/v1/routes.ts';
import { ID_PREFIXES, type IdKind, parseId } from '../../../../src/kernel/ids.ts';
import type { Sql } from '../../../../src/kernel/sql.ts';
import { CASES } from './cases.ts';
import { ownedIds, send } from './cases-parts.ts';
import type { Estate } from './estate.ts';

/** Columns that change over time. */
const VOLATILE_FIELDS = new Set(['as_of', 'last_used_at']);

/** Written in the background, some time after the rows that they derive from. */
const LATER_TABLES = ['audit_links'];

/** Everything that the customer can see: every list, including ledger and audit log, and the balance. */
export async function readEverything(estate: Estate): Promise<Record<string, unknown>> {
  const shown: Record<string, unknown> = {};
  for (const route of ROUTES) {
    if (!route.list && route.id !== 'balance.get') continue;
    // Stock is shared by everyone.
    if (route.id === 'plans.list' || route.id === 'regions.list') continue;
    const query = route.list ? { page_size: '100' } : {};
    const { status, body, text } = await send(estate.api, route, { ...CASES[route.id](estate), query });
    assert.equal(status, 200, text);
    assert.notEqual(body.has_more, true, `more than a page of ${route.id}`);
    shown[route.id] = withoutVolatile(body);
  }
  return shown;
}

/**
 * Returns every row of every table that names the customer or one of their resources. A row of another
 * customer that adopted a foreign id would add a row.
 */
export async function rowsOf(sql: Sql, estate: Estate): Promise<string[]> {
  const uuids = Object.values(ownedIds(estate)).flat().map(storedId);
  const owner = await sql.row<{ id: string }>('select customer_id as id from servers where id = $1', [
    uuids[0],
  ]);
  assert.ok(owner);
  const tables = await sql.rows<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname in ('public', 'sim') and tablename <> all ($1) order by name`,
    [LATER_TABLES],
  );
  const found: string[] = [];
  for (const { name } of tables) {
    const rows = await sql.rows<{ row: Record<string, unknown> }>(
      `select to_jsonb(t) as row from ${name} t where t::text ~ $1`,
      [[owner.id, ...uuids].join('|')],
    );
    found.push(...rows.map(({ row }) => `${name} ${JSON.stringify(withoutVolatile(row))}`));
  }
  return found.sort();
}

export function storedId(shown: string): string {
  const kinds = Object.keys(ID_PREFIXES) as IdKind[];
  const uuid = kinds.map((kind) => parseId(kind, shown)).find((text) => text !== undefined);
  assert.ok(uuid, `${shown} is not an id`);
  return uuid;
}

function withoutVolatile(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value, (name, inner) => (VOLATILE_FIELDS.has(name) ? undefined : inner)));
}
