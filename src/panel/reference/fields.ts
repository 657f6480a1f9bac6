/** The fields of a schema as a table: names with dots, types, bounds. */

import { table } from '../components.ts';
import { type Html, type HtmlValue, html } from '../html.ts';
import { markdownLine } from '../markdown.ts';
import type { Parameter, Schema } from './document.ts';
import { matchObject, type Objects } from './objects.ts';

interface Row {
  readonly name: string;
  readonly required: boolean;
  readonly type: Html | string;
  readonly description: HtmlValue;
}

interface TableContext {
  readonly objects: Objects;
  /** Where an object is described, as a link. */
  readonly linkTo: (name: string) => Html;
}

/** Of a body each field says whether it must be there; in an answer nothing is left out. */
export function bodyTable(caption: string, schema: Schema, context: TableContext): Html {
  const rows = fieldRows(schema, '', context).map((row) => [
    html`<code>${row.name}</code>`,
    row.type,
    row.required ? 'yes' : 'no',
    row.description,
  ]);
  return table({ caption, columns: ['Field', 'Type', 'Required', 'About'], rows });
}

export function responseTable(caption: string, schema: Schema, context: TableContext): Html {
  const rows = fieldRows(schema, '', context).map((row) => [
    html`<code>${row.name}</code>`,
    row.type,
    row.description,
  ]);
  return table({ caption, columns: ['Field', 'Type', 'About'], rows });
}

export function parameterTable(caption: string, parameters: readonly Parameter[]): Html {
  const rows = parameters.map(({ name, in: place, required, description, schema }) => [
    html`<code>${name}</code>`,
    place,
    formatType(schema),
    required ? 'yes' : 'no',
    describeField(description === undefined ? schema : { ...schema, description }),
  ]);
  return table({ caption, columns: ['Parameter', 'In', 'Type', 'Required', 'About'], rows });
}

function fieldRows(schema: Schema, prefix: string, context: TableContext): Row[] {
  const required = new Set(schema.required ?? []);
  return Object.entries(schema.properties ?? {}).flatMap(([field, inner]) => {
    const name = `${prefix}${field}`;
    const match = matchObject(context.objects, inner.items ?? inner);
    const row = {
      name,
      required: required.has(field),
      type:
        match?.extra === null
          ? html`${listPrefix(inner)}${context.linkTo(match.object.name)}`
          : formatType(inner),
      description: describeField(inner),
    };
    return match?.extra === null ? [row] : [row, ...nestedRows(inner, name, context)];
  });
}

/** What is inside an object, or inside the items of a list. */
function nestedRows(schema: Schema, name: string, context: TableContext): Row[] {
  if (schema.properties) return fieldRows(schema, `${name}.`, context);
  if (schema.items?.properties) return fieldRows(schema.items, `${name}[].`, context);
  return [];
}

function listPrefix({ items }: Schema): string {
  return items ? 'list of ' : '';
}

/** In words: `string or null`, `list of string`. */
export function formatType(schema: Schema): string {
  const values = [schema.type ?? 'object'].flat().map((type) => {
    if (type === 'array') return schema.items ? `list of ${formatType(schema.items)}` : 'list';
    if (type === 'object' && schema.patternProperties) return 'object of strings';
    return type;
  });
  return values.join(' or ');
}

/** What it is for, and what it may be. */
function describeField(schema: Schema): Html {
  const text = schema.description ?? '';
  const inner = schema.items;
  const bounds = [
    ...describeBounds(schema),
    ...(inner ? describeBounds(inner).map((bound) => `each ${bound}`) : []),
  ];
  const values = describeValues(schema) ?? (inner ? describeValues(inner) : null);
  const sentences = [
    text !== '' && markdownLine(text),
    bounds.length > 0 && `${capitalize(bounds.join(', '))}.`,
    values && html`${values}.`,
    schema.default !== undefined && html`<code>${String(schema.default)}</code> when left out.`,
  ].filter((part) => part !== false && part !== null);
  return html`${sentences.map((one, index) => html`${index > 0 && ' '}${one}`)}`;
}

function describeValues(schema: Schema): Html | null {
  if (schema.const !== undefined) return html`Always <code>${String(schema.const)}</code>`;
  const values = schema.enum?.filter((word) => word !== null);
  if (!values || values.length === 0) return null;
  return html`${values.length === 1 ? 'Always' : 'One of'} ${values.map((word, index) => html`${index > 0 && ', '}<code>${String(word)}</code>`)}`;
}

function describeBounds(schema: Schema): string[] {
  const { minLength, maxLength, minimum, maximum, minItems, maxItems, maxProperties, format } = schema;
  return [
    formatRange(minLength, maxLength, 'characters'),
    formatRange(minimum, maximum, ''),
    minItems === maxItems ? null : formatRange(minItems, maxItems, 'items'),
    maxProperties === undefined ? null : `at most ${maxProperties} pairs`,
    format === 'date-time' ? 'an RFC 3339 time' : null,
    schema.contentMediaType === undefined ? null : 'a file',
  ].filter((bound) => bound !== null);
}

function formatRange(min: number | undefined, max: number | undefined, unitName: string): string | null {
  const unit = unitName === '' ? '' : ` ${unitName}`;
  if (min !== undefined && max !== undefined) return `${min} to ${max}${unit}`;
  if (min !== undefined) return `at least ${min}${unit}`;
  return max === undefined ? null : `at most ${max}${unit}`;
}

function capitalize(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** What is typed: with scripts a button copies it. */
export function inputBlock(text: string): Html {
  return html`<pre tabindex="0"><code data-copy>${text}</code></pre>`;
}

/** What is answered. */
export function outputBlock(text: string): Html {
  return html`<pre tabindex="0"><code>${text}</code></pre>`;
}
