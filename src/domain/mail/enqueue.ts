import { newId } from '../../kernel/ids.ts';
import type { KeyRing } from '../../kernel/secrets.ts';
import type { Sql } from '../../kernel/sql.ts';
import { MAILS, type MailData, type MailKind } from '../../spec/mails.ts';
import { insertMail } from '../../store/mails.ts';
import { serializeMailData } from './data.ts';

/** What the data of mails is sealed for. */
export const MAIL_SEAL_PURPOSE = 'mail data';

/** A mail of one kind, with its kind's data. */
export type NewMail = {
  [Kind in MailKind]: {
    readonly customerId: string;
    readonly kind: Kind;
    /** What happened, in the service's own ids: a second mail of this kind for it is not sent. */
    readonly cause: string;
    readonly data: MailData[Kind];
    /** Where it goes when not to the address that the customer has at the time. */
    readonly to?: string;
  };
}[MailKind];

/**
 * Queues a mail in the transaction of what it is about. It never refuses: a kind and cause that were mailed before do
 * nothing. It is sent after the commit; whoever is in a hurry calls `service.wake()`.
 */
export async function enqueueMail(tx: Sql, mail: NewMail, now: Date, keys: KeyRing): Promise<void> {
  await insertMail(tx, {
    id: newId(now),
    customerId: mail.customerId,
    kind: mail.kind,
    cause: mail.cause,
    urgent: MAILS[mail.kind].urgent ?? false,
    dataSealed: keys.seal(MAIL_SEAL_PURPOSE, serializeMailData(mail.data)),
    toAddress: mail.to ?? null,
    staleAt: staleAt(mail),
    now,
  });
}

function staleAt<Kind extends MailKind>(mail: { kind: Kind; data: MailData[Kind] }): Date | null {
  return MAILS[mail.kind].staleAt?.(mail.data) ?? null;
}
