/** The list of a customer's servers: its columns, filters, and sort orders. */
import { parseId } from '../../kernel/ids.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { PageRequest } from '../../spec/lists.ts';
import type { Reach } from '../../spec/token-limits.ts';
import { joinAction } from '../actions.ts';
import { pageInside } from '../customers/reach.ts';
import { byLabels, type Page, type PageSource, readPage } from '../page.ts';
import { type ServerRow, SHOWN_COLUMNS, type ShownServerRow } from './servers.ts';

/** Parses a shown image id. The prefix is part of the id: with the wrong one, nothing matches. */
function parseImageFilter(shown: string): [type: ServerRow['image_type'], id: string] | undefined {
  const official = parseId('image', shown);
  if (official !== undefined) return ['official', official];
  const own = parseId('customImage', shown);
  return own === undefined ? undefined : ['custom', own];
}

/**
 * Joins by index, row by row: for fifty servers, the planner may otherwise scan tables of ten thousand rows.
 */
const SERVER_FROM_LATERAL = `servers s
  cross join lateral (select type from images where id = s.image_id limit 1) i
  left join lateral (select addr, gateway from ipv4_addresses where server_id = s.id limit 1) a on true
  left join lateral (select prefix from ipv6_prefixes where server_id = s.id limit 1) p on true
  ${joinAction('s.id')}`;

const SERVER_PAGE_SOURCE = {
  columns: SHOWN_COLUMNS,
  from: SERVER_FROM_LATERAL,
  where: 's.customer_id = $customerId',
  id: { column: 's.id', type: 'uuid' },
  sorts: {
    created_at: { column: 's.created_at', type: 'timestamptz' },
    name: { column: 's.name', type: 'text' },
    // Only the panel sorts by these.
    status: { column: 's.status', type: 'text' },
    region: { column: '(select g.name from regions g where g.id = s.region_id)', type: 'text' },
    plan: { column: 's.plan_id', type: 'text' },
    paid_until: { column: 's.paid_until', type: 'timestamptz' },
  },
  filters: {
    status: { where: 's.status = $status' },
    region: { where: 's.region_id = $region' },
    plan: { where: 's.plan_id = $plan' },
    image: { where: 'array[i.type, s.image_id::text] = $image', value: parseImageFilter },
    name: { where: 's.name = $name' },
    tag: { where: '$tag = any(s.tags)' },
    label: byLabels('s.labels'),
  },
} as const satisfies Omit<PageSource, 'values'>;

/** Pages through the customer's servers. The quota bounds the rows that a filter or a sort by name scans. */
export async function pageServers(
  tx: Sql,
  customerId: string,
  request: PageRequest,
  reach?: Reach | null,
): Promise<Page<ShownServerRow>> {
  const source = { ...SERVER_PAGE_SOURCE, values: { customerId } };
  return await readPage<ShownServerRow>(tx, pageInside(source, reach, 'server', 's.'), request);
}
