/**
 * A call by the SDK, made from the document by the SDK's own rule: the operation's id is the method, then come the ids of the path,
 * then the body.
 */
import type { ApiOperation, Schema } from './document.ts';
import { listItemSchema } from './objects.ts';

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
  const { response, body } = operation;
  const itemSchema = listItemSchema(response?.schema);
  const quoted = ids.map((id) => literal(id));
  const method = `skerry.${camelCase(operation.id)}`;
  if (itemSchema || response?.stream != null) {
    return forAwaitLoop(
      variableName(operation, itemSchema ?? response?.schema),
      formatCall(method, quoted),
      itemSchema ?? response?.schema ?? {},
    );
  }
  const result = response ? `const ${variableName(operation, response.schema)} = ` : '';
  const head = `${result}await ${method}`;
  if (!body) return `${formatCall(head, quoted)};`;
  if (body.type === 'application/json') return `${formatCallWithBody(head, quoted, body.example)};`;
  const text = multiline({ ...(body.example ?? {}), file: null }, '');
  return `import { openAsBlob } from 'node:fs';

${head}(${text.replace('file: null', "file: await openAsBlob('image.iso')")});`;
}

/** What tells one from another, beside its id. */
const LABEL_FIELDS = ['name', 'type', 'action', 'url', 'event_type', 'status'];

function forAwaitLoop(variable: string, iterable: string, { properties = {} }: Schema): string {
  const labelFields = LABEL_FIELDS.filter((field) => field in properties).slice(0, 1);
  const shown = ['id', ...labelFields].map((field) => `${variable}.${field}`).join(', ');
  return `for await (const ${variable} of ${iterable}) {\n  console.log(${shown});\n}`;
}

/** Arguments in one line, else each in its own. */
function formatCall(head: string, args: readonly string[]): string {
  const line = `${head}(${args.join(', ')})`;
  if (line.length < LINE_MAX_CHARS || args.length < 2) return line;
  return `${head}(\n${args.map((arg) => `  ${arg},\n`).join('')})`;
}

/** With a body, which is opened where the line would be too long. */
function formatCallWithBody(head: string, ids: readonly string[], body: unknown): string {
  const line = `${head}(${[...ids, literal(body)].join(', ')})`;
  const isShort = !line.includes('\n') && line.length < LINE_MAX_CHARS;
  return isShort ? line : `${head}(${[...ids, multiline(body, '')].join(', ')})`;
}

/** A value as one writes it by hand. */
function literal(value: unknown, indent = ''): string {
  if (typeof value === 'string') return `'${value.replaceAll(/['\\]/g, '\\$&')}'`;
  if (typeof value !== 'object' || value === null) return String(value);
  const text = items(value, indent).join(', ');
  const line = Array.isArray(value) ? `[${text}]` : `{ ${text} }`;
  const isShort = !line.includes('\n') && indent.length + line.length < LITERAL_MAX_CHARS;
  return isShort ? line : multiline(value, indent);
}

function multiline(value: unknown, indent: string): string {
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
function variableName({ tag }: ApiOperation, schema: Schema | undefined): string {
  const name = String(schema?.properties?.object?.const ?? tag.replace(/s$/, ''));
  return VARIABLES[name] ?? camelCase(name);
}

function camelCase(name: string): string {
  return name.replaceAll(/_(\w)/g, (_whole: string, letter: string) => letter.toUpperCase());
}
