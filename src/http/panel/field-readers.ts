/**
 * Readers that convert form fields to members of a REST body. Each returns `undefined` for an omitted member.
 */
import { PROTECTION_FIELDS } from '../../panel/parts/protection.ts';
import { type Form, field } from '../form.ts';

type FieldReader = (form: Form, name: string) => unknown;

/** Returns trimmed text, and omits empty text. For values that cannot start or end with a space. */
export const text: FieldReader = (form, name) => field(form, name).trim() || undefined;

/** Returns text as typed, for names: an unchanged name keeps its spaces. Omits blank text. */
export const untrimmedText: FieldReader = (form, name) => {
  const typed = field(form, name);
  return typed.trim() === '' ? undefined : typed;
};

/** Returns the text, or null if it is empty. */
export const textOrNull: FieldReader = (form, name) => field(form, name).trim() || null;

/** Returns a number if it is one, else the text, so that validation names the field. */
export const number: FieldReader = (form, name) => {
  const typed = field(form, name).trim();
  if (typed === '') return undefined;
  return /^-?\d{1,15}(?:\.\d{1,9})?$/.test(typed) ? Number(typed) : typed;
};

/** Returns true for a ticked checkbox, else false. */
export const isChecked: FieldReader = (form, name) => form.has(name);

/**
 * Returns one item per line, exactly as typed: tags may contain commas and outer spaces. Omits empty lines.
 */
export const lines: FieldReader = (form, name) => splitLines(form, name).filter((line) => line !== '');

/** Returns one item per line without outer spaces, and omits an empty list. */
export const trimmedLines: FieldReader = (form, name) => {
  const items = splitLines(form, name).map((line) => line.trim());
  const filled = items.filter((line) => line !== '');
  return filled.length > 0 ? filled : undefined;
};

/** Reads one `key=value` per line, with the value exactly as typed. Without `=`, the value is empty. */
export const pairs: FieldReader = (form, name) => {
  const entries = splitLines(form, name)
    .filter((line) => line.trim() !== '')
    .map((line) => {
      const at = line.indexOf('=');
      return at < 0 ? [line.trim(), ''] : [line.slice(0, at).trim(), line.slice(at + 1)];
    });
  return Object.fromEntries(entries) as object;
};

function splitLines(form: Form, name: string): readonly string[] {
  return field(form, name).split(/\r?\n/);
}

/** Returns the ids of the ticked checkboxes named `<name>.<id>`. */
export const checkedIds: FieldReader = (form, name) =>
  [...form.keys()].filter((key) => key.startsWith(`${name}.`)).map((key) => key.slice(name.length + 1));

/** Converts a `datetime-local` value or a day, both UTC, to RFC 3339. Validation rejects any other text. */
export const dateTime: FieldReader = (form, name) => {
  const typed = field(form, name).trim().replace(/ UTC$/, '').replace(' ', 'T');
  if (typed === '') return undefined;
  if (/^\d{4}-\d{2}-\d{2}$/.test(typed)) return `${typed}T00:00:00Z`;
  if (/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/.test(typed)) return `${typed}:00Z`;
  if (/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}$/.test(typed)) return `${typed}Z`;
  return typed;
};

/** Like `dateTime`, but null if the field is empty. */
export const dateTimeOrNull: FieldReader = (form, name) => dateTime(form, name) ?? null;

/** Reads the checkboxes of a protection form: a body that sets only these members. */
export function readProtection(
  ...members: readonly (keyof typeof PROTECTION_FIELDS)[]
): (form: Form) => object {
  return (form) => ({
    protection: Object.fromEntries(members.map((member) => [member, form.has(PROTECTION_FIELDS[member])])),
  });
}

/** Encodes cloud-init user data in Base64. Browsers send CRLF line endings, which shells do not accept. */
export function encodeUserData(form: Form, name: string): string | undefined {
  const typed = field(form, name.replace(/_b64$/, '')).replaceAll('\r\n', '\n');
  return typed === '' ? undefined : Buffer.from(typed, 'utf8').toString('base64');
}

/** Builds a reader of a body: `bodyReader({ name: text, size_gb: number })`. */
export function bodyReader(readers: Readonly<Record<string, FieldReader>>): (form: Form) => object {
  return (form) => {
    const members = Object.entries(readers).map(([name, read]) => [name, read(form, name)] as const);
    return Object.fromEntries(members.filter(([, value]) => value !== undefined));
  };
}
