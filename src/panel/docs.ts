/** Guides and changelog, from Markdown, and where to find what. */
import { DOCS_PATHS, PANEL_PATHS } from '../spec/paths.ts';
import { section } from './components.ts';
import { html } from './html.ts';
import type { View } from './layout.ts';
import { markdown } from './markdown.ts';

export interface Guide {
  /** The last part of its address, and its file's name. */
  readonly name: string;
  readonly title: string;
  readonly summary: string;
}

/** In the order in which they are needed. */
export const GUIDES: readonly Guide[] = [
  {
    name: 'getting-started',
    title: 'Getting started',
    summary: 'Sign up, top up, and deploy a server with the panel, the CLI, the SDK, or curl.',
  },
  {
    name: 'payments',
    title: 'Payments',
    summary:
      'Coins, networks, confirmations, partial and late payments, the top-up bonus, billing cycles, refunds.',
  },
  {
    name: 'api',
    title: 'Using the REST API',
    summary: 'Authentication, pagination, errors, idempotency, rate limits, versions, and CORS.',
  },
  {
    name: 'cli',
    title: 'CLI',
    summary: 'The skerry command: output formats, exit codes, scripting, and servers described in a file.',
  },
  {
    name: 'sdk',
    title: 'JavaScript and TypeScript SDK',
    summary: 'Typed calls, lists, waiting, errors, retries, webhooks, events, and uploads.',
  },
  {
    name: 'webhooks',
    title: 'Webhooks and the event stream',
    summary: 'Receive events, verify signatures, and handle retries. Receivers in four languages.',
  },
  {
    name: 'accounts',
    title: 'Account and security',
    summary:
      'Passwords, recovery, two-factor authentication, mail encryption, account deletion, form endpoints.',
  },
];

export function docsView(): View {
  const guides = GUIDES.map(
    ({ name, title, summary }) =>
      html`<li><a href="${guidePath(name)}">${title}</a><br><span class="soft">${summary}</span></li>\n`,
  );
  return {
    title: 'Documents',
    section: 'docs',
    body: html`${section('Guides', html`<ul>${guides}</ul>`)}
${section(
  'For programs',
  html`<ul>
<li><a href="${DOCS_PATHS.api}">REST API</a><br><span class="soft">Every operation, with a sample to copy.</span></li>
<li><a href="/v1/openapi.json">OpenAPI document</a><br><span class="soft">The same for machines, version 3.1.</span></li>
<li><a href="${DOCS_PATHS.changelog}">Changelog</a><br><span class="soft">What changed for callers.</span></li>
</ul>`,
)}`,
  };
}

export function guideView(guide: Guide, source: string, baseUrl: string): View {
  return documentView(source.replaceAll(PLACEHOLDER_BASE_URL, baseUrl), guide.title);
}

export function changelogView(source: string): View {
  return documentView(source, 'Changelog');
}

function documentView(source: string, fallbackTitle: string): View {
  const { title, body } = markdown(source, resolveLink);
  return {
    title: title ?? fallbackTitle,
    section: 'docs',
    breadcrumbs: [['Documents', PANEL_PATHS.docs]],
    body: html`<div class="reference">${body}</div>`,
  };
}

/** The address that guides name; readers see their own. */
const PLACEHOLDER_BASE_URL = 'https://skerry.example';

export function guidePath(name: string): string {
  return `${DOCS_PATHS.guides}/${name}`;
}

/** Links between guides point at their pages. A link to a file without a page becomes plain text. */
function resolveLink(href: string): string | null {
  const [file = '', anchor] = href.split('#');
  const hash = anchor === undefined ? '' : `#${anchor}`;
  if (file === '../api-changelog.md') return `${DOCS_PATHS.changelog}${hash}`;
  const name = /^(?:customers\/)?([a-z-]+)\.md$/.exec(file)?.[1];
  return GUIDES.some((guide) => guide.name === name) ? `${guidePath(name ?? '')}${hash}` : null;
}
