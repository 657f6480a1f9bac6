/** Every answer of the REST surface that a test receives is held against the document that the service publishes. */
import assert from 'node:assert/strict';
import { Compile, type Validator } from 'typebox/compile';
import { openApi } from '../../src/http/v1/openapi.ts';
import { ROUTES } from '../../src/http/v1/routes.ts';

interface Response {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, { readonly schema: { readonly $ref?: string } }>>;
}
type Operation = { readonly responses: Readonly<Record<string, Response>> };
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: object;
}

const document = openApi(ROUTES) as unknown as Document;
const { components } = document;
const envelope = compileSchema({ $ref: '#/components/schemas/Error' });
const validators = new Map<object, Validator>();

const PATHS = Object.keys(document.paths).map((path) => ({
  path,
  pattern: new RegExp(`^/v1${path.replace(/\{\w+\}/g, '[^/]*')}$`),
}));

/** Fails the test when the answer is not one that the document allows. `path` is the whole one, with its query. */
export function assertContract(
  method: string,
  path: string,
  answer: { readonly status: number; readonly headers: Headers; readonly text: string },
): void {
  const context = `${method} ${path} → ${answer.status} ${answer.text.slice(0, 500)}`;
  assert.match(answer.headers.get('x-request-id') ?? '', /^req_[a-z2-7]{26}$/, context);
  const matches = PATHS.filter(({ pattern }) => pattern.test(path.split('?')[0] ?? ''));
  // A fixed path is nearer than one with a parameter.
  const match = matches.find(({ path: known }) => !known.includes('{')) ?? matches[0];
  const operation = match && document.paths[match.path]?.[method.toLowerCase()];
  if (!operation) {
    assert.ok([400, 401, 404, 429, 503].includes(answer.status), context);
    assertEnvelope(context, answer);
    return;
  }
  const response = operation.responses[String(answer.status)];
  assert.ok(response, `not in the document: ${context}`);
  const type = answer.headers.get('content-type')?.split(';')[0] ?? '';
  const isJson = type === 'application/json';
  const schema = response.content?.[type]?.schema;
  if (response.content) assert.ok(schema, `a type that is not in the document: ${type} ${context}`);
  if (response.$ref) assertEnvelope(context, answer);
  else if (schema) assertSchema(context, schema, isJson ? JSON.parse(answer.text) : answer.text);
  else assert.equal(answer.text, '', context);
}

function assertSchema(context: string, schema: object, body: unknown): void {
  let validator = validators.get(schema);
  if (!validator) {
    validator = compileSchema(schema);
    validators.set(schema, validator);
  }
  if (!validator.Check(body)) assert.fail(`${context}\n${JSON.stringify(validator.Errors(body), null, 1)}`);
}

/** References are followed from the top of what is compiled, where the document has them. */
function compileSchema(schema: object): Validator {
  return Compile({ ...schema, components });
}

function assertEnvelope(
  context: string,
  answer: { readonly status: number; readonly headers: Headers; readonly text: string },
): void {
  const body = JSON.parse(answer.text) as { error: { request_id: string } };
  if (!envelope.Check(body)) assert.fail(`${context}\n${JSON.stringify(envelope.Errors(body), null, 1)}`);
  assert.equal(body.error.request_id, answer.headers.get('x-request-id'), context);
}
