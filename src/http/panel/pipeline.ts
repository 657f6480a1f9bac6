/**
 * The one way a page of the panel is looked at, and the one way its forms are sent. Pages are rows (page.ts); nothing in here
 * knows one of them.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { CustomerActor } from '../../domain/context.ts';
import { identify } from '../../domain/sessions/identify.ts';
import { Failure, fail } from '../../kernel/fail.ts';
import type { FormContext } from '../../panel/form.ts';
import type { View } from '../../panel/layout.ts';
import { faultView, notFoundView } from '../../panel/not-found.ts';
import type { Notice } from '../../panel/notices.ts';
import { PANEL_FIELDS, PANEL_PATHS, PANEL_QUERY } from '../../spec/paths.ts';
import { setCookie } from '../cookie.ts';
import { type PostEndpoint, serve, visitOf } from '../endpoint.ts';
import { answerError, failureOf } from '../errors.ts';
import { type Form, type FormBody, field, queryOf } from '../form.ts';
import type { Edge } from '../settings.ts';
import { TAKES_A_FILE } from './file-form.ts';
import type { Done, Look, PanelPage, Shown } from './page.ts';
import { refusedForms, statusOf } from './refused.ts';
import { operationOf } from './run-form.ts';
import { sendPage } from './send.ts';
import { bareFrame, frameOf, meet, newForms, type Visitor } from './visitor.ts';

const NOTHING: Form = new Map();

export function registerPage(scope: FastifyInstance, edge: Edge, row: PanelPage): void {
  const url = row.path.replace(/\{(\w+)\}/g, ':$1');
  registerAt(scope, edge, row, url);
  if (row.alias) registerAt(scope, edge, row, row.alias.path, row.alias.params);
}

function registerAt(
  scope: FastifyInstance,
  edge: Edge,
  row: PanelPage,
  url: string,
  paramsOf?: NonNullable<PanelPage['alias']>['params'],
): void {
  const meetAt = async (request: FastifyRequest, reply: FastifyReply) => {
    const visitor = await visitorOf(edge, request, reply);
    const { session } = visitor.identity;
    if (paramsOf && session) request.params = await paramsOf(edge.service, session, request.params);
    return visitor;
  };
  scope.get(url, async (request, reply) => {
    const visitor = await meetAt(request, reply);
    if (row.access === 'customer' && visitor.identity.session === null)
      return askToSignIn(reply, request.url);
    const forms = newForms(visitor, row.forms !== undefined);
    const to = row.elsewhere?.(lookOf(visitor, forms, null)) ?? null;
    return to === null ? await answer(row, visitor, forms, null) : leadTo(reply, to);
  });
  if (row.forms) registerForms(scope, edge, row, { url, meetAt });
}

type Meet = (request: FastifyRequest, reply: FastifyReply) => Promise<Visitor>;

function registerForms(
  scope: FastifyInstance,
  edge: Edge,
  row: PanelPage,
  { url, meetAt }: { readonly url: string; readonly meetAt: Meet },
): void {
  const config = row.upload ? TAKES_A_FILE : {};
  scope.post(url, { config }, async (request, reply) => {
    const visitor = await meetAt(request, reply);
    try {
      const done = await serve(edge, endpointOf(row, request), {
        request,
        reply,
        identity: visitor.identity,
      });
      return await finish(row, visitor, done);
    } catch (error) {
      return await refuse(row, visitor, error);
    }
  });
}

function endpointOf(row: PanelPage, request: FastifyRequest) {
  const params = request.params as Record<string, string>;
  const operations = new Map(
    Object.entries(row.forms ?? {}).map(([name, form]) => [name, operationOf(form, params)]),
  );
  return {
    path: row.path,
    protected: row.access === 'customer',
    operations,
    chosenBy: PANEL_FIELDS.form,
  } as const satisfies PostEndpoint;
}

async function visitorOf(edge: Edge, request: FastifyRequest, reply: FastifyReply): Promise<Visitor> {
  const identity = await meet(edge, request);
  return { edge, request, reply, identity, query: queryOrNone(request.url) };
}

/** An address that cannot be read says nothing. */
function queryOrNone(url: string): Form {
  try {
    return queryOf(url);
  } catch {
    return NOTHING;
  }
}

/** 303: the browser fetches the other page and forgets the form. */
async function finish(row: PanelPage, before: Visitor, done: Done): Promise<FastifyReply> {
  const visitor = await withCookie(before, done.cookie);
  const { reply, request } = visitor;
  if ('to' in done) return leadTo(reply, addressOf(done));
  const name = field((request.body as FormBody & Form) ?? NOTHING, PANEL_FIELDS.form);
  return await answer(row, visitor, newForms(visitor, true), { form: name, texts: done.shown });
}

/** The same visitor once he has another cookie. */
async function withCookie(visitor: Visitor, cookie: string | undefined): Promise<Visitor> {
  const { edge, reply } = visitor;
  if (cookie === undefined) return visitor;
  setCookie(edge.settings, reply, cookie);
  return { ...visitor, identity: await identify(edge.service, cookie) };
}

function leadTo(reply: FastifyReply, path: string): FastifyReply {
  return reply.code(303).header('location', path).header('cache-control', 'no-store').send();
}

function addressOf({ to, notice }: Extract<Done, { to: string }>): string {
  if (notice === undefined) return to;
  const [before, anchor] = to.split('#');
  return `${before}${to.includes('?') ? '&' : '?'}${PANEL_QUERY.notice}=${notice}${anchor === undefined ? '' : `#${anchor}`}`;
}

/** The page again, with what was typed and what is wrong with it. */
async function refuse(row: PanelPage, visitor: Visitor, error: unknown): Promise<FastifyReply> {
  const { edge, request, reply } = visitor;
  const failure = failureOf(edge, error);
  if (failure.code === 'auth_required') return askToSignIn(reply, request.url, 'session_over');
  // Logged, and its headers set, by the one who does so for the session surface.
  answerError(edge, error, request, reply);
  const body = request.body as FormBody | undefined;
  const typed = body instanceof Map ? body : NOTHING;
  const form = row.forms?.[field(typed, PANEL_FIELDS.form)];
  const forms = refusedForms(newForms(visitor, true), failure, typed, form);
  return await answer(row, visitor, forms, null, statusOf(failure));
}

async function answer(
  row: PanelPage,
  visitor: Visitor,
  forms: FormContext,
  shown: Shown | null,
  status?: number,
): Promise<FastifyReply> {
  const look = lookOf(visitor, forms, shown);
  const [view, frame] = await Promise.all([viewOf(row, look), frameOf(visitor, forms)]);
  const whole = status === undefined ? view : { ...view, status };
  return sendPage(visitor.reply, whole, frame(whole));
}

/** What is not there has a page of its own; so has what went wrong. */
async function viewOf(row: PanelPage, look: Look): Promise<View> {
  try {
    return await row.show(look);
  } catch (error) {
    const failure = failureOf(look.edge, error);
    if (failure.code === 'not_found') return notFoundView();
    answerError(look.edge, error, look.request, look.reply);
    return { ...faultView(failure.message, look.request.id), status: statusOf(failure) };
  }
}

function lookOf(visitor: Visitor, forms: FormContext, shown: Shown | null): Look {
  const { edge, request, reply, identity, query } = visitor;
  const { actor } = visitOf(edge, identity, request);
  const signedIn =
    actor.customerId === null ? null : ({ ...actor, customerId: actor.customerId } as CustomerActor);
  return {
    edge,
    service: edge.service,
    request,
    reply,
    params: request.params as Record<string, string>,
    query,
    forms,
    shown,
    signedIn,
    customer: () => signedIn ?? fail('auth_required'),
  };
}

/** Whoever is not signed in, and comes back here once he is. */
function askToSignIn(reply: FastifyReply, url: string, notice?: Notice): FastifyReply {
  const done = notice === undefined ? {} : { [PANEL_QUERY.notice]: notice };
  const next = new URLSearchParams({ next: url, ...done }).toString();
  return leadTo(reply, `${PANEL_PATHS.signIn}?${next}`);
}

/** The page of what is not there, anywhere. */
export async function sendNotFound(
  edge: Edge,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  return await sendFailure(edge, request, reply, new Failure('not_found'));
}

/** A page instead of what failed before any page was looked at. */
export async function sendFailure(
  edge: Edge,
  request: FastifyRequest,
  reply: FastifyReply,
  failure: Failure,
): Promise<FastifyReply> {
  const identity = await meet(edge, request).catch(() => ({ visitor: null, session: null }));
  const visitor = { edge, request, reply, identity, query: NOTHING };
  const view = failure.code === 'not_found' ? notFoundView() : faultView(failure.message, request.id);
  const whole = { ...view, status: statusOf(failure) };
  const forms = newForms(visitor, false);
  const frame = await frameOf(visitor, forms).catch(() => () => bareFrame(visitor, forms));
  return sendPage(reply, whole, frame(whole));
}
