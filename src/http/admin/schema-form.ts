/** Forms from the schemas of operations: their inputs, and the body that a sent form stands for. */
import type { TSchema } from 'typebox';
import type { RoomField } from '../../panel/staff/room-form.ts';
import type { StaffOperation } from '../../spec/staff/operations.ts';
import { type Form, field } from '../form.ts';
import { adminRouteOf } from './routes.ts';
import { bodySchema } from './run.ts';

interface FieldSchema extends TSchema {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly const?: string;
  readonly title?: string;
  readonly description?: string;
  readonly default?: string | number | boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly format?: string;
}

const LONG_CHARS = 500;

function schemaOf(operation: StaffOperation): readonly (readonly [name: string, schema: FieldSchema])[] {
  const { properties } = bodySchema(adminRouteOf(operation));
  return Object.entries(properties as Record<string, FieldSchema>).filter(([name]) => name !== 'reason');
}

/** The inputs of a form that performs an operation, with the current values. */
export function fieldsOf(
  operation: StaffOperation,
  values: Readonly<Record<string, string | number | boolean | null>>,
  /** Fields that the form does not have. */
  without: readonly string[] = [],
): RoomField[] {
  const required = new Set<string>(bodySchema(adminRouteOf(operation)).required ?? []);
  const shown = schemaOf(operation).filter(([name]) => !without.includes(name));
  return shown.map(([name, schema]) => {
    const choices = choicesOf(schema);
    const isRequired = required.has(name);
    return {
      name,
      label: schema.title ?? labelOf(name),
      kind: kindOf(schema),
      choices: choices && !isRequired && schema.default === undefined ? ['', ...choices] : (choices ?? []),
      isRequired,
      hint: schema.description,
      maxLength: schema.maxLength,
      value: String(values[name] ?? schema.default ?? ''),
    };
  });
}

/** The values of an enumeration; null for other schemas. */
export function choicesOf(schema: FieldSchema | undefined): readonly string[] | null {
  return schema?.enum ?? (typeof schema?.const === 'string' ? [schema.const] : null);
}

function kindOf(schema: FieldSchema): RoomField['kind'] {
  if (schema.enum) return 'choice';
  if (schema.type === 'boolean') return 'tick';
  if (schema.type === 'integer' || schema.type === 'number') return 'number';
  return (schema.maxLength ?? 0) > LONG_CHARS ? 'long' : 'text';
}

/** `amount_usd` → `Amount usd`: a schema without a title. */
function labelOf(name: string): string {
  const words = name.replaceAll('_', ' ');
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}`;
}

/**
 * Reads the fields as the schema has them: a list is words. An empty optional field is left out, unless
 * `minLength` is 0.
 */
export function readBody(operation: StaffOperation, form: Form): object {
  const required = new Set<string>(bodySchema(adminRouteOf(operation)).required ?? []);
  const body: Record<string, unknown> = {};
  for (const [name, { type, minLength }] of schemaOf(operation)) {
    const text = field(form, name);
    if (type === 'boolean') body[name] = form.has(name);
    else if (type === 'array') body[name] = text.split(/[\s,]+/).filter((word) => word !== '');
    else if (text !== '' || required.has(name) || (minLength === 0 && form.has(name)))
      body[name] = readValue(type, text);
  }
  return body;
}

/** Text that is no number stays text, which the schema refuses. */
function readValue(type: string | undefined, text: string): number | string {
  const isNumber =
    (type === 'integer' && /^\s*-?\d{1,15}\s*$/.test(text)) ||
    (type === 'number' && /^\s*-?\d{1,12}(?:\.\d{1,8})?\s*$/.test(text));
  return isNumber ? Number(text) : text;
}
