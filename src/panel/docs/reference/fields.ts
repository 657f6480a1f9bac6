/** Tables of fields and parameters: dotted names, types, and constraints. */

import { type Html, type HtmlValue, html } from '../../parts/html.ts';
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
  /** Returns a link to the description of an object. */
  readonly linkTo: (name: string) => Html;
}

/**
 * A table named by the headings above it. A page can hold fifty of them, so they repeat less than those of
 * other pages. `labels` are the ids of the headings.
 */
export function referenceTable(
  labels: string,
  columns: readonly string[],
  rows: readonly (readonly HtmlValue[])[],
): Html {
  // Without the optional end tags: a page has many rows.
  const body = rows.map(([first, ...cells]) => {
    return html`<tr><th scope="row">${first}${cells.map((cell) => html`<td>${cell}`)}\n`;
  });
  return html`<div class="scroll" tabindex="0" role="region" aria-labelledby="${labels}"><table>
<thead><tr>${columns.map((column) => html`<th>${column}`)}</tr></thead>
<tbody>
${body}</tbody></table></div>`;
}

/** Fields of a request body. Responses have no "Required" column: they always contain every field. */
export function bodyTable(labels: string, schema: Schema, context: TableContext): Html {
  const rows = fieldRows(schema, '', context).map((row) => [
    html`<code>${row.name}</code>`,
    row.type,
    row.required ? 'yes' : 'no',
    row.description,
  ]);
  return referenceTable(labels, ['Field', 'Type', 'Required', 'Description'], rows);
}

export function responseTable(labels: string, schema: Schema, context: TableContext): Html {
  const rows = fieldRows(schema, '', context).map((row) => [
    html`<code>${row.name}</code>`,
    row.type,
    row.description,
  ]);
  return referenceTable(labels, ['Field', 'Type', 'Description'], rows);
}

export function parameterTable(labels: string, parameters: readonly Parameter[]): Html {
  const rows = parameters.map(({ name, in: place, required, description, schema }) => [
    html`<code>${name}</code>`,
    place,
    formatType(schema),
    required ? 'yes' : 'no',
    describeField(description === undefined ? schema : { ...schema, description }),
  ]);
  return referenceTable(labels, ['Parameter', 'In', 'Type', 'Required', 'Description'], rows);
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
          ? html`${inner.items ? 'list of ' : ''}${context.linkTo(match.object.name)}`
          : formatType(inner),
      description: describeField(inner),
    };
    return match?.extra === null ? [row] : [row, ...nestedRows(inner, name, context)];
  });
}

/** Fields inside an object, or inside the items of a list. */
function nestedRows(schema: Schema, name: string, context: TableContext): Row[] {
  if (schema.properties) return fieldRows(schema, `${name}.`, context);
  if (schema.items?.properties) return fieldRows(schema.items, `${name}[].`, context);
  return [];
}

/** Type in words: `string or null`, `list of strings`. */
function formatType(schema: Schema): string {
  const values = [schema.type ?? 'object'].flat().map((type) => {
    if (type === 'array') return schema.items ? `list of ${pluralType(schema.items)}` : 'list';
    if (type === 'object' && schema.patternProperties) return 'object of strings';
    return type;
  });
  return values.join(' or ');
}

function pluralType(schema: Schema): string {
  const name = formatType(schema);
  return /^[a-z]+$/.test(name) ? `${name}s` : name;
}

/** Description, constraints, accepted values, and default. */
function describeField(schema: Schema): Html {
  const text = schema.description ?? '';
  const inner = schema.items;
  const bounds = [
    ...describeBounds(schema),
    ...(inner ? describeBounds(inner).map((bound) => `${bound} each`) : []),
  ];
  const values = describeValues(schema) ?? (inner ? describeValues(inner) : null);
  const sentences = [
    text !== '' && markdownLine(text),
    bounds.length > 0 && `${capitalize(bounds.join(', '))}.`,
    values && html`${values}.`,
    schema.default !== undefined && html`Default: <code>${String(schema.default)}</code>.`,
  ].filter((part) => part !== false && part !== null);
  return html`${sentences.map((one, index) => html`${index > 0 && ' '}${one}`)}`;
}

function describeValues(schema: Schema): Html | null {
  if (schema.const !== undefined) return html`Always <code>${String(schema.const)}</code>`;
  const values = schema.enum?.filter((word) => word !== null);
  if (!values || values.length === 0) return null;
  const words = values.map((word, index) => html`${index > 0 && ', '}<code>${String(word)}</code>`);
  return html`${values.length === 1 ? 'Always' : 'One of'} ${words}`;
}

function describeBounds(schema: Schema): string[] {
  const { minLength, maxLength, minimum, maximum, minItems, maxItems, maxProperties, format } = schema;
  return [
    formatRange(minLength, maxLength, 'characters'),
    formatRange(minimum, maximum, ''),
    minItems === maxItems ? null : formatRange(minItems, maxItems, 'items'),
    maxProperties === undefined ? null : `at most ${maxProperties} pairs`,
    format === 'date-time' ? 'RFC 3339 time' : null,
    schema.contentMediaType === undefined ? null : 'file',
  ].filter((bound) => bound !== null);
}

function formatRange(min: number | undefined, max: number | undefined, unitName: string): string | null {
  const unit = unitName === '' ? '' : ` ${unitName}`;
  if (min !== undefined && max !== undefined) return `${min} to ${max}${unit}`;
  if (min !== undefined) return `at least ${min}${min === 1 ? unit.replace(/s$/, '') : unit}`;
  return max === undefined ? null : `at most ${max}${unit}`;
}

function capitalize(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
