/** Mails: the queue of what is to be sent, and what became of it. */
import type { Sql } from '../kernel/sql.ts';
import type { MailKind } from '../spec/mails.ts';

/** Queues a mail, due at once; does nothing where this kind was queued for this cause before. */
export async function insertMail(
  tx: Sql,
  mail: {
    readonly id: string;
    readonly customerId: string;
    readonly kind: MailKind;
    readonly cause: string;
    readonly dataSealed: string;
    readonly toAddress: string | null;
    readonly staleAt: Date | null;
    readonly now: Date;
  },
): Promise<void> {
  await tx.run(
    `insert into mails (id, customer_id, kind, cause, data_sealed, to_address, stale_at, due_at, created_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $8)
     on conflict (kind, cause) do nothing`,
    [
      mail.id,
      mail.customerId,
      mail.kind,
      mail.cause,
      mail.dataSealed,
      mail.toAddress,
      mail.staleAt,
      mail.now,
    ],
  );
}
