/** Conventions that all operations share, generated from the tables that the service itself uses. */
import { V1_ERRORS, V1_ISSUES, type V1Issue } from '../../../spec/errors.ts';
import { EVENT_TYPES, EVENTS, eventScope } from '../../../spec/events.ts';
import { LIMITS } from '../../../spec/limits.ts';
import { DOCS_PATHS } from '../../../spec/paths.ts';
import { SCOPES, type Scope } from '../../../spec/scopes.ts';
import { section, table } from '../../parts/components.ts';
import { type Html, html } from '../../parts/html.ts';
import { codeBlock } from '../highlight.ts';
import type { DocsView } from '../layout.ts';
import type { Objects } from './objects.ts';
import { API_BREADCRUMBS, objectLink, RULES_PATH } from './reference.ts';

interface RulesData {
  readonly baseUrl: string;
  readonly objects: Objects;
  /** Requests at once, and requests that are added back per minute. */
  readonly general: { readonly burst: number; readonly perMinute: number };
  readonly provision: { readonly burst: number; readonly perMinute: number };
}

/** Meaning of each issue, with the members that an item of `errors` adds. */
const ISSUE_DETAILS: Record<V1Issue, string> = {
  required: 'The field is missing.',
  unknown_key: 'The field does not exist.',
  invalid_type: 'Wrong type. `expected` contains the right one.',
  invalid_format: 'Wrong format. `pattern` or `format` contains the right one.',
  invalid_value: 'The value is not accepted. `allowed` contains the accepted values if the list is closed.',
  min_items: 'Too few items. `min` contains the minimum.',
  max_items: 'Too many items. `max` contains the maximum.',
  min_length: 'Too short. `min` contains the minimum.',
  max_length: 'Too long. `max` contains the maximum.',
  min: 'Too small. `min` contains the minimum.',
  max: 'Too large. `max` contains the maximum.',
  not_found: 'The referenced resource does not exist, or is not yours.',
  unavailable: 'Not available right now. `retry_after_s` contains the seconds to wait, if known.',
  insufficient_balance: 'Insufficient balance. `have`, `need`, and `deficit` are in US dollars.',
  limit_reached: 'The account reached its quota. `limit` contains the quota, and `used` the number in use.',
  protected: 'The resource is protected. Set the field that `field` names to false first.',
  not_allowed: 'The limits of the token do not allow it.',
  price_changed: 'The price is above your limit. `price_usd` contains the price in US dollars.',
  mismatch: 'The resource does not fit the rest of the request, such as its region.',
  wrong_state: 'The resource is in a state that does not allow this.',
  in_use: 'The resource is in use, such as a volume of another server.',
};

const SCOPE_DETAILS: Record<Scope, string> = {
  read: 'Read everything except billing.',
  write: 'Everything in `read`. Create, change, and delete resources.',
  billing: 'Everything in `write`. Read the balance and the ledger, and create top-ups.',
};

const ERROR = {
  error: {
    code: 'invalid_request',
    message: V1_ERRORS.invalid_request.message,
    errors: [{ field: 'ssh_keys', issue: 'min_items', min: 1 }],
    request_id: 'req_aaaqk3m7qzb5x2l6v4t7n8wyja',
  },
};

export function rulesView(data: RulesData): DocsView {
  const sections = [
    ['Authentication', authentication()],
    ['Requests and responses', requests(data)],
    ['Errors', errors()],
    ['Field errors', fieldErrors()],
    ['Pagination', pagination(data)],
    ['Idempotency', idempotency(data)],
    ['Rate limits', rateLimits(data)],
    ['Events', events(data)],
    ['Versions and beta', versions()],
  ] as const;
  return {
    path: RULES_PATH,
    title: 'API conventions',
    breadcrumbs: API_BREADCRUMBS,
    headings: sections.map(([text]) => ({ id: text.toLowerCase().replaceAll(' ', '-'), text, level: 2 })),
    body: html`<div class="reference">${sections.map(([title, content]) => section(title, content))}</div>`,
  };
}

function authentication(): Html {
  return html`<p>Send an API token with every request:</p>
${codeBlock('Authorization: Bearer $SKERRY_TOKEN', { language: 'http', copyable: true })}
<p>The scope of a token decides what it can do:</p>
${table({
  caption: 'Scopes',
  columns: ['Scope', 'Allows'],
  rows: SCOPES.map((scope) => [html`<code>${scope}</code>`, inlineCode(SCOPE_DETAILS[scope])]),
})}
<p>A token can have an expiration date. Revoking a token takes effect immediately.</p>`;
}

function requests({ baseUrl }: RulesData): Html {
  return html`<ul>
<li>The base URL is <code>${baseUrl}/v1</code>.
<li>Request bodies are JSON with <code>Content-Type: application/json</code>. Only image uploads use
<code>multipart/form-data</code>.
<li>Unknown keys in a body or query are rejected. Responses can gain fields: ignore fields that you do not
know.
<li>Times are RFC 3339 in UTC. Money is in US dollars with two decimals. Coin amounts are decimal strings.
<li>IDs are opaque strings. Do not parse them.
<li>Every response has an <code>X-Request-Id</code>, which the audit log records.
<li>Browsers can call the API from any origin, without cookies.
</ul>`;
}

function errors(): Html {
  return html`<p>All errors have the same shape. Use <code>code</code> in programs; <code>message</code>
is for people.</p>
${codeBlock(JSON.stringify(ERROR, null, 2), { language: 'json' })}
${table({
  caption: 'Error codes',
  columns: ['Status', 'code', 'Meaning'],
  rows: Object.entries(V1_ERRORS).map(([code, { status, message }]) => [
    String(status),
    html`<code>${code}</code>`,
    message,
  ]),
})}
<p>After a <code>500</code>, check the result before you retry: the operation may have succeeded. After a
<code>503</code>, retry later. Resources of other accounts return <code>404</code>, like resources that do not
exist.</p>`;
}

function fieldErrors(): Html {
  return html`<p><code>errors</code> lists each invalid field by its dotted path, for example
<code>rules.0.port</code>. The list is empty if no field is at fault.</p>
${table({
  caption: 'Values of issue',
  columns: ['issue', 'Meaning'],
  rows: V1_ISSUES.map((issue) => [html`<code>${issue}</code>`, inlineCode(ISSUE_DETAILS[issue])]),
})}`;
}

function pagination({ baseUrl }: RulesData): Html {
  const sample = `curl -g "${baseUrl}/v1/servers?filter[status]=running&sort=-created_at&page_size=100" \\
  -H "Authorization: Bearer $SKERRY_TOKEN"`;
  return html`<p>Lists return pages of <code>page_size</code> items: ${LIMITS.pageSizeDefault} by default,
at most ${LIMITS.pageSizeMax}. While <code>has_more</code> is true, set <code>cursor</code> to
<code>next_cursor</code> to request the next page, with the same filters and sort order. There is no
offset.</p>
${codeBlock(sample, { language: 'sh' })}
<p><code>filter[field]=value</code> matches exactly. <code>sort</code> takes a field, with <code>-</code>
in front for descending order. Each operation lists its filters and sort fields.</p>`;
}

function idempotency({ baseUrl }: RulesData): Html {
  const sample = `curl ${baseUrl}/v1/volumes \\
  -H "Authorization: Bearer $SKERRY_TOKEN" \\
  -H 'Content-Type: application/json' \\
  -H 'Idempotency-Key: 7f6f2f0e-3f5e-4c0e-9d0a-3f1c9a1b2c3d' \\
  -d '{"name":"data","size_gb":100,"region":"par"}'`;
  return html`<p>If a connection breaks, you cannot know whether a POST succeeded. Send an
<code>Idempotency-Key</code> with it: 1 to ${LIMITS.idempotencyKeyMaxChars} visible ASCII characters, for
example a UUID. To retry, repeat the request with the same key.</p>
${codeBlock(sample, { language: 'sh' })}
<p>We keep the first response for ${LIMITS.idempotencyRetentionHours} hours and return it for every
repetition, with <code>Idempotent-Replayed: true</code>. Nothing runs twice. The same key with a different
request returns <code>409</code>.</p>`;
}

function rateLimits({ general, provision }: RulesData): Html {
  return html`<p>These limits apply to each token. Creating servers and uploading images count toward a
limit of their own.</p>
${table({
  caption: 'Limits per token',
  columns: ['Operations', 'Requests at once', 'Requests per minute'],
  rows: [
    ['Create a server, upload an image', String(provision.burst), String(provision.perMinute)],
    ['All others', String(general.burst), String(general.perMinute)],
  ],
})}
<p>Every response contains the current state:</p>
${table({
  caption: 'Rate limit headers',
  columns: ['Header', 'Value'],
  rows: [
    [html`<code>X-RateLimit-Limit</code>`, 'Requests per minute.'],
    [html`<code>X-RateLimit-Remaining</code>`, 'Requests left right now.'],
    [html`<code>X-RateLimit-Reset</code>`, 'Time when all requests are available again, in Unix seconds.'],
    [html`<code>Retry-After</code>`, html`Seconds to wait. Only with <code>429</code>.`],
  ],
})}`;
}

function events({ objects }: RulesData): Html {
  return html`<p>We send events to webhooks and to the event stream.
<a href="${DOCS_PATHS.guides}/webhooks">Webhooks and events</a> explains how to receive and verify them.
On the stream, a token sees the events that its scope allows.</p>
${table({
  caption: 'Event types',
  columns: ['type', 'Sent when', 'data', 'Scope'],
  rows: EVENT_TYPES.map((type) => [
    html`<code>${type}</code>`,
    EVENTS[type].when,
    objectLink(objects, EVENTS[type].key, ''),
    html`<code>${eventScope(type)}</code>`,
  ]),
})}`;
}

function versions(): Html {
  return html`<p>Within v1 we only add fields and operations. The
<a href="${DOCS_PATHS.changelog}">changelog</a> lists every addition. We announce removals twelve months
in advance. Beta operations require <code>X-Service-Beta: true</code> and can change without notice.</p>`;
}

/** Renders words between backticks as code. */
function inlineCode(text: string): Html {
  return html`${text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}
