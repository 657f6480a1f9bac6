/** The guides, the API changelog, and the start page of the documentation. */
import { DOCS_PATHS, PANEL_PATHS } from '../../spec/paths.ts';
import { type Html, html } from '../parts/html.ts';
import { DOCS_BREADCRUMBS, type DocsGroup, type DocsView, searchForm } from './layout.ts';
import { markdown } from './markdown.ts';
import { RULES_PATH, tagPath, tagTitle } from './reference/reference.ts';

interface Guide {
  /** The last part of its address, and the name of its file. */
  readonly name: string;
  readonly title: string;
  readonly summary: string;
}

/** In the order of the contents. */
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
    name: 'limited-tokens',
    title: 'Limited tokens',
    summary: 'Tokens for programs: limits to networks, operations, resources, labels, regions, and spending.',
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
    name: 'ansible',
    title: 'Ansible',
    summary: 'The collection skerry.cloud: playbooks with check mode and diff, and servers as inventory.',
  },
  {
    name: 'pulumi',
    title: 'Pulumi',
    summary: 'The provider for Pulumi programs: previews, replacements, and the import of an account.',
  },
  {
    name: 'mcp',
    title: 'AI assistants',
    summary: 'skerry mcp: tools for an assistant, with its token, your confirmation, and prices.',
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

/** The address in the guides. Readers see the one of their own service. */
export const PLACEHOLDER_BASE_URL = 'https://skerry.example';

/**
 * All pages, for the contents and for previous and next links. `tags` are the groups of the API reference.
 */
export function docsContents(tags: readonly string[]): readonly DocsGroup[] {
  return [
    { title: 'Guides', links: GUIDES.map(({ name, title }) => ({ path: guidePath(name), title })) },
    {
      title: 'API reference',
      links: [
        { path: DOCS_PATHS.api, title: 'Overview' },
        { path: RULES_PATH, title: 'Conventions' },
        ...tags.map((tag) => ({ path: tagPath(tag), title: tagTitle(tag) })),
        { path: DOCS_PATHS.changelog, title: 'Changelog' },
      ],
    },
  ];
}

export function docsView(): DocsView {
  const guides = GUIDES.map(({ name, title, summary }) => card(guidePath(name), title, summary));
  return {
    path: PANEL_PATHS.docs,
    title: 'Docs',
    headings: [],
    body: html`${searchForm('docs-search')}
<h2 id="guides">Guides</h2>
<div class="cards">${guides}</div>
<h2 id="api">API</h2>
<div class="cards">
${card(DOCS_PATHS.api, 'API reference', 'Every operation, with samples for curl, the SDK, and the CLI.')}
${card(RULES_PATH, 'Conventions', 'Errors, pagination, idempotency, and rate limits of this service.')}
${card(DOCS_PATHS.openApi, 'OpenAPI document', 'The API in OpenAPI 3.1, for code generators.')}
${card(DOCS_PATHS.changelog, 'Changelog', 'Changes to the API, newest first.')}
${card(DOCS_PATHS.llms, 'llms.txt', 'The guides as Markdown, for AI assistants.')}
</div>`,
  };
}

/** Returns the contents of the documentation in the format of llms.txt: Markdown with absolute links. */
export function llmsText(site: string, baseUrl: string): string {
  const guides = GUIDES.map(
    ({ name, title, summary }) => `- [${title}](${baseUrl}${guidePath(name)}.md): ${summary}\n`,
  );
  const about = 'OpenAPI 3.1, with every operation, field, error, and webhook payload.';
  return `# ${site}

> Virtual and dedicated servers, paid from a balance that you top up with cryptocurrency. Everything works
> through a REST API with webhooks, an SDK for JavaScript and TypeScript, a CLI, and an Ansible collection.

## Guides

${guides.join('')}
## API

- [OpenAPI document](${baseUrl}${DOCS_PATHS.openApi}): ${about}
- [API reference](${baseUrl}${DOCS_PATHS.api}): every operation, with samples for curl, the SDK, and the CLI.
- [Changelog](${baseUrl}${DOCS_PATHS.changelog}): changes to the API, newest first.
- [Plans and prices](${baseUrl}${PANEL_PATHS.plans}): also at ${baseUrl}/v1/plans with an API token.
`;
}

function card(path: string, title: string, summary: string): Html {
  return html`<a class="card" href="${path}"><strong>${title}</strong> <span>${summary}</span></a>\n`;
}

export function guideView(guide: Guide, source: string, baseUrl: string): DocsView {
  const view = documentView(source.replaceAll(PLACEHOLDER_BASE_URL, baseUrl), guide.title);
  return { ...view, path: guidePath(guide.name) };
}

export function changelogView(source: string): DocsView {
  return { ...documentView(source, 'API changelog'), path: DOCS_PATHS.changelog };
}

function documentView(source: string, fallbackTitle: string): Omit<DocsView, 'path'> {
  const { title, headings, body } = markdown(source, resolveLink);
  return {
    title: title ?? fallbackTitle,
    breadcrumbs: DOCS_BREADCRUMBS,
    headings,
    body: html`<div class="prose">${body}</div>`,
  };
}

export function guidePath(name: string): string {
  return `${DOCS_PATHS.guides}/${name}`;
}

/** Returns a guide as Markdown, with links that work below its address. */
export function guideMarkdown(source: string, baseUrl: string): string {
  const links = /\[([^\]]+)\]\((\.\.\/[^)]+)\)/g;
  return source.replaceAll(PLACEHOLDER_BASE_URL, baseUrl).replace(links, (_, text: string, href: string) => {
    const path = resolveLink(href);
    return path === null ? text : `[${text}](${path})`;
  });
}

/** Links between Markdown files lead to their pages. Links to other files become plain text. */
function resolveLink(href: string): string | null {
  const [file = '', anchor] = href.split('#');
  const name = /^(?:\.\.?\/)*(?:[a-z]+\/)?([a-z-]+)\.md$/.exec(file)?.[1];
  const hash = anchor === undefined ? '' : `#${anchor}`;
  if (name === 'api-changelog') return `${DOCS_PATHS.changelog}${hash}`;
  return GUIDES.some((guide) => guide.name === name) ? `${guidePath(name ?? '')}${hash}` : null;
}
