/** A mail's data as text and back, its times and amounts included, which JSON alone would not give back. */
import type { MailData, MailKind } from '../../spec/mails.ts';

const TIME = '$time';
const CENTS = '$cents';

export function writeMailData(data: MailData[MailKind]): string {
  return JSON.stringify(tagged(data));
}

/** What `writeMailData` wrote of this kind. */
export function readMailData<Kind extends MailKind>(_kind: Kind, text: string): MailData[Kind] {
  return JSON.parse(text, (_key, value: unknown) => untagged(value)) as MailData[Kind];
}

function tagged(value: unknown): unknown {
  if (value instanceof Date) return { [TIME]: value.getTime() };
  if (typeof value === 'bigint') return { [CENTS]: String(value) };
  if (Array.isArray(value)) return value.map(tagged);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, tagged(each)]));
}

function untagged(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (TIME in value) return new Date(Number(value[TIME]));
  return CENTS in value ? BigInt(String(value[CENTS])) : value;
}
