/**
 * The pages behind links in mails, for browsers without scripts. GET shows a form and does nothing else; POST does it, with the
 * same care as the session surface: the form must be one of ours. The visitor gets his cookie with the form.
 */
import type { IncomingMessage } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { confirmAddress } from '../domain/customers/confirm-address.ts';
import { lookAtLink } from '../domain/customers/links.ts';
import { requestReset } from '../domain/customers/request-reset.ts';
import { resetPassword } from '../domain/customers/reset-password.ts';
import { csrfValue, newVisitor } from '../domain/sessions/cookie.ts';
import { type Identity, identify } from '../domain/sessions/identify.ts';
import type { Visit } from '../domain/sessions/open.ts';
import { Failure, fail } from '../kernel/fail.ts';
import {
  askForResetPage,
  confirmedPage,
  confirmPage,
  linkProblemPage,
  noLinkPage,
  resetAskedPage,
  resetDonePage,
  resetPage,
} from '../panel/links.ts';
import type { Action } from '../spec/actions.ts';
import { LINK_PATHS } from '../spec/paths.ts';
import { addressOf } from './caller.ts';
import { cookieOf, setCookie } from './cookie.ts';
import { csrfFits, givenCsrf, isCrossSite } from './csrf.ts';
import { visitOf } from './endpoint.ts';
import { answerError } from './errors.ts';
import { type Form, type FormBody, field, queryOf, readForm } from './form.ts';
import { recordRefusal } from './refusals.ts';
import { sendPage } from './send-page.ts';
import type { Edge } from './settings.ts';

interface Post {
  readonly form: Form;
  readonly visit: Visit;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

export function registerLinkPages(scope: FastifyInstance, edge: Edge): void {
  scope.addContentTypeParser('*', async (request: FastifyRequest, payload: IncomingMessage) =>
    readForm(payload, request.headers),
  );
  scope.setErrorHandler((error, request, reply) => {
    const { msg } = answerError(edge, error, request, reply) as { msg: string };
    return sendPage(reply, linkProblemPage(msg));
  });
  scope.get(LINK_PATHS.confirm, async (request, reply) => {
    const token = field(queryOf(request.url), 'token');
    if (token === '') return sendPage(reply, noLinkPage());
    const link = await lookAtLink(edge.service, 'confirm', token);
    if (!link) return sendPage(reply.code(404), linkProblemPage(DEAD));
    const csrf = await greet(edge, request, reply);
    const isNew = link.purpose === 'change';
    return sendPage(reply, confirmPage({ csrf, token, email: link.email, isNew }));
  });
  scope.get(LINK_PATHS.reset, async (request, reply) => {
    const token = field(queryOf(request.url), 'token');
    const link = token === '' ? undefined : await lookAtLink(edge.service, 'reset', token);
    if (token !== '' && !link) return sendPage(reply.code(404), linkProblemPage(DEAD));
    const csrf = await greet(edge, request, reply);
    if (!link) return sendPage(reply, askForResetPage({ csrf }));
    const formerEmail = link.purpose === 'undo' ? link.email : null;
    return sendPage(reply, resetPage({ csrf, token, formerEmail }));
  });
  takePost(scope, edge, LINK_PATHS.confirm, 'customer.confirm_address', async ({ form, visit }) =>
    confirmedPage(await confirmAddress(edge.service, visit.actor, field(form, 'token'))),
  );
  takePost(scope, edge, LINK_PATHS.reset, 'customer.reset_password', (post) =>
    field(post.form, 'token') === '' ? ask(edge, post) : reset(edge, post),
  );
}

const DEAD = 'This link is not valid: it is cut short, or it is no longer needed. Ask for a new one.';

/** The value for a form of this visitor's; one who has no cookie of ours gets it now. */
async function greet(edge: Edge, request: FastifyRequest, reply: FastifyReply): Promise<string> {
  const identity = await identify(edge.service, cookieOf(request));
  const visitor = identity.visitor ?? newVisitor(edge.service.keys);
  if (identity.visitor === null) setCookie(edge.settings, reply, visitor);
  return csrfValue(edge.service.keys, visitor);
}

/** `action`: what the audit log calls it where somebody who is signed in is refused. */
function takePost(
  scope: FastifyInstance,
  edge: Edge,
  path: string,
  action: Action,
  answer: (post: Post) => Promise<string>,
): void {
  scope.post<{ Body: FormBody | undefined }>(path, async (request, reply) => {
    const body: FormBody = request.body ?? new Map<string, string>();
    const identity = await identify(edge.service, cookieOf(request));
    const visit = visitOf(edge, identity, request);
    try {
      const form = requireOwnForm(edge, identity, request, body);
      return sendPage(reply, await answer({ form, visit, request, reply }));
    } catch (error) {
      await recordRefusal(edge.service, { actor: visit.actor, action, error });
      throw error;
    }
  });
}

function requireOwnForm(edge: Edge, identity: Identity, request: FastifyRequest, body: FormBody): Form {
  if (isCrossSite(request.headers, edge.settings.baseUrl)) fail('invalid_csrf', {}, STALE_FORM);
  const given = givenCsrf(request.headers, body);
  if (!csrfFits(edge.service.keys, identity.visitor, given)) fail('invalid_csrf', {}, STALE_FORM);
  if (body instanceof Failure) throw body;
  return body;
}

const STALE_FORM =
  'This form was not one of ours, or is too old, or your browser keeps no cookies. Open the link from the mail again.';

async function ask(edge: Edge, { form, visit, request }: Post): Promise<string> {
  const retryAfterS = edge.mailings.take(addressOf(request));
  if (retryAfterS > 0) fail('rate_limited', { retry_after_s: retryAfterS });
  await requestReset(edge.service, visit.actor, field(form, 'email'));
  return resetAskedPage();
}

async function reset(edge: Edge, { form, visit, reply }: Post): Promise<string> {
  const opened = await resetPassword(edge.service, visit, {
    token: field(form, 'token'),
    password: field(form, 'password'),
    passwordConfirm: field(form, 'password_confirm'),
    code: field(form, 'code'),
  });
  setCookie(edge.settings, reply, opened.cookie);
  return resetDonePage();
}
