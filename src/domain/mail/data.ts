/** Serializes a mail's data. Dates and bigints are tagged because JSON has neither. */
import type { MailData, MailKind } from '../../spec/mails.ts';

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
