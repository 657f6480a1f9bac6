/** Objects of the API. Each is described once, and every response that contains it links there. */
import type { ApiOperation, Schema } from './document.ts';

export interface ApiObject {
  /** Value of its `object` field. */
  readonly name: string;
  readonly schema: Schema;
  /** Tag of the page that describes it. */
  readonly tag: string;
}

export type Objects = ReadonlyMap<string, ApiObject>;

/**
 * An object belongs to the GET that returns it; else to the list that contains it; else to the operation
 * that creates it.
 */
export function collectObjects(operations: readonly ApiOperation[]): Objects {
  const reads = operations.filter(({ method }) => method === 'GET');
  const candidates = [
    ...reads.map((operation) => ({ operation, schema: operation.response?.schema })),
    ...reads.map((operation) => ({ operation, schema: listItemSchema(operation.response?.schema) })),
    ...operations.map((operation) => ({ operation, schema: operation.response?.schema })),
  ];
  const objects = new Map<string, ApiObject>();
  for (const { operation, schema } of candidates) {
    const name = objectName(schema);
    if (schema && name !== null && !objects.has(name))
      objects.set(name, { name, schema, tag: operation.tag });
  }
  return objects;
}

/** Returns the items of a list envelope, or undefined for other schemas. */
export function listItemSchema(schema: Schema | undefined): Schema | undefined {
  return schema?.properties?.object?.const === 'list' ? schema.properties.data?.items : undefined;
}

/** Returns the described object that a schema matches, and its additional fields. Null: no object matches. */
export function matchObject(
  objects: Objects,
  schema: Schema,
): { readonly object: ApiObject; readonly extra: Schema | null } | null {
  const object = objects.get(objectName(schema) ?? '');
  if (!object) return null;
  const known = object.schema.properties ?? {};
  const given = schema.properties ?? {};
  const same = Object.entries(known).every(
    ([name, field]) => JSON.stringify(given[name]) === JSON.stringify(field),
  );
  if (!same) return null;
  const more = Object.entries(given).filter(([name]) => !Object.hasOwn(known, name));
  const required = (schema.required ?? []).filter((name) => !Object.hasOwn(known, name));
  return {
    object,
    extra: more.length === 0 ? null : { type: 'object', properties: Object.fromEntries(more), required },
  };
}

function objectName(schema: Schema | undefined): string | null {
  const name = schema?.properties?.object?.const;
  return typeof name === 'string' && name !== 'list' ? name : null;
}
