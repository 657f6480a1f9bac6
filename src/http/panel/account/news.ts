/**
 * Turning news off: the page behind the link in news, and one POST for mail programs (RFC 8058). Neither
 * needs the customer to be signed in, and the POST has no CSRF token: all that it can do is what the token
 * of the link stands for.
 */
import type { FastifyInstance } from 'fastify';
import { readNewsToken, setNews, turnOffNews } from '../../../domain/customers/talking/news.ts';
import { newsOffDoneView, newsOffView } from '../../../panel/account/news.ts';
import { ACCOUNT_PATHS, NEWS_OFF_PATHS } from '../../../spec/paths.ts';
import { buildVisit } from '../../admission/forms.ts';
import { field, parseQuery } from '../../form.ts';
import type { Edge } from '../../settings.ts';
import { type CustomForm, customForm, type PageContext, type PanelPage } from '../page-types.ts';

export const newsForm = customForm({
  audit: 'customer.set_news',
  run: async ({ edge, form, customer }) => {
    await setNews(edge.service, customer(), { on: field(form, 'news') === 'on' });
    return {};
  },
  done: () => ({ to: `${ACCOUNT_PATHS.overview}#news`, notice: 'saved' }),
});

/** A frozen customer may, too. */
const newsOffForm: CustomForm = {
  audit: 'customer.set_news',
  whenFrozen: true,
  skipIdempotency: true,
  run: async ({ edge, form, visit }) => {
    await turnOffNews(edge.service, visit.actor, field(form, 'token'));
    return { shown: {} };
  },
};

function linkToken({ query, forms }: PageContext): string {
  return field(query, 'token') || field(forms.values, 'token');
}

export const NEWS_OFF_PAGE: PanelPage = {
  path: NEWS_OFF_PATHS.page,
  access: 'anyone',
  render: (context) => {
    if (context.shown) return newsOffDoneView();
    const token = linkToken(context);
    const isOurs = readNewsToken(context.service.keys, token) !== undefined;
    return newsOffView({ forms: context.forms, token: isOurs ? token : null });
  },
  forms: { off: newsOffForm },
};

/** Answers 200 also to a repeated request. */
export function registerNewsOff(scope: FastifyInstance, edge: Edge): void {
  const { page, post } = NEWS_OFF_PATHS;
  scope.get(post, async (request, reply) => {
    const query = request.url.split('?')[1] ?? '';
    return await reply.code(303).header('location', `${page}?${query}`).send();
  });
  scope.post(post, async (request, reply) => {
    const { actor } = buildVisit(edge, { visitor: null, session: null }, request);
    const token = field(parseQuery(request.url), 'token');
    if (readNewsToken(edge.service.keys, token) === undefined) return await reply.code(404).send();
    await turnOffNews(edge.service, actor, token);
    return await reply.code(200).header('cache-control', 'no-store').send();
  });
}
