/** Runs a form exactly once, with the validation and verb of its REST operation, or with its own verb. */
import { createHmac } from 'node:crypto';
import type { CustomerActor } from '../../domain/context.ts';
import { invalidRequest } from '../../kernel/fail.ts';
import { PANEL_FIELDS } from '../../spec/paths.ts';
import { regionIn } from '../admission/admission.ts';
import type { Call, Operation } from '../admission/forms.ts';
import { runOnce } from '../admission/once.ts';
import { resourceFromParams } from '../admission/refusal-audit.ts';
import { resolveBaseUrl } from '../base-url.ts';
import { readSessionCookie } from '../cookie.ts';
import { type Form, field } from '../form.ts';
import { type Route, UNPAGED } from '../v1/route.ts';
import { ROUTES } from '../v1/routes.ts';
import { type Check, createChecker } from '../v1/validation.ts';
import type { CustomForm, FormResult, PanelForm, PathIds, RestForm } from './page-types.ts';

/** Converts a form to an operation for admission/forms.ts. `params` are those of the page. */
export function toOperation(row: PanelForm, params: PathIds): Operation<FormResult> {
  return 'operation' in row ? restOperation(row, params) : customOperation(row, params);
}

function customOperation(row: CustomForm, params: PathIds): Operation<FormResult> {
  const { run, done, ...rest } = row;
  if (row.skipIdempotency) return { ...rest, run: (call) => run(call, params) };
  return {
    ...rest,
    run: (call) => {
      if (!done) return once(call, call.customer(), () => run(call, params));
      const verb = (actor: CustomerActor) => run({ ...call, customer: () => actor }, params);
      return once(call, call.customer(), verb, (result) => done(result as never));
    },
  };
}

function restOperation(row: RestForm, pageParams: PathIds): Operation<FormResult> {
  const { route, check } = findRoute(row);
  const paramsOf = (form: Form) => row.params?.(form, pageParams) ?? pageParams;
  return {
    audit: route.audit ?? null,
    rest: row.operation,
    ...(route.whenFrozen && { whenFrozen: true }),
    resource: (form) => resourceFromParams(paramsOf(form)),
    regionOf: (form) => regionIn(row.body?.(form)),
    run: async (call) => {
      const { edge, form } = call;
      const params = paramsOf(form);
      const actor = { ...call.customer(), scope: 'billing' } as const;
      const body = row.body?.(form) ?? {};
      const verb = async (caller: typeof actor) => {
        const items = [...((await row.validate?.(call, params)) ?? []), ...check(body)];
        if (items.length > 0) invalidRequest(items);
        const query = row.query?.(form) ?? {};
        const baseUrl = resolveBaseUrl(call);
        const parts = {
          service: edge.service,
          actor: caller,
          params,
          query,
          body,
          page: UNPAGED,
          baseUrl: () => baseUrl,
        };
        return ((await route.run(parts)) ?? {}) as object;
      };
      const done = (answer: object) => row.done(answer as never, { params, form });
      return row.redraw?.(form) ?? (await once(call, actor, verb, done));
    },
  };
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

/** Gives a second click on the same form the result of the first, even while the first is still running. */
async function once<Caller extends CustomerActor, Result extends object>(
  call: Call,
  actor: Caller,
  verb: (actor: Caller) => Promise<Result>,
  done?: (result: Result) => FormResult,
): Promise<FormResult> {
  const credential = readSessionCookie(call.request) ?? '';
  const body = fieldsDigest(call.form, credential);
  const submission = { actor, key: idempotencyKey(call.form), credential, body };
  const { response } = await runOnce(call, submission, verb, done);
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
