/** Samples of a call: one row per client. Every operation shows all of them. */
import type { ApiOperation } from './document.ts';
import { exampleValue } from './examples.ts';
import { listItemSchema } from './objects.ts';
import { sdkPreamble, sdkSample } from './samples-sdk.ts';

interface SampleCall {
  readonly operation: ApiOperation;
  readonly baseUrl: string;
  /** Below the base URL, with example IDs. */
  readonly path: string;
  /** The IDs in the path. */
  readonly ids: readonly string[];
  /** The CLI command, or null if there is none. */
  readonly command: string | null;
}

/** CLI commands by operation ID. */
export type Commands = Readonly<Record<string, { readonly cli: string }>>;

export interface Sample {
  /** Class of its blocks in the page. */
  readonly key: 'curl' | 'sdk' | 'cli';
  readonly name: string;
  /** Language of the highlighter. */
  readonly language: 'sh' | 'ts';
  /** Code to run once, before the first call. */
  readonly setup: (baseUrl: string) => string;
  readonly render: (call: SampleCall) => string | null;
}

export const SAMPLES: readonly Sample[] = [
  { key: 'curl', name: 'curl', language: 'sh', setup: () => `export SKERRY_TOKEN='…'`, render: curl },
  {
    key: 'sdk',
    name: 'SDK',
    language: 'ts',
    setup: sdkPreamble,
    render: ({ operation, ids }) => sdkSample(operation, ids),
  },
  {
    key: 'cli',
    name: 'CLI',
    language: 'sh',
    setup: (baseUrl) => `export SKERRY_API_URL='${baseUrl}'\nexport SKERRY_TOKEN='…'`,
    render: ({ command }) => command,
  },
];

/** IDs whose prefix depends on the operation: our images can be read, and only custom images deleted. */
const IDS: Readonly<Record<string, string>> = {
  'images.get': 'img_aaaqk3m7qzb5x2l6v4t7n8wyja',
  'images.delete': 'custom_aaaqk3m7qzb5x2l6v4t7n8wyja',
};

/** Builds the call of an operation, with example IDs of the right type. */
export function sampleCall(
  operation: ApiOperation,
  operations: readonly ApiOperation[],
  baseUrl: string,
  commands: Commands = {},
): SampleCall {
  const ids: string[] = [];
  const path = operation.path.replace(/\{(\w+)\}/g, (_whole: string, name: string) => {
    const id = pathId(operation, operations, name);
    ids.push(id);
    return id;
  });
  const command = Object.hasOwn(commands, operation.id) ? (commands[operation.id]?.cli ?? null) : null;
  return { operation, baseUrl, path: `/v1${path}`, ids, command };
}

/** Returns an example ID for a parameter of the path. */
export function pathId(operation: ApiOperation, operations: readonly ApiOperation[], name: string): string {
  const responseSchema = operation.path.indexOf(`/{${name}}`);
  return IDS[operation.id] ?? exampleId(operations, operation.path.slice(0, responseSchema), `{${name}}`);
}

/** Returns an ID from the collection at `path`: that of its GET, its list, or its create operation. */
function exampleId(operations: readonly ApiOperation[], path: string, parameter: string): string {
  const responseSchema = (method: string, where: string) =>
    operations.find((operation) => operation.method === method && operation.path === where)?.response?.schema;
  const schema =
    responseSchema('GET', `${path}/${parameter}`) ??
    listItemSchema(responseSchema('GET', path)) ??
    responseSchema('POST', path);
  return String(schema?.properties?.id ? exampleValue(schema.properties.id, 'id') : '');
}

function curl({ operation, baseUrl, path }: SampleCall): string {
  const { method, parameters, body, response } = operation;
  const headers = parameters.filter(({ in: place, required }) => place === 'header' && required);
  const options = [
    `-H "Authorization: Bearer $SKERRY_TOKEN"`,
    ...headers.map(({ name, schema }) => `-H '${name}: ${String(exampleValue(schema, name))}'`),
    ...(body ? bodyOptions(body) : []),
  ];
  const verb = method === 'GET' || (method === 'POST' && body) ? '' : ` -X ${method}`;
  const unbuffered = response?.stream ? ' -N' : '';
  const first = `curl${verb}${unbuffered} ${baseUrl}${path}`;
  return [first, ...options].join(' \\\n  ');
}

function bodyOptions({ type, example }: NonNullable<ApiOperation['body']>): string[] {
  const fields = (example ?? {}) as Readonly<Record<string, unknown>>;
  if (type !== 'application/json') {
    return Object.entries(fields).map(([name, value]) =>
      name === 'file' ? `-F file=@image.iso` : `-F ${name}=${[value].flat().join(',')}`,
    );
  }
  const line = JSON.stringify(fields);
  const text = line.length > 76 ? JSON.stringify(fields, null, 2) : line;
  return [`-H 'Content-Type: application/json'`, `-d '${text.replaceAll("'", `'\\''`)}'`];
}
