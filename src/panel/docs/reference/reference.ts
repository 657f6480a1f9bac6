/** The API reference: one page per resource, generated from the OpenAPI document. */
import { DOCS_PATHS, PANEL_PATHS } from '../../../spec/paths.ts';
import { type Html, html } from '../../parts/html.ts';
import { codeBlock } from '../highlight.ts';
import { breakablePath, DOCS_BREADCRUMBS, type DocsView } from '../layout.ts';
import { type ApiOperation, type Document, listOperations } from './document.ts';
import { collectObjects, type Objects } from './objects.ts';
import type { Commands } from './samples.ts';

export interface Reference {
  readonly operations: readonly ApiOperation[];
  readonly objects: Objects;
  /** Names of the resources, in the order of the document. */
  readonly tags: readonly string[];
  readonly commands: Commands;
}

/** Takes the OpenAPI document and openapi/samples.json. */
export function readReference(document: unknown, commands: unknown): Reference {
  const operations = listOperations(document as Document);
  return {
    operations,
    objects: collectObjects(operations),
    tags: [...new Set(operations.map(({ tag }) => tag))],
    commands: commands as Commands,
  };
}

/** Titles that do not follow from the tag. */
const TITLES: Readonly<Record<string, string>> = {
  ssh_keys: 'SSH keys',
  tokens: 'API tokens',
  topups: 'Top-ups',
  events: 'Event stream',
};

export function tagTitle(tag: string): string {
  const words = tag.replaceAll('_', ' ');
  return TITLES[tag] ?? words.slice(0, 1).toUpperCase() + words.slice(1);
}

/** Last part of the address of a resource's page. */
export function tagSlug(tag: string): string {
  return tag.replaceAll('_', '-');
}

export function tagPath(tag: string): string {
  return `${DOCS_PATHS.api}/${tagSlug(tag)}`;
}

export const RULES_SLUG = 'rules';
export const RULES_PATH = `${DOCS_PATHS.api}/${RULES_SLUG}`;

export function objectAnchor(name: string): string {
  return `the-${name.replaceAll('_', '-')}-object`;
}

/** Links to the description of an object. `from` is the tag of the current page. */
export function objectLink(objects: Objects, name: string, from: string): Html {
  const tag = objects.get(name)?.tag ?? '';
  const page = tag === from ? '' : tagPath(tag);
  return html`<a href="${page}#${objectAnchor(name)}">${name.replaceAll('_', ' ')}</a>`;
}

export const API_BREADCRUMBS = [...DOCS_BREADCRUMBS, ['API reference', DOCS_PATHS.api]] as const;

/** The overview: how to start, and every operation. */
export function referenceView(reference: Reference, baseUrl: string): DocsView {
  const resources = reference.tags.map((tag) => {
    const rows = reference.operations
      .filter((operation) => operation.tag === tag)
      .map((operation) => html`<li>${operationLink(operation)}\n`);
    return html`<section aria-labelledby="${tag}">
<h3 id="${tag}"><a href="${tagPath(tag)}">${tagTitle(tag)}</a></h3>
<ul>${rows}</ul></section>\n`;
  });
  return {
    path: DOCS_PATHS.api,
    title: 'API reference',
    breadcrumbs: DOCS_BREADCRUMBS,
    headings: [],
    body: html`<p>The API does everything that the panel does, over HTTPS and JSON. Create a token under
<a href="${PANEL_PATHS.account}">Account</a>, and store it where your shell finds it:</p>
${codeBlock(firstCall(baseUrl), { language: 'sh' })}
<p>Read the <a href="${RULES_PATH}">conventions</a> first: errors, pagination, idempotency, and rate
limits. Every page shows samples for curl, the <a href="${DOCS_PATHS.guides}/sdk">SDK</a>, and the
<a href="${DOCS_PATHS.guides}/cli">CLI</a>. For code generators, there is an
<a href="${DOCS_PATHS.openApi}">OpenAPI 3.1 document</a>. The <a href="${DOCS_PATHS.changelog}">changelog</a>
lists every change.</p>
<h2 id="operations">Operations</h2>
<div class="operations">${resources}</div>`,
  };
}

function firstCall(baseUrl: string): string {
  return `export SKERRY_TOKEN='…'
curl ${baseUrl}/v1/servers -H "Authorization: Bearer $SKERRY_TOKEN"`;
}

/** Summary, method, and path. */
function operationLink({ tag, id, method, path, summary }: ApiOperation): Html {
  return html`<a href="${tagPath(tag)}#${id}">${summary}</a>
<code class="soft">${method} ${breakablePath(path)}</code>`;
}
