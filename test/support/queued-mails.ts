/** The mails that a customer would receive, read from the queue. */
import type { Service } from '../../src/domain/context.ts';
import { parseMailData } from '../../src/domain/mail/enqueue.ts';
import type { MailData } from '../../src/spec/mails/data.ts';
import type { MailKind } from '../../src/spec/mails/kinds.ts';
import { SEALED } from '../../src/spec/sealed.ts';

export interface QueuedMail<Kind extends MailKind> {
  /** Null: the account's own address. */
  readonly to: string | null;
  readonly data: MailData[Kind];
}

/** Returns queued mails of one kind, oldest first, for this address or for the customer who has it. */
export async function queuedMails<Kind extends MailKind>(
  { db, keys }: Pick<Service, 'db' | 'keys'>,
  kind: Kind,
  address: string,
): Promise<QueuedMail<Kind>[]> {
  const rows = await db.rows<{ id: string; to_address: string | null; data_sealed: string }>(
    `select m.id, m.to_address, m.data_sealed from mails m left join customers c on c.id = m.customer_id
      where m.kind = $1 and coalesce(m.to_address, c.email) = $2 order by m.created_at, m.ctid`,
    [kind, address],
  );
  return rows.map((row) => ({
    to: row.to_address,
    data: parseMailData(kind, keys.open(SEALED.mail, row.id, row.data_sealed).toString()),
  }));
}

/** Returns the path of the newest link that was mailed to this address. */
export async function lastMailedPath(
  service: Pick<Service, 'db' | 'keys'>,
  kind: 'confirm_address' | 'reset_password',
  address: string,
): Promise<string> {
  const last = (await queuedMails(service, kind, address)).at(-1);
  if (!last) throw new Error(`no ${kind} mail was queued`);
  return last.data.path;
}

export function tokenFromPath(path: string): string {
  return new URL(path, 'http://x').searchParams.get('token') ?? '';
}
