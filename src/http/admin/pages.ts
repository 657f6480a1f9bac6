/** Shows the pages of the console, and runs their forms. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { computeCsrfToken, newVisitorCookie, readCookie } from '../../domain/sessions/cookie.ts';
import type { StaffActor } from '../../domain/staff/context.ts';
import { identifyStaff } from '../../domain/staff/sign-in.ts';
import { Failure, fail } from '../../kernel/fail.ts';
import { newSecretToken } from '../../kernel/ids.ts';
import type { FormContext } from '../../panel/parts/form.ts';
import { type ConsoleView, consoleErrorView, renderConsole } from '../../panel/staff/layout.ts';
import { consoleNotice } from '../../panel/staff/notices.ts';
import { PANEL_FIELDS, PANEL_QUERY } from '../../spec/paths.ts';
import { mayPerform, type StaffOperation } from '../../spec/staff/operations.ts';
import { ROLE_NAMES } from '../../spec/staff/roles.ts';
import { isForeignForm, isValidCsrfToken, submittedCsrfToken } from '../admission/csrf.ts';
import { clientAddress } from '../client-address.ts';
import { logFault, toFailure } from '../errors.ts';
import { type Form, type FormBody, field, parseQuery } from '../form.ts';
import { assetsOf, registerAssets, registerFavicon } from '../panel/assets.ts';
import { attachment, receiveFile } from '../panel/file-transfer.ts';
import { FILE_UPLOAD_CONFIG, registerBodyParsers } from '../panel/form-bodies.ts';
import { httpStatus, withFormErrors } from '../panel/form-errors.ts';
import { PAGE_HEADERS } from '../panel/visitor.ts';
import { isApproval } from './approved.ts';
import { CONSOLE_FILES, CONSOLE_PAGES } from './console-pages.ts';
import type {
  ConsoleContext,
  ConsoleFile,
  ConsoleForm,
  ConsolePage,
  ConsoleResult,
  PageIds,
} from './page.ts';
import { registerInvitationQrCode } from './pages/access.ts';
import { pathOf, redirect, redirectToSignIn, withNotice } from './redirects.ts';
import type { AdminEdge } from './route.ts';
import { adminRouteOf } from './routes.ts';
import { runAdmin } from './run.ts';

const COOKIE = 'skerry_staff';
const ONCE_BYTES = 16;
const KEY_MAX_CHARS = 200;

/** One request for a page, with its sender. */
interface Visit {
  readonly edge: AdminEdge;
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  /** The part of the cookie that every visitor has. */
  readonly visitor: string;
  readonly staff: StaffActor | null;
}

export function registerConsole(scope: FastifyInstance, edge: AdminEdge): void {
  registerBodyParsers(scope);
  registerAssets(scope, edge.settings.site);
  registerFavicon(scope);
  registerInvitationQrCode(scope, edge);
  scope.setErrorHandler(async (error, request, reply) => {
    const failure = toFailure(edge, error);
    logFault(edge, error, failure, request.id);
    const visit = { edge, request, reply, visitor: '', staff: null };
    return sendView(visit, newForms(visit), errorPage(failure));
  });
  for (const page of CONSOLE_PAGES) registerPage(scope, edge, page);
  for (const file of CONSOLE_FILES) registerFile(scope, edge, file);
  scope.setNotFoundHandler(async (request, reply) => {
    const visit = await readVisit(edge, request, reply);
    return sendView(visit, newForms(visit), errorPage(new Failure('not_found')));
  });
}

function registerPage(scope: FastifyInstance, edge: AdminEdge, page: ConsolePage): void {
  const url = page.path.replace(/\{(\w+)\}/g, ':$1');
  scope.get(url, async (request, reply) => {
    const visit = await readVisit(edge, request, reply);
    if (page.access === 'staff' && visit.staff === null) return redirectToSignIn(visit);
    return await sendPage(visit, page, newForms(visit));
  });
  if (!page.forms) return;
  const config = page.acceptsUpload ? FILE_UPLOAD_CONFIG : {};
  scope.post(url, { config }, async (request, reply) => {
    const visit = await readVisit(edge, request, reply);
    try {
      return await submit(visit, page);
    } catch (error) {
      return await sendRefused(visit, page, error);
    }
  });
}

const FILE_HEADERS = { 'content-security-policy': `default-src 'none'; sandbox` };

function registerFile(scope: FastifyInstance, edge: AdminEdge, file: ConsoleFile): void {
  scope.get(file.path.replace(/\{(\w+)\}/g, ':$1'), async (request, reply) => {
    const visit = await readVisit(edge, request, reply);
    if (visit.staff === null) return redirectToSignIn(visit);
    const { type, content, name } = await file.read(pageContext(visit, newForms(visit)));
    if (name !== undefined) reply.header('content-disposition', attachment(name));
    return reply.headers(FILE_HEADERS).type(type).send(content);
  });
}

async function readVisit(edge: AdminEdge, request: FastifyRequest, reply: FastifyReply): Promise<Visit> {
  const { service } = edge;
  const cookie = readCookie(service.keys, request.cookies[COOKIE]);
  const identity = cookie?.sessionDigest
    ? await identifyStaff(service, cookie.sessionDigest, { isUse: !isUpdate(request) })
    : null;
  const visitor = cookie?.visitor ?? newVisitorCookie(service.keys);
  if (!cookie) setCookie(edge, reply, visitor);
  const staff = identity && { ...identity, surface: 'console' as const, requestId: request.id };
  return { edge, request, reply, visitor, staff };
}

/** A script fetches the page again, and no person. */
function isUpdate({ headers }: FastifyRequest): boolean {
  return headers['sec-fetch-dest'] === 'empty';
}

/** Strict: no link or form of another site carries it. */
function setCookie({ settings }: AdminEdge, reply: FastifyReply, value: string): void {
  const secure = settings.baseUrl?.startsWith('https:') ?? false;
  reply.setCookie(COOKIE, value, { path: '/', httpOnly: true, sameSite: 'strict', secure });
}

async function submit(visit: Visit, page: ConsolePage): Promise<FastifyReply> {
  const { edge, request, reply, staff, visitor } = visit;
  const body = (request.body ?? new Map()) as FormBody;
  const { headers } = request;
  const isOurs =
    !isForeignForm(headers, edge.settings.baseUrl) &&
    isValidCsrfToken(edge.service.keys, visitor, submittedCsrfToken(headers, body));
  if (page.access === 'staff' && staff === null) return redirectToSignIn(visit, 'session_over');
  if (!isOurs) fail('invalid_csrf', {}, 'The form is out of date. Reload the page and try again.');
  if (body instanceof Failure) throw body;
  const form = page.forms?.[field(body, PANEL_FIELDS.form)] ?? fail('bad_request', {}, 'Unknown form.');
  const result = await runForm(visit, form, body);
  if (result.cookie !== undefined) setCookie(edge, reply, result.cookie);
  if ('to' in result) return redirect(reply, withNotice(result.to, result.notice));
  if ('download' in result) {
    const { fileName, content } = result.download;
    reply.header('content-disposition', `attachment; filename="${fileName}"`);
    return reply.type('application/json').send(content);
  }
  if ('again' in result) {
    const { again: values, preview = null } = result;
    const refused = { name: field(body, PANEL_FIELDS.form), key: field(body, PANEL_FIELDS.key) };
    return await sendPage(visit, page, { ...newForms(visit), refused, values }, { preview });
  }
  return await sendPage(visit, page, newForms(visit), { shown: result.shown });
}

async function runForm(visit: Visit, form: ConsoleForm, body: Form): Promise<ConsoleResult> {
  const { edge, request, visitor } = visit;
  const { staff, read } = pageContext(visit, newForms(visit));
  const address = clientAddress(request);
  if ('run' in form) return await form.run({ edge, visitor, address, staff, read }, body);
  const params = request.params as PageIds;
  const other = await form.otherButton?.(body, { params, read });
  if (other) return other;
  const reason = field(body, 'reason');
  const { operation, fileMaxBytes } = form;
  // A file is read only from people who may send it.
  const takesFile = fileMaxBytes !== undefined && mayPerform(staff().role, operation);
  const file = takesFile ? await receiveFile(request, fileMaxBytes) : null;
  const answer = await runAdmin(edge, adminRouteOf(operation), staff(), {
    params: form.params?.(body, params) ?? params,
    query: {},
    body: { ...form.body?.(body, file), ...(body.has('reason') && { reason }) },
    submission: submissionOf(body),
  });
  const isHeld = isApproval(answer) && !operation.startsWith('approvals.');
  if (isHeld) return { to: pathOf(request), notice: 'requested' };
  return form.done((answer ?? {}) as never, params);
}

/** Several forms of a page share the key of its rendering. */
function submissionOf(body: Form): string {
  const names = [PANEL_FIELDS.form, PANEL_FIELDS.key, PANEL_FIELDS.idempotencyKey];
  return `form:${JSON.stringify(names.map((name) => field(body, name).slice(0, KEY_MAX_CHARS)))}`;
}

/** Shows the page again with the previous input and its errors. A second click is not an error. */
async function sendRefused(visit: Visit, page: ConsolePage, error: unknown): Promise<FastifyReply> {
  const { edge, request } = visit;
  const failure = toFailure(edge, error);
  logFault(edge, error, failure, request.id);
  if (failure.code === 'auth_required') return redirectToSignIn(visit, 'session_over');
  if (failure.extras.repeated === true) return redirect(visit.reply, withNotice(pathOf(request), 'repeated'));
  const input = request.body instanceof Map ? (request.body as Form) : new Map<string, string>();
  const refused = withFormErrors(newForms(visit), failure, input);
  // The panel replaces these texts. Verbs for staff explain the problem in them.
  const isOwn = failure.code === 'bad_request' || failure.code === 'not_found';
  const forms = isOwn ? { ...refused, failure: { message: failure.message, remedy: null } } : refused;
  // After a fault, the act may be done: the same form must not do it again.
  const isUnknown = failure.code === 'internal' || failure.code === 'maintenance';
  const submissionKey = isUnknown ? field(input, PANEL_FIELDS.idempotencyKey) : forms.submissionKey;
  return await sendPage(visit, page, { ...forms, submissionKey }, {}, httpStatus(failure));
}

/** The parts of a page that only the response of a form has. */
type Answer = Partial<Pick<ConsoleContext, 'shown' | 'preview'>>;

async function sendPage(
  visit: Visit,
  page: ConsolePage,
  forms: FormContext,
  answer: Answer = {},
  status?: number,
): Promise<FastifyReply> {
  const view = await renderPage(visit, page, forms, answer);
  return sendView(visit, forms, status === undefined ? view : { ...view, httpStatus: status });
}

async function renderPage(
  visit: Visit,
  page: ConsolePage,
  forms: FormContext,
  answer: Answer,
): Promise<ConsoleView> {
  const { edge, request } = visit;
  try {
    return await page.render(pageContext(visit, forms, answer));
  } catch (error) {
    const failure = toFailure(edge, error);
    logFault(edge, error, failure, request.id);
    return errorPage(failure);
  }
}

function pageContext(visit: Visit, forms: FormContext, answer: Answer = {}): ConsoleContext {
  const { edge, request, staff } = visit;
  const requireStaff = () => staff ?? fail('auth_required');
  return {
    edge,
    params: request.params as PageIds,
    query: queryOf(request),
    visitor: visit.visitor,
    forms,
    shown: answer.shown ?? null,
    preview: answer.preview ?? null,
    staff: requireStaff,
    may: (operation) => staff !== null && mayPerform(staff.role, operation),
    read: async <Found>(operation: StaffOperation, params = {}, query = {}, body?: object) =>
      (await runAdmin(edge, adminRouteOf(operation), requireStaff(), {
        ...{ params, query, body, submission: null },
      })) as Found,
  };
}

function queryOf({ url }: FastifyRequest): Form {
  try {
    return parseQuery(url);
  } catch {
    return new Map();
  }
}

function errorPage(failure: Failure): ConsoleView {
  const title = failure.code === 'not_found' ? 'Not found' : 'This page cannot be shown';
  return consoleErrorView(title, failure.message, httpStatus(failure));
}

function newForms({ edge, visitor }: Visit): FormContext {
  const csrf = visitor === '' ? '' : computeCsrfToken(edge.service.keys, visitor);
  const submissionKey = newSecretToken(ONCE_BYTES);
  return { csrf, submissionKey, refused: null, values: new Map(), problems: [], failure: null };
}

function sendView(
  { edge, request, reply, staff }: Visit,
  forms: FormContext,
  view: ConsoleView,
): FastifyReply {
  const { settings } = edge.service;
  const notice = request.method === 'GET' ? field(queryOf(request), PANEL_QUERY.notice) : '';
  const frame = {
    site: settings.siteName,
    sandbox: settings.mode === 'sandbox',
    staff: staff && {
      name: staff.name,
      role: ROLE_NAMES[staff.role],
      isOwner: staff.role === 'owner',
    },
    notice: consoleNotice(notice),
    forms,
    // The answer of a form has errors or secrets, which an update would remove.
    url: request.method === 'GET' ? request.url : null,
    assets: assetsOf(edge.settings.site),
  };
  return reply
    .code(view.httpStatus ?? 200)
    .headers(PAGE_HEADERS)
    .send(renderConsole(view, frame));
}
