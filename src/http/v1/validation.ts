/** Converts validator errors to REST error items: one per field, with its bound or its allowed values. */
import type { TSchema } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';
import { Settings } from 'typebox/system';
import type { ErrorItem } from '../../kernel/fail.ts';

interface ValidatorError {
  readonly keyword: string;
  readonly schemaPath: string;
  readonly instancePath: string;
  readonly params: Readonly<Record<string, unknown>>;
}

/** By default the validator stops at 8 errors, and reports a body's unknown keys first. */
const VALIDATOR_ERRORS_MAX = 256;
const ITEMS_MAX = 100;
Settings.Set({ maxErrors: VALIDATOR_ERRORS_MAX });

export type Check = (value: unknown) => readonly ErrorItem[];

/** Returns a function that lists everything invalid in a value; an empty list if it is valid. */
export function createChecker(schema: TSchema): Check {
  const validator: Validator = Compile(schema);
  return (value) => {
    if (validator.Check(value)) return [];
    const items = (validator.Errors(value) as unknown as ValidatorError[]).flatMap((error) =>
      toErrorItems(schema, error),
    );
    const firstByField = new Map<string, ErrorItem>();
    for (const item of items) if (!firstByField.has(item.field)) firstByField.set(item.field, item);
    // An invalid value is always rejected, even if the validator reports no details.
    return firstByField.size > 0
      ? [...firstByField.values()].slice(0, ITEMS_MAX)
      : [{ field: '', issue: 'invalid_value' }];
  };
}

const BOUND_ISSUES = {
  minLength: 'min_length',
  maxLength: 'max_length',
  minItems: 'min_items',
  maxItems: 'max_items',
  minProperties: 'min_items',
  maxProperties: 'max_items',
  minimum: 'min',
  maximum: 'max',
} as const;

const SIMPLE_ISSUES = {
  type: 'invalid_type',
  pattern: 'invalid_format',
  format: 'invalid_format',
  multipleOf: 'invalid_format',
  uniqueItems: 'invalid_value',
  const: 'invalid_value',
} as const;

function toErrorItems(
  schema: TSchema,
  { keyword, schemaPath, instancePath, params }: ValidatorError,
): ErrorItem[] {
  const field = toDottedPath(instancePath);
  const childPath = (name: string) => (field === '' ? name : `${field}.${name}`);
  switch (keyword) {
    case 'required':
      return (params.requiredProperties as string[]).map((name) => ({
        field: childPath(name),
        issue: 'required',
      }));
    case 'additionalProperties': {
      const issue = issueOfExtra(schema, schemaPath);
      return (params.additionalProperties as string[]).map((name) => ({ field: childPath(name), issue }));
    }
    case 'enum':
      return [{ field, issue: 'invalid_value', allowed: scalarsOnly(params.allowedValues) }];
    case 'boolean':
      // A schema of `false` forbids the key entirely.
      return [{ field, issue: issueOfExtra(schema, schemaPath.replace(/\/additionalProperties$/, '')) }];
    default:
      break;
  }
  if (Object.hasOwn(BOUND_ISSUES, keyword)) {
    const issue = BOUND_ISSUES[keyword as keyof typeof BOUND_ISSUES];
    return [{ field, issue, [issue.split('_')[0] ?? issue]: params.limit as number }];
  }
  const issue = Object.hasOwn(SIMPLE_ISSUES, keyword)
    ? SIMPLE_ISSUES[keyword as keyof typeof SIMPLE_ISSUES]
    : 'invalid_value';
  return [{ field, issue, ...expectedDetails(keyword, params) }];
}

/** The type, pattern, or format that the value should have. */
function expectedDetails(keyword: string, params: Readonly<Record<string, unknown>>): object {
  if (keyword === 'type') return { expected: [params.type].flat().join(' or ') };
  if (keyword === 'pattern') return { pattern: String(params.pattern) };
  return keyword === 'format' ? { format: String(params.format) } : {};
}

/** The keys of a record are free within a pattern, so a key that does not match is not an unknown key. */
function issueOfExtra(schema: TSchema, pointer: string): 'invalid_format' | 'unknown_key' {
  return resolvePointer(schema, pointer).patternProperties ? 'invalid_format' : 'unknown_key';
}

function scalarsOnly(allowed: unknown): (string | number)[] {
  return (allowed as unknown[]).filter((word) => typeof word === 'string' || typeof word === 'number');
}

/** `/labels/a~1b` → `labels.a/b` */
function toDottedPath(pointer: string): string {
  const parts = pointer.split('/').slice(1);
  return parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~')).join('.');
}

/** The part of the schema that `#/properties/labels` points to. */
function resolvePointer(schema: TSchema, pointer: string): { readonly patternProperties?: object } {
  let part: unknown = schema;
  for (const step of pointer.split('/').slice(1))
    part = (part as Record<string, unknown> | undefined)?.[step];
  return (part ?? {}) as { readonly patternProperties?: object };
}
