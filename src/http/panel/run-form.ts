/** Runs a form exactly once, with the validation and verb of its REST operation, or with its own verb. */
import { createHmac } from 'node:crypto';
import { runIdempotent, type SaveResponse } from '../../domain/idempotency.ts';
import { invalidRequest } from '../../kernel/fail.ts';
import type { PageRequest } from '../../spec/lists.ts';
import { PANEL_FIELDS } from '../../spec/paths.ts';
import { resourceFromParams } from '../audit-failure.ts';
import { resolveBaseUrl } from '../base-url.ts';
import { readSessionCookie } from '../cookie.ts';
import type { Call, Operation } from '../endpoint.ts';
import { type Form, field } from '../form.ts';
import type { Route } from '../v1/route.ts';
import { ROUTES } from '../v1/routes.ts';
import { type Check, createChecker } from '../v1/validation.ts';
import type { CustomForm, FormResult, PanelForm, RestForm } from './page-types.ts';

const UNPAGED: PageRequest = { filter: {}, sort: '', descending: false, after: null, size: 0 };

/** Converts a form to an operation for endpoint.ts. */
export function toOperation(row: PanelForm, params: Readonly<Record<string, string>>): Operation<FormResult> {
  return 'operation' in row ? restOperation(row, params) : customOperation(row);
}

function customOperation(row: CustomForm): Operation<FormResult> {
  const { run, ...rest } = row;
  if (row.skipIdempotency) return { ...rest, run: (call) => run(call, async () => undefined) };
  return { ...rest, run: (call) => runOnce(call, (keep) => run(call, keep as never)) };
}

function restOperation(row: RestForm, params: Readonly<Record<string, string>>): Operation<FormResult> {
  const { route, check } = findRoute(row);
  return {
    audit: route.audit ?? null,
    rest: row.operation,
    resource: (form) => resourceFromParams(row.params ? row.params(form, params) : params),
    regionOf: (form) => regionIn(row.body?.(form)),
    run: async (call) =>
      row.redraw?.(call.form) ??
      (await runOnce(call, (keep) => callRoute(row, { route, check, params, call, keep }))),
  };
}

/** Returns the region exactly as the operation will read it, so that a policy checks the same value. */
export function regionIn(body: object | undefined): string | null {
  const { region } = (body ?? {}) as { readonly region?: unknown };
  return typeof region === 'string' ? region : null;
}

const routeCache = new Map<string, { readonly route: Route; readonly check: Check }>();

function findRoute({ operation }: RestForm): { readonly route: Route; readonly check: Check } {
  const cached = routeCache.get(operation);
  if (cached) return cached;
  const route = ROUTES.find(({ id }) => id === operation);
  if (!route) throw new Error(`unknown operation ${operation}`);
  const entry = { route, check: route.body ? createChecker(route.body) : () => [] };
  routeCache.set(operation, entry);
  return entry;
}

async function callRoute(
  row: RestForm,
  about: {
    readonly route: Route;
    readonly check: Check;
    readonly params: Readonly<Record<string, string>>;
    readonly call: Call;
    readonly keep: SaveResponse;
  },
): Promise<FormResult> {
  const { route, check, call, keep } = about;
  const { edge, form } = call;
  const params = row.params ? row.params(form, about.params) : about.params;
  const body = row.body?.(form) ?? {};
  const items = [...((await row.validate?.(call, params)) ?? []), ...check(body)];
  if (items.length > 0) invalidRequest(items);
  const done = (answer: object) => row.done(answer as never, { params, form });
  const answer = await route.run({
    service: edge.service,
    actor: { ...call.customer(), scope: 'billing' },
    params,
    query: row.query?.(form) ?? {},
    body,
    page: UNPAGED,
    saveResponse: (tx, entry) => keep(tx, done(entry)),
    baseUrl: resolveBaseUrl(call),
  });
  return done((answer ?? {}) as object);
}

/** Gives a second click on the same form the result of the first, even while the first is still running. */
async function runOnce(call: Call, act: (keep: SaveResponse) => Promise<FormResult>): Promise<FormResult> {
  const { edge, request, form } = call;
  const credential = readSessionCookie(request) ?? '';
  const { response } = await runIdempotent(
    edge.service,
    {
      actor: call.customer(),
      key: idempotencyKey(form),
      credential,
      request: {
        method: request.method,
        path: request.url.split('?')[0] ?? '',
        query: {},
        body: fieldsDigest(form, credential),
      },
      status: 200,
    },
    (keep) => act(keep ?? (async () => undefined)),
  );
  return response.body as FormResult;
}

/**
 * Derives the key of one form: all forms of a rendering share a submission key and differ in name and row.
 */
function idempotencyKey(form: Form): string | undefined {
  const rendering = field(form, PANEL_FIELDS.idempotencyKey);
  if (rendering === '') return undefined;
  const formIdentity = [field(form, PANEL_FIELDS.form), field(form, PANEL_FIELDS.key)];
  return createHmac('sha256', rendering).update(JSON.stringify(formIdentity)).digest('base64url');
}

/**
 * Keys the digest with the cookie, which is never stored, so that it does not expose passwords among the
 * fields.
 */
function fieldsDigest(form: Form, credential: string): string {
  const fields = [...form]
    .filter(([name]) => name !== PANEL_FIELDS.csrf)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return createHmac('sha256', credential).update(JSON.stringify(fields)).digest('base64url');
}
