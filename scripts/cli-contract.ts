/**
 * The contract as `skerry mcp` needs it: each operation of the OpenAPI document with one schema for all of
 * its arguments. The CLI does not read the document of the host: its texts become instructions to a model.
 */

type Json = Readonly<Record<string, unknown>>;

interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Json;
}

interface OperationObject {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly (Parameter | { readonly $ref: string })[];
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Json }>> };
  readonly 'x-scope': string;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: { readonly parameters: Readonly<Record<string, Parameter>> };
}

/** Returns the text of packages/cli/contract.json. */
export function cliContract(openApi: string): string {
  const document = JSON.parse(openApi) as Document;
  const operations = Object.values(document.paths).flatMap((methods) =>
    Object.entries(methods).flatMap(([method, operation]) => contractOf(document, method, operation)),
  );
  return `${JSON.stringify(operations, null, 2)}\n`;
}

/** Empty for an operation whose body or response is not JSON: an upload, and a stream. */
function contractOf(document: Document, method: string, operation: OperationObject): Json[] {
  const { operationId: id, summary, description = '', requestBody } = operation;
  const body = requestBody?.content['application/json']?.schema as { properties: Json; required?: string[] };
  const isStream = 'x-beta' in operation && id.endsWith('.stream');
  if ((requestBody && !body) || isStream) return [];
  const parameters = (operation.parameters ?? []).map((one) =>
    '$ref' in one ? (document.components.parameters[one.$ref.split('/').at(-1) ?? ''] as Parameter) : one,
  );
  const ids = parameters.filter((one) => one.in === 'path').map(({ name }) => name);
  const query = queryProperties(parameters.filter((one) => one.in === 'query'));
  const properties = {
    ...Object.fromEntries(ids.map((name) => [name, { type: 'string' }])),
    ...query,
    ...(simplify(body?.properties ?? {}) as Json),
  };
  const names = [...ids, ...Object.keys(query), ...Object.keys(body?.properties ?? {})];
  if (new Set(names).size < names.length) throw new Error(`${id} has two arguments of the same name`);
  const required = [...ids, ...(body?.required ?? [])];
  return [
    {
      id,
      method: method.toUpperCase(),
      scope: operation['x-scope'],
      summary,
      // The scope is a field of its own.
      description: description.replace(/\n*Scope: `\w+`\..*$/s, ''),
      ids,
      input: { type: 'object', properties, required, additionalProperties: false },
    },
  ];
}

/** Collects `filter[name]` parameters in one object, as the SDK takes them. */
function queryProperties(parameters: readonly Parameter[]): Json {
  const filters = parameters.flatMap(({ name, schema, description }) => {
    const [, filter] = /^filter\[(\w+)\]$/.exec(name) ?? [];
    return filter === undefined ? [] : [[filter, { ...schema, ...(description ? { description } : {}) }]];
  });
  const filterNames = new Set(filters.map(([name]) => name));
  const plain = parameters
    .filter(({ name }) => !name.startsWith('filter[') && !filterNames.has(name))
    .map(({ name, schema, description }) => [name, { ...schema, ...(description ? { description } : {}) }]);
  const filter = { type: 'object', properties: Object.fromEntries(filters), additionalProperties: false };
  return simplify({
    ...Object.fromEntries(plain),
    ...(filters.length > 0 ? { filter } : {}),
  }) as Json;
}

/**
 * Drops what clients of MCP often do not support: patterns with Unicode properties. The service validates all
 * values.
 */
function simplify(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(simplify);
  if (typeof value !== 'object' || value === null) return value;
  const { patternProperties, ...rest } = value as Json;
  const pairs = Object.entries(rest).filter(
    ([key, one]) => !(key === 'examples' || (key === 'pattern' && typeof one === 'string')),
  );
  const simple = Object.fromEntries(pairs.map(([key, one]) => [key, simplify(one)]));
  if (typeof patternProperties !== 'object' || patternProperties === null) return simple;
  return { ...simple, additionalProperties: simplify(Object.values(patternProperties)[0]) };
}
