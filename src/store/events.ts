import type { Sql } from '../kernel/sql.ts';

export interface EventRow {
  readonly id: string;
  readonly customerId: string;
  readonly type: string;
  readonly data: object;
  readonly createdAt: Date;
}

export async function insertEvent(tx: Sql, row: EventRow): Promise<void> {
  await tx.run(`insert into events (id, customer_id, type, data, created_at) values ($1, $2, $3, $4, $5)`, [
    row.id,
    row.customerId,
    row.type,
    JSON.stringify(row.data),
    row.createdAt,
  ]);
}
