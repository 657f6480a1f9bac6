/** What holds for every operation, from the tables that the service itself goes by. */
import { V1_ERRORS, V1_ISSUES, type V1Issue } from '../../spec/errors.ts';
import { EVENT_TYPES, EVENTS, eventScope } from '../../spec/events.ts';
import { LIMITS } from '../../spec/limits.ts';
import { DOCS_PATHS } from '../../spec/paths.ts';
import { SCOPES } from '../../spec/scopes.ts';
import { section, table } from '../components.ts';
import { type Html, html } from '../html.ts';
import type { View } from '../layout.ts';
import { inputBlock, outputBlock } from './fields.ts';
import type { Objects } from './objects.ts';
import { API_BREADCRUMBS, objectLink } from './reference.ts';

export interface RulesData {
  readonly baseUrl: string;
  readonly objects: Objects;
  /** Requests at once, and how many come back in a minute. */
  readonly general: { readonly burst: number; readonly perMinute: number };
  readonly provision: { readonly burst: number; readonly perMinute: number };
}

/** What an item of `errors` says beside its issue. */
const ISSUE_DETAILS: Record<V1Issue, string> = {
  required: 'The field is missing.',
  unknown_key: 'There is no such field.',
  invalid_type: 'The type is another; `expected` names it.',
  invalid_format: 'It is not written as it has to be; `pattern` or `format` says how.',
  invalid_value: 'It cannot be used here; `allowed` lists what can, where that is a closed list.',
  min_items: 'Too few items; `min`.',
  max_items: 'Too many items; `max`.',
  min_length: 'Too short; `min`.',
  max_length: 'Too long; `max`.',
  min: 'Too small; `min`.',
  max: 'Too large; `max`.',
  not_found: 'It names something that is not there, or is not yours.',
  unavailable: 'Not now; `retry_after_s` says when, where that is known.',
  insufficient_balance: '`have`, `need` and `deficit` are US dollars.',
  limit_reached: 'The account has as many as it may; `limit`.',
};

const ERROR = {
  error: {
    code: 'invalid_request',
    message: 'The request is not valid; `errors` names each field and what it may be.',
    errors: [{ field: 'ssh_keys', issue: 'min_items', min: 1 }],
    request_id: 'req_aaaqk3m7qzb5x2l6v4t7n8wyja',
  },
};

export function rulesView(data: RulesData): View {
  return {
    title: 'Common rules',
    section: 'docs',
    breadcrumbs: API_BREADCRUMBS,
    body: html`<div class="reference">${section('Requests', requests(data))}
${section('Errors', errors())}
${section('Lists', lists(data))}
${section('Once only', idempotency(data))}
${section('Rates', rateLimits(data))}
${section('Events', events(data))}
${section('Changes and beta', changes())}</div>`,
  };
}

function requests({ baseUrl }: RulesData): Html {
  return html`<p>Everything is below <code>${baseUrl}/v1</code>. Each request carries a token:</p>
${inputBlock('Authorization: Bearer $SKERRY_TOKEN')}
<p>A token has a scope, and each includes those before it: ${SCOPES.map((scope, index) => html`${index > 0 && ', '}<code>${scope}</code>`)}. <code>read</code> looks at
everything but money, <code>write</code> creates, changes and destroys, <code>billing</code> also sees the balance and makes top-ups. A token may be
limited in time, and ends at once when it is revoked.</p>
<p>Bodies are JSON (<code>Content-Type: application/json</code>), except the upload of an image. Keys that are not known, in a body or in
a query, are refused. Times are RFC 3339 in UTC, money is US dollars with two decimals, amounts of coins are decimal strings.
Ids are opaque: do not parse them. Fields may be added to answers; ignore what you do not know.</p>
<p>Every answer has <code>X-Request-Id</code>, which the audit log has, too. From a browser it works from any origin, without cookies.</p>`;
}

function errors(): Html {
  return html`<p>Every refusal looks like this. <code>code</code> is for programs, <code>message</code> for people, and
<code>errors</code> names the fields at fault by dotted paths; it is empty where none is.</p>
${outputBlock(JSON.stringify(ERROR, null, 2))}
${table({
  caption: 'Codes',
  columns: ['Status', 'code', 'Meaning'],
  rows: Object.entries(V1_ERRORS).map(([code, { status, message }]) => [
    String(status),
    html`<code>${code}</code>`,
    message,
  ]),
})}
${table({
  caption: 'Issues of a field',
  columns: ['issue', 'Meaning, and what stands beside it'],
  rows: V1_ISSUES.map((issue) => [html`<code>${issue}</code>`, inlineCode(ISSUE_DETAILS[issue])]),
})}
<p>After a <code>500</code> look before you try again: what failed can be the answer alone. A <code>503</code> is passing; what another customer
owns is <code>404</code>, like what does not exist.</p>`;
}

function lists({ baseUrl }: RulesData): Html {
  return html`<p>A list comes in pages: <code>page_size</code> items, ${LIMITS.pageSizeDefault} when left out and ${LIMITS.pageSizeMax} at most. While <code>has_more</code> is
true, ask again with <code>cursor</code> set to <code>next_cursor</code>, and the same filter and sort. There is no offset.</p>
${inputBlock(`curl "${baseUrl}/v1/servers?filter[status]=running&sort=-created_at&page_size=100" -g \\
  -H "Authorization: Bearer $SKERRY_TOKEN"`)}
<p><code>filter[field]=value</code> is equality, for the fields that an operation names; <code>sort</code> takes a field, with <code>-</code> before it for the other way round.</p>`;
}

function idempotency({ baseUrl }: RulesData): Html {
  return html`<p>A connection that breaks leaves you without knowing whether a server was made. Send an <code>Idempotency-Key</code> with any POST, 1 to ${LIMITS.idempotencyKeyMaxChars} visible
characters, a UUID say. The first answer is kept for ${LIMITS.idempotencyRetentionHours} hours and given again to the same request, marked with <code>Idempotent-Replayed: true</code>;
nothing is done twice. The same key with another request is <code>409</code>.</p>
${inputBlock(`curl ${baseUrl}/v1/volumes \\
  -H "Authorization: Bearer $SKERRY_TOKEN" \\
  -H 'Content-Type: application/json' \\
  -H 'Idempotency-Key: 7f6f2f0e-3f5e-4c0e-9d0a-3f1c9a1b2c3d' \\
  -d '{"name":"data","size_gb":100,"region":"par"}'`)}`;
}

function rateLimits({ general, provision }: RulesData): Html {
  return html`<p>Each token may make ${general.burst} requests at once, and ${general.perMinute} a minute over time. Deploys and uploads of images draw on a rate of their own:
${provision.burst} at once, ${provision.perMinute} a minute. Every answer says where you stand:</p>
${table({
  caption: 'Headers of the rate',
  columns: ['Header', 'Value'],
  rows: [
    [html`<code>X-RateLimit-Limit</code>`, 'requests a minute'],
    [html`<code>X-RateLimit-Remaining</code>`, 'requests left right now'],
    [html`<code>X-RateLimit-Reset</code>`, 'when all are back, in Unix seconds'],
    [html`<code>Retry-After</code>`, html`seconds to wait; with <code>429</code> only`],
  ],
})}`;
}

function events({ objects }: RulesData): Html {
  return html`<p>What happens is told by webhooks, and by the event stream; <a href="${DOCS_PATHS.guides}/webhooks">Events: webhooks and the stream</a> says how to receive and how to verify them.
The stream shows a token what its scope may see.</p>
${table({
  caption: 'Types of events',
  columns: ['type', 'When', 'In data', 'Scope'],
  rows: EVENT_TYPES.map((type) => [
    html`<code>${type}</code>`,
    EVENTS[type].when,
    objectLink(objects, EVENTS[type].key, ''),
    html`<code>${eventScope(type)}</code>`,
  ]),
})}`;
}

function changes(): Html {
  return html`<p>What works in v1 goes on working: fields and operations are only added, and the <a href="${DOCS_PATHS.changelog}">changelog</a> says which. What is to go is announced
twelve months before. An operation that is marked beta needs <code>X-Service-Beta: true</code>, and may change without notice.</p>`;
}

/** Words between backticks as code. */
function inlineCode(text: string): Html {
  return html`${text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part))}`;
}
