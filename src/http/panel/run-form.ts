/** Carries out one form: by the check and the verb of the REST operation that it names, or by a verb of its own; once. */
import { createHmac } from 'node:crypto';
import { once, type Within } from '../../domain/idempotency.ts';
import { invalid } from '../../kernel/fail.ts';
import type { PageRequest } from '../../spec/lists.ts';
import { PANEL_FIELDS } from '../../spec/paths.ts';
import { cookieOf } from '../cookie.ts';
import type { Call, Operation } from '../endpoint.ts';
import { type Form, field } from '../form.ts';
import { resourceIn } from '../refusals.ts';
import { type Check, checker } from '../v1/problems.ts';
import type { Route } from '../v1/route.ts';
import { ROUTES } from '../v1/routes.ts';
import { baseUrlOf } from './base-url.ts';
import type { Done, OwnForm, PanelForm, RestForm } from './page.ts';

const NO_PAGE: PageRequest = { filter: {}, sort: '', descending: false, after: null, size: 0 };

/** A form as an operation of the one way that forms take (endpoint.ts). */
export function operationOf(row: PanelForm, params: Readonly<Record<string, string>>): Operation<Done> {
  return 'does' in row ? restOperation(row, params) : ownOperation(row);
}

function ownOperation(row: OwnForm): Operation<Done> {
  const { run, ...rest } = row;
  if (row.unkeyed) return { ...rest, run: (call) => run(call, async () => undefined) };
  return { ...rest, run: (call) => keyed(call, (keep) => run(call, keep as never)) };
}

function restOperation(row: RestForm, params: Readonly<Record<string, string>>): Operation<Done> {
  const { route, check } = routeOf(row);
  return {
    audit: route.audit ?? null,
    rest: row.does,
    resource: (form) => resourceIn(row.params ? row.params(form, params) : params),
    regionOf: (form) => regionIn(row.body?.(form)),
    run: async (call) =>
      row.redraw?.(call.form) ??
      (await keyed(call, (keep) => callRoute(row, { route, check, params, call, keep }))),
  };
}

/** As the operation will read it: a policy must not look at another word. */
export function regionIn(body: object | undefined): string | null {
  const { region } = (body ?? {}) as { readonly region?: unknown };
  return typeof region === 'string' ? region : null;
}

const known = new Map<string, { readonly route: Route; readonly check: Check }>();

function routeOf({ does }: RestForm): { readonly route: Route; readonly check: Check } {
  const found = known.get(does);
  if (found) return found;
  const route = ROUTES.find(({ id }) => id === does);
  if (!route) throw new Error(`there is no operation ${does}`);
  const made = { route, check: route.body ? checker(route.body) : () => [] };
  known.set(does, made);
  return made;
}

async function callRoute(
  row: RestForm,
  about: {
    readonly route: Route;
    readonly check: Check;
    readonly params: Readonly<Record<string, string>>;
    readonly call: Call;
    readonly keep: Within;
  },
): Promise<Done> {
  const { route, check, call, keep } = about;
  const { edge, form, request } = call;
  const params = row.params ? row.params(form, about.params) : about.params;
  const body = row.body?.(form) ?? {};
  const items = [...((await row.first?.(call, params)) ?? []), ...check(body)];
  if (items.length > 0) invalid(items);
  const done = (answer: object) => row.done(answer as never, { params, form });
  const answer = await route.run({
    service: edge.service,
    actor: { ...call.customer(), scope: 'billing' },
    params,
    query: row.query?.(form) ?? {},
    body,
    page: NO_PAGE,
    within: (tx, made) => keep(tx, done(made)),
    baseUrl: baseUrlOf({ edge, request }),
  });
  return done((answer ?? {}) as object);
}

/** A second click on the same form gets the first one's answer, also when the first is still under way. */
async function keyed(call: Call, act: (keep: Within) => Promise<Done>): Promise<Done> {
  const { edge, request, form } = call;
  const credential = cookieOf(request) ?? '';
  const { answer } = await once(
    edge.service,
    {
      actor: call.customer(),
      key: keyOf(form),
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
  return answer.body as Done;
}

/** The forms of one rendering have one word in common, and are told apart by their names and rows. */
function keyOf(form: Form): string | undefined {
  const rendering = field(form, PANEL_FIELDS.once);
  if (rendering === '') return undefined;
  const which = [field(form, PANEL_FIELDS.form), field(form, PANEL_FIELDS.key)];
  return createHmac('sha256', rendering).update(JSON.stringify(which)).digest('base64url');
}

/** Passwords are among the fields: mixed with the cookie, which is stored nowhere, nobody can guess them from what is kept. */
function fieldsDigest(form: Form, credential: string): string {
  const fields = [...form]
    .filter(([name]) => name !== PANEL_FIELDS.csrf)
    .sort(([a], [b]) => (a < b ? -1 : 1));
  return createHmac('sha256', credential).update(JSON.stringify(fields)).digest('base64url');
}
