/** Fields of a form, as the bodies of the REST surface have them. Each reader gives `undefined` for what is left out. */
import { type Form, field } from '../form.ts';

type FieldReader = (form: Form, name: string) => unknown;

/** The text without the spaces around it; one that is empty is left out. For what cannot begin or end with a space. */
export const text: FieldReader = (form, name) => field(form, name).trim() || undefined;

/** The text as typed, for names: one that nobody touched keeps its spaces. A blank one is left out. */
export const untrimmedText: FieldReader = (form, name) => {
  const typed = field(form, name);
  return typed.trim() === '' ? undefined : typed;
};

/** The text, or null when it is empty. */
export const textOrNull: FieldReader = (form, name) => field(form, name).trim() || null;

/** A number where it is one, else the text, which is then refused by its name. */
export const number: FieldReader = (form, name) => {
  const typed = field(form, name).trim();
  if (typed === '') return undefined;
  return /^-?\d{1,15}(?:\.\d{1,9})?$/.test(typed) ? Number(typed) : typed;
};

/** A box: true when ticked, false when not. */
export const isChecked: FieldReader = (form, name) => form.has(name);

/** One a line, exactly as it is typed there: a tag may hold commas, and spaces at its ends. Empty lines are left out. */
export const lines: FieldReader = (form, name) => splitLines(form, name).filter((line) => line !== '');

/** One `key=value` a line, the value exactly as it is typed. A line without `=` is a key with an empty value. */
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

/** The boxes that are ticked among those called `<name>.<id>`: their ids. */
export const checkedIds: FieldReader = (form, name) =>
  [...form.keys()].filter((key) => key.startsWith(`${name}.`)).map((key) => key.slice(name.length + 1));

/** A moment typed into `datetime-local` or a day, both UTC, as RFC 3339; what is neither goes on and is refused. */
export const dateTime: FieldReader = (form, name) => {
  const typed = field(form, name).trim().replace(/ UTC$/, '').replace(' ', 'T');
  if (typed === '') return undefined;
  if (/^\d{4}-\d{2}-\d{2}$/.test(typed)) return `${typed}T00:00:00Z`;
  if (/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/.test(typed)) return `${typed}:00Z`;
  return typed;
};

/** Reads a body: `body({ name: text, size_gb: number })`. */
export function bodyReader(readers: Readonly<Record<string, FieldReader>>): (form: Form) => object {
  return (form) => {
    const members = Object.entries(readers).map(([name, read]) => [name, read(form, name)] as const);
    return Object.fromEntries(members.filter(([, value]) => value !== undefined));
  };
}
