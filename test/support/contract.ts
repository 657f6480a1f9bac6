/**
 * Checks every REST response that a test receives against the OpenAPI document that the service publishes.
 */
import assert from 'node:assert/strict';
import { Compile, type Validator } from 'typebox/compile';
import { openApi } from '../../src/http/v1/openapi/document.ts';
import { ROUTES } from '../../src/http/v1/routes.ts';

interface ResponseSpec {
  readonly $ref?: string;
  readonly content?: Readonly<Record<string, { readonly schema: { readonly $ref?: string } }>>;
}
type Operation = { readonly responses: Readonly<Record<string, ResponseSpec>> };
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

/** Fails the test if the document does not allow the response. `path` includes /v1 and the query. */
export function assertContract(
  method: string,
  path: string,
  response: { readonly status: number; readonly headers: Headers; readonly text: string },
): void {
  const context = `${method} ${path} → ${response.status} ${response.text.slice(0, 500)}`;
  assert.match(response.headers.get('x-request-id') ?? '', /^req_[a-z2-7]{26}$/, context);
  const matches = PATHS.filter(({ pattern }) => pattern.test(path.split('?')[0] ?? ''));
  // A fixed path takes precedence over one with a parameter.
  const match = matches.find(({ path: known }) => !known.includes('{')) ?? matches[0];
  const operation = match && document.paths[match.path]?.[method.toLowerCase()];
  if (!operation) {
    assert.ok([400, 401, 404, 429, 503].includes(response.status), context);
    assertEnvelope(context, response);
    return;
  }
  const spec = operation.responses[String(response.status)];
  assert.ok(spec, `status not in the document: ${context}`);
  const type = response.headers.get('content-type')?.split(';')[0] ?? '';
  const isJson = type === 'application/json';
  const schema = spec.content?.[type]?.schema;
  if (spec.content) assert.ok(schema, `content type not in the document: ${type} ${context}`);
  if (spec.$ref) assertEnvelope(context, response);
  else if (schema) assertSchema(context, schema, isJson ? JSON.parse(response.text) : response.text);
  else assert.equal(response.text, '', context);
}

function assertSchema(context: string, schema: object, body: unknown): void {
  let validator = validators.get(schema);
  if (!validator) {
    validator = compileSchema(schema);
    validators.set(schema, validator);
  }
  if (!validator.Check(body)) assert.fail(`${context}\n${JSON.stringify(validator.Errors(body), null, 1)}`);
}

/** References resolve from the root of the compiled schema, so it carries the document's components. */
function compileSchema(schema: object): Validator {
  return Compile({ ...schema, components });
}

function assertEnvelope(
  context: string,
  response: { readonly status: number; readonly headers: Headers; readonly text: string },
): void {
  const body = JSON.parse(response.text) as { error: { request_id: string } };
  if (!envelope.Check(body)) assert.fail(`${context}\n${JSON.stringify(envelope.Errors(body), null, 1)}`);
  assert.equal(body.error.request_id, response.headers.get('x-request-id'), context);
}
