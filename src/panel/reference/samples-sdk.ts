/**
 * A call by the SDK, made from the document by the SDK's own rule: the operation's id is the method, then come the ids of the path,
 * then the body.
 */
import type { ApiOperation, Schema } from './document.ts';
import { listedIn } from './objects.ts';

const LINE_MAX_CHARS = 80;
const LITERAL_MAX_CHARS = 60;
/** What would hide something that every program knows has another name. */
const VARIABLES: Readonly<Record<string, string>> = { console: 'session' };

/** Shown once on each page; every sample goes on from it. */
export function sdkPreamble(baseUrl: string): string {
  return `import { Skerry } from '@skerry/sdk';

const skerry = new Skerry({
  baseUrl: '${baseUrl}',
  token: process.env.SKERRY_TOKEN,
});`;
}

export function sdkSample(operation: ApiOperation, ids: readonly string[]): string {
  const { answer, body } = operation;
  const listed = listedIn(answer?.schema);
  const quoted = ids.map((id) => literal(id));
  const method = `skerry.${camel(operation.id)}`;
  if (listed || answer?.stream != null) {
    return loop(
      variableOf(operation, listed ?? answer?.schema),
      call(method, quoted),
      listed ?? answer?.schema ?? {},
    );
  }
  const result = answer ? `const ${variableOf(operation, answer.schema)} = ` : '';
  const head = `${result}await ${method}`;
  if (!body) return `${call(head, quoted)};`;
  if (body.type === 'application/json') return `${callWith(head, quoted, body.example)};`;
  const text = opened({ ...(body.example ?? {}), file: null }, '');
  return `import { openAsBlob } from 'node:fs';

${head}(${text.replace('file: null', "file: await openAsBlob('image.iso')")});`;
}

/** What tells one from another, beside its id. */
const TELLING = ['name', 'type', 'action', 'url', 'event_type', 'status'];

function loop(variable: string, walked: string, { properties = {} }: Schema): string {
  const telling = TELLING.filter((field) => field in properties).slice(0, 1);
  const shown = ['id', ...telling].map((field) => `${variable}.${field}`).join(', ');
  return `for await (const ${variable} of ${walked}) {\n  console.log(${shown});\n}`;
}

/** Arguments in one line, else each in its own. */
function call(head: string, args: readonly string[]): string {
  const line = `${head}(${args.join(', ')})`;
  if (line.length < LINE_MAX_CHARS || args.length < 2) return line;
  return `${head}(\n${args.map((arg) => `  ${arg},\n`).join('')})`;
}

/** With a body, which is opened where the line would be too long. */
function callWith(head: string, ids: readonly string[], body: unknown): string {
  const line = `${head}(${[...ids, literal(body)].join(', ')})`;
  const fits = !line.includes('\n') && line.length < LINE_MAX_CHARS;
  return fits ? line : `${head}(${[...ids, opened(body, '')].join(', ')})`;
}

/** A value as one writes it by hand. */
function literal(value: unknown, indent = ''): string {
  if (typeof value === 'string') return `'${value.replaceAll(/['\\]/g, '\\$&')}'`;
  if (typeof value !== 'object' || value === null) return String(value);
  const text = items(value, indent).join(', ');
  const line = Array.isArray(value) ? `[${text}]` : `{ ${text} }`;
  const fits = !line.includes('\n') && indent.length + line.length < LITERAL_MAX_CHARS;
  return fits ? line : opened(value, indent);
}

function opened(value: unknown, indent: string): string {
  const inner = `${indent}  `;
  const rows = items(value, inner).map((item) => `${inner}${item},\n`);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  return `${open}\n${rows.join('')}${indent}${close}`;
}

function items(value: unknown, indent: string): string[] {
  if (Array.isArray(value)) return value.map((item) => literal(item, indent));
  return Object.entries(value ?? {}).map(
    ([key, item]) => `${/^[a-z_]\w*$/i.test(key) ? key : literal(key)}: ${literal(item, indent)}`,
  );
}

/** `ssh_key` is `sshKey`; what has no name of its own is called after its resource. */
function variableOf({ tag }: ApiOperation, schema: Schema | undefined): string {
  const name = String(schema?.properties?.object?.const ?? tag.replace(/s$/, ''));
  return VARIABLES[name] ?? camel(name);
}

function camel(name: string): string {
  return name.replaceAll(/_(\w)/g, (_whole: string, letter: string) => letter.toUpperCase());
}
