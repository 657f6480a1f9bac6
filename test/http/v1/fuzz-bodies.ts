/** Bodies generated from the document’s JSON schemas: valid ones, and ones with a single fault. */
import fc from 'fast-check';
import { ANYTHING, asJsonLiteral, ODD_KEYS, ODD_TEXTS, VALID_VALUES } from './fuzz-values.ts';

/** The part of JSON Schema that the document’s bodies use. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly uniqueItems?: boolean;
  readonly pattern?: string;
}

const LABEL_KEYS = ['env', 'a', '0', '_', 'x'.repeat(63)];

/** Generates a value that the schema allows. Field names with additional rules are recognized by `name`. */
export function validValue(schema: Schema, name = ''): fc.Arbitrary<unknown> {
  const types = [schema.type].flat();
  const value = types.includes('null') ? withoutNull(schema) : schema;
  const right = one(value, name);
  return types.includes('null') ? fc.option(right, { freq: 3 }) : right;
}

function withoutNull(schema: Schema): Schema {
  const type = [schema.type].flat().find((word) => word !== 'null');
  return { ...schema, ...(type ? { type } : {}), ...enumOf(schema) };
}

function enumOf(schema: Schema): Pick<Schema, 'enum'> {
  return schema.enum ? { enum: schema.enum.filter((word) => word !== null) } : {};
}

function one(schema: Schema, name: string): fc.Arbitrary<unknown> {
  if (schema.enum) return fc.constantFrom(...schema.enum);
  switch (schema.type) {
    case 'object':
      return schema.patternProperties ? pairs(schema, name) : (VALID_VALUES[name] ?? members(schema));
    case 'array':
      return list(schema, name);
    case 'boolean':
      return fc.boolean();
    default:
      return VALID_VALUES[name] ?? plain(schema);
  }
}

function members(schema: Schema): fc.Arbitrary<unknown> {
  const fields = Object.entries(schema.properties ?? {}).map(([name, inner]) => [
    name,
    validValue(inner, name),
  ]);
  return fc.record(Object.fromEntries(fields) as Record<string, fc.Arbitrary<unknown>>, {
    requiredKeys: [...(schema.required ?? [])],
    noNullPrototype: true,
  });
}

function pairs(schema: Schema, name: string): fc.Arbitrary<unknown> {
  const [inner = {}] = Object.values(schema.patternProperties ?? {});
  return fc.dictionary(fc.constantFrom(...LABEL_KEYS), validValue(inner, name), {
    maxKeys: 3,
    noNullPrototype: true,
  });
}

function list(schema: Schema, name: string): fc.Arbitrary<unknown> {
  const bounds = { minLength: schema.minItems ?? 0, maxLength: Math.max(3, schema.minItems ?? 0) };
  const item = validValue(schema.items ?? {}, name);
  return schema.uniqueItems ? fc.uniqueArray(item, bounds) : fc.array(item, bounds);
}

function plain(schema: Schema): fc.Arbitrary<unknown> {
  if (schema.examples) return fc.constantFrom(...schema.examples);
  if (schema.type === 'integer')
    return fc.integer({ min: schema.minimum ?? 0, max: schema.maximum ?? 1_000 });
  if (schema.type === 'number')
    return fc.integer({ min: schema.minimum ?? 0, max: schema.maximum ?? 1_000 }).map((n) => n / 100);
  if (schema.type === 'string' && schema.pattern === undefined) {
    return fc.string({ minLength: schema.minLength ?? 0, maxLength: Math.min(schema.maxLength ?? 20, 20) });
  }
  throw new Error(`no right value is known for ${JSON.stringify(schema)}: add one to RIGHT`);
}

type Mutation = (place: Place) => void;
/** A value within a body: its position and its schema. */
interface Place {
  readonly holder: Record<string, unknown>;
  readonly key: string;
  readonly schema: Schema | undefined;
}

const MUTATIONS: fc.Arbitrary<Mutation> = fc.oneof(
  {
    weight: 4,
    arbitrary: ANYTHING.map(
      (value): Mutation =>
        (place) =>
          set(place, value),
    ),
  },
  { weight: 2, arbitrary: fc.constant<Mutation>((place) => void delete place.holder[place.key]) },
  {
    weight: 3,
    arbitrary: fc.tuple(fc.constantFrom(...ODD_TEXTS), fc.nat({ max: 30 })).map(
      ([text, at]): Mutation =>
        (place) =>
          inject(place, text, at),
    ),
  },
  {
    weight: 2,
    arbitrary: fc.tuple(fc.constantFrom(...ODD_KEYS), ANYTHING).map(
      ([key, value]): Mutation =>
        (place) => {
          const inner = place.holder[place.key];
          const holder = isObject(inner) ? inner : place.holder;
          set({ ...place, holder, key }, value);
        },
    ),
  },
  {
    weight: 3,
    arbitrary: fc.boolean().map(
      (low): Mutation =>
        (place) =>
          exceedBound(place, low),
    ),
  },
  { weight: 1, arbitrary: fc.constant<Mutation>((place) => set(place, [place.holder[place.key]])) },
  { weight: 1, arbitrary: fc.constant<Mutation>((place) => repeat(place)) },
);

/** Generates the text of a body with at most one fault. */
export function mutatedBody(schema: Schema): fc.Arbitrary<string> {
  return fc.tuple(validValue(schema), fc.nat({ max: 1_000 }), MUTATIONS).map(([body, at, change]) => {
    const root: Record<string, unknown> = { body: JSON.parse(JSON.stringify(body)) };
    const places = placesIn({ holder: root, key: 'body', schema });
    const place = places[at % places.length];
    if (place) change(place);
    return textOf(root.body);
  });
}

/** `undefined` becomes an empty text. */
export function textOf(body: unknown): string {
  return (JSON.stringify(body) ?? '').replace(/"@@json:([^"]*)@@"/g, '$1');
}

function placesIn(place: Place): Place[] {
  const value = place.holder[place.key];
  if (typeof value !== 'object' || value === null) return [place];
  const holder = value as Record<string, unknown>;
  const inner = Object.keys(holder).flatMap((key) =>
    placesIn({ holder, key, schema: childSchema(place.schema, key) }),
  );
  return [place, ...inner];
}

function childSchema(schema: Schema | undefined, key: string): Schema | undefined {
  return schema?.items ?? schema?.properties?.[key] ?? Object.values(schema?.patternProperties ?? {})[0];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Treats `__proto__` as any other key, as parsing JSON does. */
function set({ holder, key }: Place, value: unknown): void {
  Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true });
}

function inject(place: Place, text: string, at: number): void {
  const was = place.holder[place.key];
  set(place, typeof was === 'string' ? `${was.slice(0, at)}${text}${was.slice(at)}` : text);
}

/** Goes one below the minimum or one above the maximum. */
function exceedBound(place: Place, low: boolean): void {
  const { schema: { minLength, maxLength, minItems, maxItems, minimum, maximum, type } = {} } = place;
  const was = place.holder[place.key];
  if (Array.isArray(was)) {
    const length = low ? (minItems ?? 0) - 1 : (maxItems ?? 150) + 1;
    set(
      place,
      Array.from({ length: Math.max(length, 0) }, (_, n) => was[n % Math.max(was.length, 1)] ?? n),
    );
  } else if (typeof was === 'number') {
    set(place, low ? (minimum ?? 0) - 1 : (maximum ?? 0) + (type === 'integer' ? 1 : 0.01));
  } else {
    const text = typeof was === 'string' && was !== '' ? was : 'x';
    set(
      place,
      low ? text.slice(0, Math.max((minLength ?? 1) - 1, 0)) : text.padEnd((maxLength ?? 10_000) + 1, text),
    );
  }
}

function repeat(place: Place): void {
  const was = place.holder[place.key];
  if (typeof was === 'string') set(place, was.repeat(was.length > 1_000 ? 2 : 500));
  else if (Array.isArray(was)) set(place, Array(300).fill(was[0] ?? null));
  else set(place, asJsonLiteral(`${'['.repeat(40)}1${']'.repeat(40)}`));
}
