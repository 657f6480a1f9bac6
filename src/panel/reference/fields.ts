/** The fields of a schema as a table: names with dots, types, bounds. */
import { type Html, html, type Value } from '../html.ts';
import { markdownLine } from '../markdown.ts';
import { table } from '../parts.ts';
import type { Parameter, Schema } from './document.ts';
import { type Objects, objectIn } from './objects.ts';

interface Row {
  readonly name: string;
  readonly required: boolean;
  readonly type: Html | string;
  readonly about: Value;
}

interface Around {
  readonly objects: Objects;
  /** Where an object is described, as a link. */
  readonly linkTo: (name: string) => Html;
}

/** Of a body each field says whether it must be there; in an answer nothing is left out. */
export function bodyTable(caption: string, schema: Schema, around: Around): Html {
  const rows = rowsOf(schema, '', around).map((row) => [
    html`<code>${row.name}</code>`,
    row.type,
    row.required ? 'yes' : 'no',
    row.about,
  ]);
  return table({ caption, columns: ['Field', 'Type', 'Required', 'About'], rows });
}

export function answerTable(caption: string, schema: Schema, around: Around): Html {
  const rows = rowsOf(schema, '', around).map((row) => [html`<code>${row.name}</code>`, row.type, row.about]);
  return table({ caption, columns: ['Field', 'Type', 'About'], rows });
}

export function parameterTable(caption: string, parameters: readonly Parameter[]): Html {
  const rows = parameters.map(({ name, in: place, required, description, schema }) => [
    html`<code>${name}</code>`,
    place,
    typeText(schema),
    required ? 'yes' : 'no',
    about(description === undefined ? schema : { ...schema, description }),
  ]);
  return table({ caption, columns: ['Parameter', 'In', 'Type', 'Required', 'About'], rows });
}

function rowsOf(schema: Schema, prefix: string, around: Around): Row[] {
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties ?? {}).flatMap(([field, inner]) => {
    const name = `${prefix}${field}`;
    const known = objectIn(around.objects, inner.items ?? inner);
    const row = {
      name,
      required: required.has(field),
      type:
        known?.more === null ? html`${listOf(inner)}${around.linkTo(known.object.name)}` : typeText(inner),
      about: about(inner),
    };
    return known?.more === null ? [row] : [row, ...nested(inner, name, around)];
  });
}

/** What is inside an object, or inside the items of a list. */
function nested(schema: Schema, name: string, around: Around): Row[] {
  if (schema.properties) return rowsOf(schema, `${name}.`, around);
  if (schema.items?.properties) return rowsOf(schema.items, `${name}[].`, around);
  return [];
}

function listOf({ items }: Schema): string {
  return items ? 'list of ' : '';
}

/** In words: `string or null`, `list of string`. */
export function typeText(schema: Schema): string {
  const words = [schema.type ?? 'object'].flat().map((type) => {
    if (type === 'array') return schema.items ? `list of ${typeText(schema.items)}` : 'list';
    if (type === 'object' && schema.patternProperties) return 'object of strings';
    return type;
  });
  return words.join(' or ');
}

/** What it is for, and what it may be. */
function about(schema: Schema): Html {
  const said = schema.description ?? '';
  const inner = schema.items;
  const bounds = [...boundsOf(schema), ...(inner ? boundsOf(inner).map((bound) => `each ${bound}`) : [])];
  const words = wordsOf(schema) ?? (inner ? wordsOf(inner) : null);
  const sentences = [
    said !== '' && markdownLine(said),
    bounds.length > 0 && `${sentence(bounds.join(', '))}.`,
    words && html`${words}.`,
    schema.default !== undefined && html`<code>${String(schema.default)}</code> when left out.`,
  ].filter((one) => one !== false && one !== null);
  return html`${sentences.map((one, index) => html`${index > 0 && ' '}${one}`)}`;
}

function wordsOf(schema: Schema): Html | null {
  if (schema.const !== undefined) return html`Always <code>${String(schema.const)}</code>`;
  const words = schema.enum?.filter((word) => word !== null);
  if (!words || words.length === 0) return null;
  return html`${words.length === 1 ? 'Always' : 'One of'} ${words.map((word, index) => html`${index > 0 && ', '}<code>${String(word)}</code>`)}`;
}

function boundsOf(schema: Schema): string[] {
  const { minLength, maxLength, minimum, maximum, minItems, maxItems, maxProperties, format } = schema;
  return [
    range(minLength, maxLength, 'characters'),
    range(minimum, maximum, ''),
    minItems === maxItems ? null : range(minItems, maxItems, 'items'),
    maxProperties === undefined ? null : `at most ${maxProperties} pairs`,
    format === 'date-time' ? 'an RFC 3339 time' : null,
    schema.contentMediaType === undefined ? null : 'a file',
  ].filter((bound) => bound !== null);
}

function range(least: number | undefined, most: number | undefined, what: string): string | null {
  const unit = what === '' ? '' : ` ${what}`;
  if (least !== undefined && most !== undefined) return `${least} to ${most}${unit}`;
  if (least !== undefined) return `at least ${least}${unit}`;
  return most === undefined ? null : `at most ${most}${unit}`;
}

function sentence(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** What is typed: with scripts a button copies it. */
export function typed(text: string): Html {
  return html`<pre tabindex="0"><code data-copy>${text}</code></pre>`;
}

/** What is answered. */
export function answered(text: string): Html {
  return html`<pre tabindex="0"><code>${text}</code></pre>`;
}
