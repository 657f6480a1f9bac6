/**
 * The documents. They are the same for everybody, so each is made once, at its first look, and kept; a page differs only by the
 * address under which its reader reaches the service.
 */
import { readFileSync } from 'node:fs';
import { fail } from '../../kernel/fail.ts';
import { changelogView, docsView, GUIDES, guideView } from '../../panel/docs.ts';
import type { View } from '../../panel/layout.ts';
import {
  type Reference,
  RULES_SLUG,
  readReference,
  referenceView,
  tagSlug,
} from '../../panel/reference/reference.ts';
import { resourceView } from '../../panel/reference/resource.ts';
import { rulesView } from '../../panel/reference/rules.ts';
import { DOCS_PATHS, PANEL_PATHS } from '../../spec/paths.ts';
import { openApiText } from '../v1/openapi.ts';
import { resolveBaseUrl } from './base-url.ts';
import type { PageContext, PanelPage } from './page-types.ts';

/** Addresses under which pages are kept: beyond that whoever makes up names of hosts has them made anew. */
const CACHED_BASE_URLS_MAX = 4;
/** Which command does an operation; `npm run openapi` writes it from the commands themselves. */
const COMMANDS_FILE = new URL('../../../openapi/samples.json', import.meta.url);

export const DOCS_PAGES: readonly PanelPage[] = [
  { path: PANEL_PATHS.docs, access: 'anyone', render: () => docsView() },
  {
    path: `${DOCS_PATHS.guides}/{name}`,
    access: 'anyone',
    render: (context) => {
      const guide = GUIDES.find(({ name }) => name === context.params.name) ?? fail('not_found');
      return cachedView(context, `guide ${guide.name}`, (baseUrl) =>
        guideView(guide, fileText(`customers/${guide.name}`), baseUrl),
      );
    },
  },
  {
    path: DOCS_PATHS.changelog,
    access: 'anyone',
    render: (look) => cachedView(look, 'changelog', () => changelogView(fileText('api-changelog'))),
  },
  {
    path: DOCS_PATHS.api,
    access: 'anyone',
    render: (look) => cachedView(look, 'api', (baseUrl) => referenceView(reference(), baseUrl)),
  },
  {
    path: `${DOCS_PATHS.api}/{resource}`,
    access: 'anyone',
    render: (look) => {
      const slug = look.params.resource ?? '';
      if (slug === RULES_SLUG) return renderRules(look);
      const tag = reference().tags.find((each) => tagSlug(each) === slug) ?? fail('not_found');
      return cachedView(look, `api ${tag}`, (baseUrl) => resourceView(reference(), tag, baseUrl));
    },
  },
];

const viewCache = new Map<string, Map<string, View>>();

function cachedView(context: PageContext, name: string, make: (baseUrl: string) => View): View {
  const baseUrl = resolveBaseUrl(context);
  const views = cachedViewsFor(baseUrl);
  const view = views.get(name) ?? make(baseUrl);
  views.set(name, view);
  return view;
}

function cachedViewsFor(baseUrl: string): Map<string, View> {
  const cached = viewCache.get(baseUrl);
  if (cached) return cached;
  const [oldest] = viewCache.keys();
  if (oldest !== undefined && viewCache.size >= CACHED_BASE_URLS_MAX) viewCache.delete(oldest);
  const views = new Map<string, View>();
  viewCache.set(baseUrl, views);
  return views;
}

let cachedReference: Reference | undefined;

function reference(): Reference {
  cachedReference ??= readReference(
    JSON.parse(openApiText()),
    JSON.parse(readFileSync(COMMANDS_FILE, 'utf8')),
  );
  return cachedReference;
}

function fileText(name: string): string {
  return readFileSync(new URL(`../../../docs/${name}.md`, import.meta.url), 'utf8');
}

/** Not kept: it is short, and says the rates that this service has. */
function renderRules(context: PageContext): View {
  const { general, provision } = context.edge.settings.rates;
  const describeRate = ({ capacity, refillPerS }: typeof general) => ({
    burst: Math.floor(capacity),
    perMinute: Math.round(refillPerS * 60),
  });
  return rulesView({
    baseUrl: resolveBaseUrl(context),
    objects: reference().objects,
    general: describeRate(general),
    provision: describeRate(provision),
  });
}
