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
    title: 'The first server',
    summary: 'Sign up, top up, deploy: on these pages, on the command line, with the SDK, with curl.',
  },
  {
    name: 'payments',
    title: 'Payments',
    summary:
      'Coins and their networks, confirmations, what happens to a payment that is short, late or held, bonus, what is given back.',
  },
  {
    name: 'webhooks',
    title: 'Events: webhooks and the stream',
    summary: 'Hear what happens to servers, volumes and money, and verify that it is true.',
  },
  {
    name: 'cli',
    title: 'The command line',
    summary:
      'Everything from a terminal: tables and JSON, waiting, exit codes, top-ups with a QR code, a file for all of it.',
  },
  {
    name: 'sdk',
    title: 'The SDK for JavaScript and TypeScript',
    summary: 'The REST API as a library: lists, waiting, errors, retries, webhooks, events, uploads.',
  },
  {
    name: 'accounts',
    title: 'Accounts over the form endpoints',
    summary: 'Everything an account can do about itself, for programs that sign in like a browser.',
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

/** A link between the files leads to the page of the other; one to what has no page is text. */
function resolveLink(href: string): string | null {
  const [file = '', anchor] = href.split('#');
  const name = /^([a-z-]+)\.md$/.exec(file)?.[1];
  const hash = anchor === undefined ? '' : `#${anchor}`;
  if (name === 'api-changelog') return `${DOCS_PATHS.changelog}${hash}`;
  return GUIDES.some((guide) => guide.name === name) ? `${guidePath(name ?? '')}${hash}` : null;
}
