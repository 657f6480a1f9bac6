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
import { baseUrlOf } from './base-url.ts';
import type { Look, PanelPage } from './page.ts';

/** Addresses under which pages are kept: beyond that whoever makes up names of hosts has them made anew. */
const ADDRESSES_KEPT = 4;
/** Which command does an operation; `npm run openapi` writes it from the commands themselves. */
const COMMANDS_FILE = new URL('../../../openapi/samples.json', import.meta.url);

export const DOCS_PAGES: readonly PanelPage[] = [
  { path: PANEL_PATHS.docs, access: 'anyone', show: () => docsView() },
  {
    path: `${DOCS_PATHS.guides}/{name}`,
    access: 'anyone',
    show: (look) => {
      const guide = GUIDES.find(({ name }) => name === look.params.name) ?? fail('not_found');
      return kept(look, `guide ${guide.name}`, (baseUrl) => guideView(guide, fileText(guide.name), baseUrl));
    },
  },
  {
    path: DOCS_PATHS.changelog,
    access: 'anyone',
    show: (look) => kept(look, 'changelog', () => changelogView(fileText('api-changelog'))),
  },
  {
    path: DOCS_PATHS.api,
    access: 'anyone',
    show: (look) => kept(look, 'api', (baseUrl) => referenceView(reference(), baseUrl)),
  },
  {
    path: `${DOCS_PATHS.api}/{resource}`,
    access: 'anyone',
    show: (look) => {
      const slug = look.params.resource ?? '';
      if (slug === RULES_SLUG) return rules(look);
      const tag = reference().tags.find((each) => tagSlug(each) === slug) ?? fail('not_found');
      return kept(look, `api ${tag}`, (baseUrl) => resourceView(reference(), tag, baseUrl));
    },
  },
];

const made = new Map<string, Map<string, View>>();

function kept(look: Look, name: string, make: (baseUrl: string) => View): View {
  const baseUrl = baseUrlOf(look);
  const views = viewsAt(baseUrl);
  const view = views.get(name) ?? make(baseUrl);
  views.set(name, view);
  return view;
}

function viewsAt(baseUrl: string): Map<string, View> {
  const found = made.get(baseUrl);
  if (found) return found;
  const [oldest] = made.keys();
  if (oldest !== undefined && made.size >= ADDRESSES_KEPT) made.delete(oldest);
  const views = new Map<string, View>();
  made.set(baseUrl, views);
  return views;
}

let read: Reference | undefined;

function reference(): Reference {
  read ??= readReference(JSON.parse(openApiText()), JSON.parse(readFileSync(COMMANDS_FILE, 'utf8')));
  return read;
}

function fileText(name: string): string {
  return readFileSync(new URL(`../../../docs/${name}.md`, import.meta.url), 'utf8');
}

/** Not kept: it is short, and says the rates that this service has. */
function rules(look: Look): View {
  const { general, provision } = look.edge.settings.rates;
  const words = ({ capacity, refillPerS }: typeof general) => ({
    burst: Math.floor(capacity),
    perMinute: Math.round(refillPerS * 60),
  });
  return rulesView({
    baseUrl: baseUrlOf(look),
    objects: reference().objects,
    general: words(general),
    provision: words(provision),
  });
}
