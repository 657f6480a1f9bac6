/** Reads the OpenAPI document for the reference: a flat list of operations with all references resolved. */

export interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly examples?: readonly unknown[];
  readonly default?: unknown;
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly maxProperties?: number;
  readonly contentMediaType?: string;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

interface Content {
  readonly schema: Schema | Ref;
  readonly example?: unknown;
  readonly 'x-item-schema'?: Ref;
}
type Contents = Readonly<Record<string, Content>>;
type Ref = { readonly $ref: string };

interface RawOperation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description: string;
  readonly parameters?: readonly (Parameter | Ref)[];
  readonly requestBody?: { readonly content: Contents };
  readonly responses: Readonly<Record<string, { readonly $ref?: string; readonly content?: Contents }>>;
  readonly 'x-scope': string;
  readonly 'x-beta'?: boolean;
}

/** The parts of the document that the reference uses. */
export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, RawOperation>>>>;
  readonly components: {
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly schemas: Readonly<Record<string, object>>;
  };
}

export interface ApiOperation {
  readonly id: string;
  /** Names the page that describes it. */
  readonly tag: string;
  readonly method: string;
  /** Below /v1, with parameters such as `{id}`. */
  readonly path: string;
  readonly summary: string;
  readonly description: string;
  readonly scope: string;
  readonly beta: boolean;
  readonly parameters: readonly Parameter[];
  readonly body: { readonly type: string; readonly schema: Schema; readonly example: unknown } | null;
  readonly status: string;
  /** Null: an empty response. For a stream, the schema of one message. */
  readonly response: { readonly schema: Schema; readonly stream: string | null } | null;
  readonly errors: readonly { readonly status: string; readonly code: string }[];
}

export function listOperations(document: Document): ApiOperation[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, raw]) => toOperation(document, path, method.toUpperCase(), raw)),
  );
}

function toOperation(document: Document, path: string, method: string, raw: RawOperation): ApiOperation {
  const { components } = document;
  const responses = Object.entries(raw.responses);
  const [status = '', success] = responses.find(([code]) => code.startsWith('2')) ?? [];
  const [content] = Object.values(success?.content ?? {});
  const message = content?.['x-item-schema'];
  const schema = message ?? content?.schema;
  const [[type = '', body] = []] = Object.entries(raw.requestBody?.content ?? {});
  return {
    id: raw.operationId,
    tag: pageTag(raw.tags[0] ?? '', path),
    method,
    path,
    summary: raw.summary,
    // The reference shows the scope in its own line.
    description: raw.description.replace(/(?:^|\n\n)Scope: `\w+`\. ?/, '\n\n').trim(),
    scope: raw['x-scope'],
    beta: raw['x-beta'] ?? false,
    parameters: (raw.parameters ?? []).flatMap((parameter) =>
      '$ref' in parameter ? (components.parameters[refName(parameter)] ?? []) : parameter,
    ),
    body: body ? { type, schema: resolveRefs(document, body.schema), example: body.example } : null,
    status,
    response: schema
      ? { schema: resolveRefs(document, schema), stream: message ? String(content?.example ?? '') : null }
      : null,
    errors: responses.flatMap(([code, { $ref }]) =>
      $ref === undefined ? [] : { status: code, code: refName({ $ref }) },
    ),
  };
}

/** One page would be too long for servers and all that is done to them. */
function pageTag(tag: string, path: string): string {
  return tag === 'servers' && path.startsWith('/servers/{id}/') ? 'server_operations' : tag;
}

/** Replaces references in a schema, at any depth. No schema of the document refers to itself. */
function resolveRefs(document: Document, schema: object): Schema {
  const resolvePart = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(resolvePart);
    return typeof part === 'object' && part !== null ? resolveRefs(document, part) : part;
  };
  if (isRef(schema)) return resolveRefs(document, document.components.schemas[refName(schema)] ?? {});
  return Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, resolvePart(value)]));
}

function isRef(schema: object): schema is Ref {
  return '$ref' in schema && typeof schema.$ref === 'string';
}

function refName({ $ref }: Ref): string {
  return $ref.split('/').at(-1) ?? '';
}
