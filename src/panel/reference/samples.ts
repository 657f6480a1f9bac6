/** How a call is written. One row for each language; every operation shows them all. */
import type { ApiOperation } from './document.ts';
import { exampleOf } from './examples.ts';
import { listedIn } from './objects.ts';

export interface SampleCall {
  readonly operation: ApiOperation;
  readonly baseUrl: string;
  /** Below the base URL, with ids put in. */
  readonly path: string;
}

export interface Sample {
  readonly name: string;
  readonly write: (call: SampleCall) => string;
}

export const SAMPLES: readonly Sample[] = [{ name: 'curl', write: curl }];

/** An operation's call with ids that look like those that it takes. */
export function sampleCall(
  operation: ApiOperation,
  operations: readonly ApiOperation[],
  baseUrl: string,
): SampleCall {
  const path = operation.path.replace(/\{(\w+)\}/g, (_whole: string, name: string) =>
    pathId(operation, operations, name),
  );
  return { operation, baseUrl, path: `/v1${path}` };
}

/** A parameter of the path as an id that it takes. */
export function pathId(operation: ApiOperation, operations: readonly ApiOperation[], name: string): string {
  const at = operation.path.indexOf(`/{${name}}`);
  return idAt(operations, operation.path.slice(0, at), `{${name}}`);
}

/** The id of one thing of the collection at `path`: of its GET, of its list, or of what makes one. */
function idAt(operations: readonly ApiOperation[], path: string, parameter: string): string {
  const at = (method: string, where: string) =>
    operations.find((operation) => operation.method === method && operation.path === where)?.answer?.schema;
  const schema = at('GET', `${path}/${parameter}`) ?? listedIn(at('GET', path)) ?? at('POST', path);
  return String(schema?.properties?.id ? exampleOf(schema.properties.id, 'id') : '');
}

function curl({ operation, baseUrl, path }: SampleCall): string {
  const { method, parameters, body, answer } = operation;
  const headers = parameters.filter(({ in: place, required }) => place === 'header' && required);
  const options = [
    `-H "Authorization: Bearer $SKERRY_TOKEN"`,
    ...headers.map(({ name, schema }) => `-H '${name}: ${String(exampleOf(schema, name))}'`),
    ...(body ? bodyOptions(body) : []),
  ];
  const verb = method === 'GET' || (method === 'POST' && body) ? '' : ` -X ${method}`;
  const unbuffered = answer?.stream ? ' -N' : '';
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
