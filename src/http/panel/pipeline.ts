/**
 * The path of every panel request: shows a page or runs one of its forms. Pages are rows (page-types.ts), and
 * this file knows none of them.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { CustomerActor } from '../../domain/context.ts';
import { identify } from '../../domain/sessions/identify.ts';
import { Failure, fail } from '../../kernel/fail.ts';
import type { FormContext } from '../../panel/parts/form.ts';
import { errorView, notFoundView, type View } from '../../panel/parts/layout.ts';
import type { Notice } from '../../panel/parts/notices.ts';
import { PANEL_FIELDS, PANEL_PATHS, PANEL_QUERY } from '../../spec/paths.ts';
import { buildVisit, handleForm, type PostEndpoint } from '../admission/forms.ts';
import { setSessionCookie } from '../cookie.ts';
import { prepareErrorResponse, toFailure } from '../errors.ts';
import { type Form, type FormBody, field, parseQuery } from '../form.ts';
import type { Edge } from '../settings.ts';
import { FILE_UPLOAD_CONFIG } from './form-bodies.ts';
import { httpStatus, withFormErrors } from './form-errors.ts';
import type { FormResult, PageContext, PanelPage, PathIds, ShownOnce } from './page-types.ts';
import { type Picture, sendPng } from './png-renderer.ts';
import { toOperation } from './run-form.ts';
import {
  buildFrame,
  buildStaticFrame,
  identifyRequest,
  newFormContext,
  PAGE_HEADERS,
  sendPage,
  type Visitor,
} from './visitor.ts';

const EMPTY_FORM: Form = new Map();

export function registerPage(scope: FastifyInstance, edge: Edge, row: PanelPage): void {
  const url = row.path.replace(/\{(\w+)\}/g, ':$1');
  registerPageAt(scope, edge, row, url);
  if (row.alias) registerPageAt(scope, edge, row, row.alias.path, row.alias.params);
}

function registerPageAt(
  scope: FastifyInstance,
  edge: Edge,
  row: PanelPage,
  url: string,
  paramsOf?: NonNullable<PanelPage['alias']>['params'],
): void {
  const loadVisitorAt = async (request: FastifyRequest, reply: FastifyReply) => {
    const visitor = await loadVisitor(edge, request, reply);
    const { session } = visitor.identity;
    if (paramsOf && session) request.params = await paramsOf(edge.service, session, request.params);
    return visitor;
  };
  scope.get(url, async (request, reply) => {
    const visitor = await loadVisitorAt(request, reply);
    if (row.access === 'customer' && visitor.identity.session === null)
      return redirectToSignIn(reply, request.url);
    const forms = newFormContext(visitor, row.forms !== undefined);
    const redirectPath = row.redirect?.(buildPageContext(visitor, forms, null)) ?? null;
    return redirectPath === null
      ? await sendRendered(row, visitor, forms, null)
      : redirectTo(reply, redirectPath);
  });
  if (row.forms) registerForms(scope, edge, row, { url, meetAt: loadVisitorAt });
}

type LoadVisitor = (request: FastifyRequest, reply: FastifyReply) => Promise<Visitor>;

function registerForms(
  scope: FastifyInstance,
  edge: Edge,
  row: PanelPage,
  { url, meetAt: loadVisitorAt }: { readonly url: string; readonly meetAt: LoadVisitor },
): void {
  const config = row.acceptsUpload ? FILE_UPLOAD_CONFIG : {};
  scope.post(url, { config }, async (request, reply) => {
    const visitor = await loadVisitorAt(request, reply);
    try {
      const done = await handleForm(edge, formEndpoint(edge, row, request), {
        request,
        reply,
        identity: visitor.identity,
      });
      return await respondToForm(row, visitor, done);
    } catch (error) {
      return await renderFormError(row, visitor, error);
    }
  });
}

function formEndpoint(edge: Edge, row: PanelPage, request: FastifyRequest) {
  const params = request.params as PathIds;
  const operations = new Map(
    Object.entries(row.forms ?? {})
      .filter(([, form]) => edge.sandbox !== null || !('onlyInSandbox' in form))
      .map(([name, form]) => [name, toOperation(form, params)]),
  );
  return {
    path: row.path,
    protected: row.access === 'customer',
    operations,
    operationField: PANEL_FIELDS.form,
  } as const satisfies PostEndpoint;
}

async function loadVisitor(edge: Edge, request: FastifyRequest, reply: FastifyReply): Promise<Visitor> {
  const identity = await identifyRequest(edge, request);
  return { edge, request, reply, identity, query: parseQueryOrEmpty(request.url) };
}

/** Treats a query that cannot be parsed as empty. */
function parseQueryOrEmpty(url: string): Form {
  try {
    return parseQuery(url);
  } catch {
    return EMPTY_FORM;
  }
}

/** Redirects with 303, so that the browser fetches the other page and forgets the form. */
async function respondToForm(row: PanelPage, before: Visitor, done: FormResult): Promise<FastifyReply> {
  const visitor = await withCookie(before, done.cookie);
  const { reply, request } = visitor;
  if ('to' in done) return redirectTo(reply, withNotice(done));
  const name = field((request.body as FormBody & Form) ?? EMPTY_FORM, PANEL_FIELDS.form);
  return await sendRendered(row, visitor, newFormContext(visitor, true), { form: name, texts: done.shown });
}

/** Returns the visitor with a new cookie. */
async function withCookie(visitor: Visitor, cookie: string | undefined): Promise<Visitor> {
  const { edge, reply } = visitor;
  if (cookie === undefined) return visitor;
  setSessionCookie(edge.settings, reply, cookie);
  return { ...visitor, identity: await identify(edge.service, cookie) };
}

function redirectTo(reply: FastifyReply, path: string): FastifyReply {
  return reply.code(303).header('location', path).header('cache-control', 'no-store').send();
}

function withNotice({ to: redirectPath, notice }: Extract<FormResult, { to: string }>): string {
  if (notice === undefined) return redirectPath;
  const [before, anchor] = redirectPath.split('#');
  const separator = redirectPath.includes('?') ? '&' : '?';
  const fragment = anchor === undefined ? '' : `#${anchor}`;
  return `${before}${separator}${PANEL_QUERY.notice}=${notice}${fragment}`;
}

/** Shows the page again with the previous input and its errors. */
async function renderFormError(row: PanelPage, visitor: Visitor, error: unknown): Promise<FastifyReply> {
  const { edge, request, reply } = visitor;
  const failure = toFailure(edge, error);
  if (failure.code === 'auth_required') return redirectToSignIn(reply, request.url, 'session_over');
  // Logs the error and sets its headers, as on the session surface.
  prepareErrorResponse(edge, error, request, reply);
  const body = request.body as FormBody | undefined;
  const input = body instanceof Map ? body : EMPTY_FORM;
  const form = row.forms?.[field(input, PANEL_FIELDS.form)];
  const forms = withFormErrors(newFormContext(visitor, true), failure, input, form);
  return await sendRendered(row, visitor, forms, null, httpStatus(failure));
}

async function sendRendered(
  row: PanelPage,
  visitor: Visitor,
  forms: FormContext,
  shown: ShownOnce | null,
  status?: number,
): Promise<FastifyReply> {
  const context = buildPageContext(visitor, forms, shown);
  const [view, frame] = await Promise.all([renderView(row, context), buildFrame(visitor, forms)]);
  const viewWithStatus = status === undefined ? view : { ...view, status };
  return sendPage(visitor.reply, viewWithStatus, frame(viewWithStatus));
}

/** Renders the page, or the not-found or error page in its place. */
async function renderView(row: PanelPage, context: PageContext): Promise<View> {
  try {
    return await row.render(context);
  } catch (error) {
    const failure = toFailure(context.edge, error);
    if (failure.code === 'not_found') return notFoundView();
    prepareErrorResponse(context.edge, error, context.request, context.reply);
    return { ...errorView(failure.message, context.request.id), status: httpStatus(failure) };
  }
}

function buildPageContext(visitor: Visitor, forms: FormContext, shown: ShownOnce | null): PageContext {
  const { edge, request, reply, identity, query } = visitor;
  const { actor } = buildVisit(edge, identity, request);
  const signedIn =
    actor.customerId === null ? null : ({ ...actor, customerId: actor.customerId } as CustomerActor);
  return {
    edge,
    service: edge.service,
    request,
    reply,
    params: request.params as object,
    query,
    forms,
    shown,
    signedIn,
    customer: () => signedIn ?? fail('auth_required'),
  };
}

/** Sends a visitor to sign in, and back here afterwards. */
function redirectToSignIn(reply: FastifyReply, url: string, notice?: Notice): FastifyReply {
  const done = notice === undefined ? {} : { [PANEL_QUERY.notice]: notice };
  const next = new URLSearchParams({ next: url, ...done }).toString();
  return redirectTo(reply, `${PANEL_PATHS.signIn}?${next}`);
}

/** For scripts. */
interface Values {
  readonly values: object;
}

/** Serves a picture, or values for scripts, to the customer whom it belongs to. Everyone else gets a 404. */
export function registerPicture<Params>(
  scope: FastifyInstance,
  edge: Edge,
  path: string,
  draw: (owner: CustomerActor, request: FastifyRequest<{ Params: Params }>) => Promise<Picture | Values>,
): void {
  scope.get<{ Params: Params }>(path, async (request, reply) => {
    const { actor } = buildVisit(edge, await identifyRequest(edge, request), request);
    const { customerId } = actor;
    try {
      const drawn = await draw({ ...actor, customerId: customerId ?? fail('not_found') }, request);
      if ('png' in drawn) return sendPng(reply, drawn);
      return await reply.header('cache-control', 'no-store').send(drawn.values);
    } catch (error) {
      if (toFailure(edge, error).code !== 'not_found') throw error;
      return await sendNotFound(edge, request, reply);
    }
  });
}

/** Serves plain text to the customer whom it belongs to. A visitor is sent to sign in. */
export function registerOwnText(
  scope: FastifyInstance,
  edge: Edge,
  path: string,
  write: (owner: CustomerActor, request: FastifyRequest) => Promise<string>,
): void {
  scope.get(path, async (request, reply) => {
    const { actor } = buildVisit(edge, await identifyRequest(edge, request), request);
    const { customerId } = actor;
    if (customerId === null) return redirectToSignIn(reply, request.url);
    const text = await write({ ...actor, customerId }, request);
    return reply.headers({ ...PAGE_HEADERS, 'content-type': 'text/plain; charset=utf-8' }).send(text);
  });
}

/** Sends the not-found page. */
export async function sendNotFound(
  edge: Edge,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  return await sendFailure(edge, request, reply, new Failure('not_found'));
}

/** Sends an error page for a failure before any page was selected. */
export async function sendFailure(
  edge: Edge,
  request: FastifyRequest,
  reply: FastifyReply,
  failure: Failure,
): Promise<FastifyReply> {
  const identity = await identifyRequest(edge, request).catch(() => ({ visitor: null, session: null }));
  const visitor = { edge, request, reply, identity, query: EMPTY_FORM };
  const view = failure.code === 'not_found' ? notFoundView() : errorView(failure.message, request.id);
  const viewWithStatus = { ...view, status: httpStatus(failure) };
  const forms = newFormContext(visitor, false);
  const frame = await buildFrame(visitor, forms).catch(() => () => buildStaticFrame(visitor, forms));
  return sendPage(reply, viewWithStatus, frame(viewWithStatus));
}
