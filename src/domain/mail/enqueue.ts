/** Queues mail in the transaction that causes it. */
import { newId } from '../../kernel/ids.ts';
import type { KeyRing } from '../../kernel/secrets.ts';
import type { Sql } from '../../kernel/sql.ts';
import type { MailData } from '../../spec/mails/data.ts';
import { MAILS, type MailKind } from '../../spec/mails/kinds.ts';
import { SEALED } from '../../spec/sealed.ts';
import { insertMail } from '../../store/mails.ts';

/** A mail of one kind with the data of that kind. */
export type NewMail = {
  [Kind in MailKind]: {
    readonly customerId: string;
    readonly kind: Kind;
    /** Identifies the event, in internal ids. A second mail of the same kind and cause is not sent. */
    readonly cause: string;
    readonly data: MailData[Kind];
    /** The recipient, if not the customer's address at send time. */
    readonly to?: string;
  };
}[MailKind];

/**
 * Queues a mail in the transaction that causes it. Never fails a caller: a kind and cause that were mailed
 * before are ignored. Sending starts after the commit; call `service.wake()` to start at once.
 */
export async function enqueueMail(tx: Sql, mail: NewMail, now: Date, keys: KeyRing): Promise<void> {
  const id = newId(now);
  await insertMail(tx, {
    id,
    customerId: mail.customerId,
    kind: mail.kind,
    cause: mail.cause,
    urgent: MAILS[mail.kind].urgent ?? false,
    bulk: MAILS[mail.kind].bulk ?? false,
    dataSealed: keys.seal(SEALED.mail, id, serializeMailData(mail.data)),
    toAddress: mail.to ?? null,
    staleAt: staleAt(mail),
    now,
  });
}

function staleAt<Kind extends MailKind>(mail: { kind: Kind; data: MailData[Kind] }): Date | null {
  return MAILS[mail.kind].staleAt?.(mail.data) ?? null;
}

const TIME_TAG = '$time';
const CENTS_TAG = '$cents';

export function serializeMailData(data: MailData[MailKind]): string {
  return JSON.stringify(encodeTagged(data));
}

/** Parses the output of `serializeMailData` for this kind. */
export function parseMailData<Kind extends MailKind>(_kind: Kind, text: string): MailData[Kind] {
  return JSON.parse(text, (_key, value: unknown) => decodeTagged(value)) as MailData[Kind];
}

function encodeTagged(value: unknown): unknown {
  if (value instanceof Date) return { [TIME_TAG]: value.getTime() };
  if (typeof value === 'bigint') return { [CENTS_TAG]: String(value) };
  if (Array.isArray(value)) return value.map(encodeTagged);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, encodeTagged(each)]));
}

function decodeTagged(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (TIME_TAG in value) return new Date(Number(value[TIME_TAG]));
  return CENTS_TAG in value ? BigInt(String(value[CENTS_TAG])) : value;
}
