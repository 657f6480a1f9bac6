/** Legal orders with their documents, and the counts of the transparency report. Texts are sealed. */
import type { Sql } from '../../kernel/sql.ts';
import type { LegalFileType, LegalOrderKind, LegalState } from '../../spec/staff/legal.ts';
import { assignmentsFor, conditionsFor, parametersFor } from '../parameters.ts';
import type { StaffLogRow } from './log.ts';

export interface LegalOrderRow {
  readonly id: string;
  readonly kind: LegalOrderKind;
  readonly state: LegalState;
  readonly details_sealed: string;
  readonly customer_id: string | null;
  readonly server_id: string | null;
  readonly received_at: Date;
  readonly due_at: Date | null;
  readonly gag_until: Date | null;
  readonly data_handed_out: boolean;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly closed_at: Date | null;
}

export type NamedLegalOrderRow = LegalOrderRow & {
  /** Null: there is none, or it was deleted. */
  readonly customer_email: string | null;
  readonly server_name: string | null;
};

export interface LegalDocumentRow {
  readonly id: string;
  readonly order_id: string;
  readonly name_sealed: string;
  readonly type: LegalFileType;
  readonly size_bytes: number;
  readonly created_at: Date;
}

const COLUMNS = `id, kind, state, details_sealed, customer_id, server_id, received_at, due_at, gag_until,
  data_handed_out, created_at, updated_at, closed_at`;
const CHANGED = `kind, state, details_sealed, customer_id, server_id, received_at, due_at, gag_until,
  data_handed_out, updated_at, closed_at`;
const DOCUMENT_COLUMNS = 'id, order_id, name_sealed, type, size_bytes, created_at';

const SELECT = `select o.*, case when c.deleted_at is null then c.email end as customer_email,
    s.name as server_name
  from (select ${COLUMNS} from legal_orders) o
  left join customers c on c.id = o.customer_id
  left join servers s on s.id = o.server_id`;

/** Omitted fields match everything. */
export interface LegalOrderFilter {
  readonly state?: LegalState;
  readonly kind?: LegalOrderKind;
  readonly customerId?: string;
  /** Only older orders; ids begin with the time. */
  readonly beforeId?: string;
}

const CONDITIONS = {
  state: 'o.state = $state',
  kind: 'o.kind = $kind',
  customerId: 'o.customer_id = $customerId',
  beforeId: 'o.id < $beforeId',
};

/** Newest first. */
export async function listLegalOrders(
  sql: Sql,
  filter: LegalOrderFilter,
  limit: number,
): Promise<NamedLegalOrderRow[]> {
  return await sql.rows<NamedLegalOrderRow>(
    `${SELECT} where ${conditionsFor(filter, CONDITIONS)} order by o.id desc limit $limit`,
    { ...filter, limit },
  );
}

export async function findLegalOrder(sql: Sql, id: string): Promise<NamedLegalOrderRow | undefined> {
  return await sql.row<NamedLegalOrderRow>(`${SELECT} where o.id = $1`, [id]);
}

export async function lockLegalOrder(tx: Sql, id: string): Promise<LegalOrderRow | undefined> {
  return await tx.row<LegalOrderRow>(`select ${COLUMNS} from legal_orders where id = $1 for update`, [id]);
}

export async function insertLegalOrder(tx: Sql, row: LegalOrderRow): Promise<void> {
  await tx.run(`insert into legal_orders (${COLUMNS}) values (${parametersFor(COLUMNS)})`, row);
}

export async function updateLegalOrder(tx: Sql, row: LegalOrderRow): Promise<void> {
  await tx.run(`update legal_orders set ${assignmentsFor(CHANGED)} where id = $id`, row);
}

/** Oldest first; their number is limited. */
export async function listLegalDocuments(sql: Sql, orderId: string): Promise<LegalDocumentRow[]> {
  return await sql.rows<LegalDocumentRow>(
    `select ${DOCUMENT_COLUMNS} from legal_documents where order_id = $1 order by id`,
    [orderId],
  );
}

export async function insertLegalDocument(
  tx: Sql,
  row: LegalDocumentRow & { readonly content_sealed: string },
): Promise<void> {
  const columns = `${DOCUMENT_COLUMNS}, content_sealed`;
  await tx.run(`insert into legal_documents (${columns}) values (${parametersFor(columns)})`, row);
}

export async function findLegalDocument(
  sql: Sql,
  { orderId, id }: { readonly orderId: string; readonly id: string },
): Promise<(LegalDocumentRow & { readonly content_sealed: string }) | undefined> {
  return await sql.row(
    `select ${DOCUMENT_COLUMNS}, content_sealed from legal_documents where order_id = $1 and id = $2`,
    [orderId, id],
  );
}

type OrderAct = Pick<StaffLogRow, 'id' | 'email' | 'operation' | 'target' | 'result' | 'created_at'>;

/** The acts on an order, and those whose reason has its id. Newest first. */
export async function listActsOfOrder(sql: Sql, shownId: string, limit: number): Promise<OrderAct[]> {
  return await sql.rows<OrderAct>(
    `select l.id, s.email, l.operation, l.target, l.result, l.created_at
       from (select * from staff_log where target = $1
             union
             select * from staff_log where substring(reason from 'lgl_[a-z2-7]{26}') = $1) l
       left join staff s on s.id = l.staff_id
      order by l.id desc limit $2`,
    [shownId, limit],
  );
}

/** Open orders that are due before a time, the first first. */
export async function listDueOrders(
  sql: Sql,
  before: Date,
  limit: number,
): Promise<{ readonly id: string; readonly due_at: Date }[]> {
  return await sql.rows(
    `select id, due_at from legal_orders
      where state = 'open' and due_at is not null and due_at < $1 order by due_at, id limit $2`,
    [before, limit],
  );
}

/** Of which orders the report counts. */
export interface CountedOrders {
  readonly since: Date;
  readonly now: Date;
  /** Also those whose gag is in force. */
  readonly gagged: boolean;
}

/** `2026-2`: the second half of the year in which an order was received. */
const HALF = `to_char(received_at at time zone 'UTC', 'YYYY') || '-' ||
  case when extract(month from received_at at time zone 'UTC') <= 6 then '1' else '2' end`;
const COUNTED = `received_at >= $since and ($gagged::bool or gag_until is null or gag_until <= $now)`;

export interface OrderCountRow {
  readonly half: string;
  readonly kind: LegalOrderKind;
  readonly state: LegalState;
  readonly n: number;
}

export async function countOrders(sql: Sql, counted: CountedOrders): Promise<OrderCountRow[]> {
  return await sql.rows<OrderCountRow>(
    `select ${HALF} as half, kind, state, count(*)::int as n
       from legal_orders where ${COUNTED} group by 1, 2, 3`,
    counted,
  );
}

export interface OrderSumsRow {
  readonly half: string;
  readonly accounts: number;
  readonly servers: number;
  readonly handed_out: number;
  readonly takedowns: number;
}

export async function sumOrders(sql: Sql, counted: CountedOrders): Promise<OrderSumsRow[]> {
  return await sql.rows<OrderSumsRow>(
    `select ${HALF} as half, count(distinct customer_id)::int as accounts,
            count(distinct server_id)::int as servers,
            (count(*) filter (where data_handed_out))::int as handed_out,
            (count(*) filter (where kind = 'takedown' and state in ('complied', 'partly')))::int as takedowns
       from legal_orders where ${COUNTED} group by 1`,
    counted,
  );
}
