/**
 * Pages of the documentation. They are the same for every reader except for the base URL in samples, so
 * each is rendered once per base URL and cached. The search index is built when the first visitor searches.
 */

import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { BoundedMap } from '../../../kernel/bounded-map.ts';
import { fail } from '../../../kernel/fail.ts';
import {
  changelogView,
  docsContents,
  docsView,
  GUIDES,
  guideMarkdown,
  guidePath,
  guideView,
  llmsText,
  PLACEHOLDER_BASE_URL,
} from '../../../panel/docs/docs.ts';
import { buildIndex, type DocsIndex } from '../../../panel/docs/index.ts';
import { type DocsView, withNavigation } from '../../../panel/docs/layout.ts';
import {
  type Reference,
  RULES_SLUG,
  readReference,
  referenceView,
  tagSlug,
} from '../../../panel/docs/reference/reference.ts';
import { resourceView } from '../../../panel/docs/reference/resource.ts';
import { rulesView } from '../../../panel/docs/reference/rules.ts';
import { searchView } from '../../../panel/docs/search.ts';
import type { View } from '../../../panel/parts/layout.ts';
import { cleanQuery, QUERY_FIELD } from '../../../panel/parts/search-form.ts';
import { DOCS_PATHS, PANEL_PATHS } from '../../../spec/paths.ts';
import { resolveBaseUrl } from '../../base-url.ts';
import { field } from '../../form.ts';
import type { Edge } from '../../settings.ts';
import { openApiText } from '../../v1/openapi/document.ts';
import { type PageContext, type PanelPage, page } from '../page-types.ts';

const DOCS_FOLDER = new URL('../../../../docs/', import.meta.url);
/** The guides of GUIDES, as NAME.md. */
const GUIDES_FOLDER = new URL('customers/', DOCS_FOLDER);
const CHANGELOG_FILE = new URL('api-changelog.md', DOCS_FOLDER);
/** The CLI command for each operation. `npm run openapi` generates it from the commands. */
const COMMANDS_FILE = new URL('../../../../openapi/samples.json', import.meta.url);

/** Bounds the cache: an attacker can send any number of host names. */
const CACHED_BASE_URLS_MAX = 4;

export const DOCS_PAGES: readonly PanelPage[] = [
  { path: PANEL_PATHS.docs, access: 'anyone', render: (context) => cachedView(context, 'start', docsView) },
  page({
    path: `${DOCS_PATHS.guides}/{name}`,
    access: 'anyone',
    render: (context) => {
      const guide = GUIDES.find(({ name }) => name === context.params.name) ?? fail('not_found');
      return cachedView(context, `guide ${guide.name}`, (baseUrl) =>
        guideView(guide, guideText(guide.name), baseUrl),
      );
    },
  }),
  {
    path: DOCS_PATHS.changelog,
    access: 'anyone',
    render: (context) => cachedView(context, 'changelog', () => changelogView(changelogText())),
  },
  {
    path: DOCS_PATHS.search,
    access: 'anyone',
    render: (context) => {
      const query = cleanQuery(field(context.query, QUERY_FIELD));
      const results = query === '' ? [] : searchIndex(context.edge).search(query, resolveBaseUrl(context));
      return complete(searchView(query, results));
    },
  },
  {
    path: DOCS_PATHS.api,
    access: 'anyone',
    render: (context) => cachedView(context, 'api', (baseUrl) => referenceView(reference(), baseUrl)),
  },
  page({
    path: `${DOCS_PATHS.api}/{resource}`,
    access: 'anyone',
    render: (context) => {
      const slug = context.params.resource;
      if (slug === RULES_SLUG) return complete(renderRules(context.edge, resolveBaseUrl(context)));
      const tag = reference().tags.find((each) => tagSlug(each) === slug) ?? fail('not_found');
      return cachedView(context, `api ${tag}`, (baseUrl) => resourceView(reference(), tag, baseUrl));
    },
  }),
];

/** An hour: the guides change only when the operator installs a new version. */
const CACHE_HEADERS = { 'cache-control': 'public, max-age=3600' };

/** Registers the documentation for programs: `llms.txt`, which lists it, and each guide as Markdown. */
export function registerPlainDocs(scope: FastifyInstance, edge: Edge): void {
  const serve = (path: string, type: string, text: (baseUrl: string) => string): void => {
    scope.get(path, (request, reply) => {
      reply
        .headers({ 'content-type': `${type}; charset=utf-8`, ...CACHE_HEADERS })
        .send(text(resolveBaseUrl({ edge, request })));
    });
  };
  serve(DOCS_PATHS.llms, 'text/plain', (baseUrl) => llmsText(edge.service.settings.siteName, baseUrl));
  for (const { name } of GUIDES) {
    serve(`${guidePath(name)}.md`, 'text/markdown', (baseUrl) => guideMarkdown(guideText(name), baseUrl));
  }
}

const viewCache = new BoundedMap<string, Map<string, View>>(CACHED_BASE_URLS_MAX);

function cachedView(context: PageContext, name: string, make: (baseUrl: string) => DocsView): View {
  const baseUrl = resolveBaseUrl(context);
  const views = viewCache.ensure(baseUrl, () => new Map());
  const view = views.get(name) ?? complete(make(baseUrl));
  views.set(name, view);
  return view;
}

function complete(view: DocsView): View {
  return withNavigation(view, docsContents(reference().tags));
}

let cachedReference: Reference | undefined;

function reference(): Reference {
  cachedReference ??= readReference(
    JSON.parse(openApiText()),
    JSON.parse(readFileSync(COMMANDS_FILE, 'utf8')),
  );
  return cachedReference;
}

function guideText(name: string): string {
  return readFileSync(new URL(`${name}.md`, GUIDES_FOLDER), 'utf8');
}

function changelogText(): string {
  return readFileSync(CHANGELOG_FILE, 'utf8');
}

/** Not cached: the page is short, and shows the rate limits from the settings. */
function renderRules({ settings }: Edge, baseUrl: string): DocsView {
  const { general, provision } = settings.rates;
  const describeRate = ({ capacity, refillPerS }: typeof general) => ({
    burst: Math.floor(capacity),
    perMinute: Math.round(refillPerS * 60),
  });
  return rulesView({
    baseUrl,
    objects: reference().objects,
    general: describeRate(general),
    provision: describeRate(provision),
  });
}

let cachedIndex: DocsIndex | undefined;

function searchIndex(edge: Edge): DocsIndex {
  const base = PLACEHOLDER_BASE_URL;
  cachedIndex ??= buildIndex([
    ...GUIDES.map((guide) => guideView(guide, guideText(guide.name), base)),
    renderRules(edge, base),
    ...reference().tags.map((tag) => resourceView(reference(), tag, base)),
    changelogView(changelogText()),
  ]);
  return cachedIndex;
}
