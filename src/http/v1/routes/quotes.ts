/** Prices of operations, before they are done. */

import { quoteObject } from '../../../domain/billing/quotes/object.ts';
import { type QuoteRequest, quote } from '../../../domain/billing/quotes/quote.ts';
import type { ScopedActor, Service } from '../../../domain/context.ts';
import { isMasked } from '../../../domain/tokens/limits/mask.ts';
import { type ErrorItem, invalidRequest } from '../../../kernel/fail.ts';
import { QUOTABLE, Quote, QuoteBody, type QuotedOperation } from '../../../spec/schemas/quote.ts';
import { describeRefusal } from '../error-response.ts';
import { type Route, route } from '../route.ts';
import { type Check, createChecker } from '../validation.ts';

export const QUOTE_ROUTES: readonly Route[] = [
  route({
    id: 'quotes.create',
    method: 'POST',
    changesNothing: true,
    path: '/quotes',
    scope: 'read',
    summary: 'Quote an operation',
    description:
      'Returns the price of an operation, and whether it is possible now, without doing it. Nothing is ' +
      'reserved. Send the id as `quote` with the request of the operation: if its price is higher by then, ' +
      'nothing is charged. The balance is shown only to a token of scope `billing`.',
    errorStatuses: [422],
    body: QuoteBody,
    example: { operation: 'server.create', params: { plan: 's1', region: 'par', billing_months: 3 } },
    reply: Quote,
    run: ({ service, actor, body }) => answerQuote(service, actor, readRequest(body)),
  }),
];

const CHECKS = Object.fromEntries(
  Object.entries(QUOTABLE).map(([operation, { params }]) => [operation, createChecker(params)]),
) as Readonly<Record<QuotedOperation, Check>>;

async function answerQuote(service: Service, actor: ScopedActor, request: QuoteRequest): Promise<Quote> {
  const quoted = await quote(service, actor, request);
  // The balance is not for a token that reaches a part of the account.
  const scope = isMasked(actor) ? 'read' : actor.scope;
  return { ...quoteObject(quoted, scope), ...describeRefusal(quoted.refusal) };
}

/** Validates `params` as the body of the operation's own request. */
function readRequest({ operation, resource, params = {} }: QuoteBody): QuoteRequest {
  const items: ErrorItem[] = CHECKS[operation](params).map((item) => {
    return { ...item, field: `params.${item.field}` };
  });
  const { hasResource } = QUOTABLE[operation];
  if (hasResource && resource === undefined) items.push({ field: 'resource', issue: 'required' });
  if (!hasResource && resource !== undefined) items.push({ field: 'resource', issue: 'unknown_key' });
  if (items.length > 0) invalidRequest(items);
  return { operation, resource: resource ?? null, params };
}
