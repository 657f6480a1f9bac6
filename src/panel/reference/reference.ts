/** Our own reference of the REST API: one page for each resource, made from the OpenAPI document. */
import { DOCS_PATHS, PANEL_PATHS } from '../../spec/paths.ts';
import { Html, html } from '../html.ts';
import type { View } from '../layout.ts';
import { type ApiOperation, type Document, listOperations } from './document.ts';
import { collectObjects, type Objects } from './objects.ts';
import type { Commands } from './samples.ts';

export interface Reference {
  readonly operations: readonly ApiOperation[];
  readonly objects: Objects;
  /** Names of the resources, in the document's order. */
  readonly tags: readonly string[];
  readonly commands: Commands;
}

/** The OpenAPI document, and openapi/samples.json. */
export function readReference(document: unknown, commands: unknown): Reference {
  const operations = listOperations(document as Document);
  return {
    operations,
    objects: collectObjects(operations),
    tags: [...new Set(operations.map(({ tag }) => tag))],
    commands: commands as Commands,
  };
}

/** What the document writes together is written apart. */
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

/** The last part of a resource's address. */
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

/** The way from here to the description of an object. */
export function objectLink(objects: Objects, name: string, from: string): Html {
  const tag = objects.get(name)?.tag ?? '';
  const page = tag === from ? '' : tagPath(tag);
  return html`<a href="${page}#${objectAnchor(name)}">${name.replaceAll('_', ' ')}</a>`;
}

export const API_BREADCRUMBS = [
  ['Documents', PANEL_PATHS.docs],
  ['REST API', DOCS_PATHS.api],
] as const;

/** The first page: how to begin, and every operation. */
export function referenceView(reference: Reference, baseUrl: string): View {
  const resources = reference.tags.map((tag) => {
    const rows = reference.operations
      .filter((operation) => operation.tag === tag)
      .map((operation) => html`<li>${operationLink(operation)}</li>\n`);
    return html`<section aria-labelledby="${tag}"><h3 id="${tag}"><a href="${tagPath(tag)}">${tagTitle(tag)}</a></h3>
<ul>${rows}</ul></section>\n`;
  });
  return {
    title: 'REST API',
    section: 'docs',
    breadcrumbs: [['Documents', PANEL_PATHS.docs]],
    body: html`<p>Everything that these pages do, over HTTP and JSON. Make a token under <a href="${PANEL_PATHS.account}">Account</a>, and keep it where your shell finds it:</p>
<pre tabindex="0"><code data-copy>export SKERRY_TOKEN='…'
curl ${baseUrl}/v1/servers -H "Authorization: Bearer $SKERRY_TOKEN"</code></pre>
<p>Read the <a href="${RULES_PATH}">common rules</a> once: errors, pages of lists, keys against doing things twice, rates. For programs there is the same as an
OpenAPI 3.1 document, <a href="/v1/openapi.json">/v1/openapi.json</a>, as a library <a href="${DOCS_PATHS.guides}/sdk">the SDK</a>, and in a terminal
<a href="${DOCS_PATHS.guides}/cli">the command line</a>: each page shows how all of them do it. What changed is in the <a href="${DOCS_PATHS.changelog}">changelog</a>.</p>
<h2 id="operations">Operations</h2>
<div class="columns">${resources}</div>`,
  };
}

/** `GET /v1/servers`, and what it does. */
function operationLink({ tag, id, method, path, summary }: ApiOperation): Html {
  return html`<a href="${tagPath(tag)}#${id}">${summary}</a> <code class="soft">${method} ${breakable(path)}</code>`;
}

/** A long path may go on in the next line. */
function breakable(path: string): Html {
  return html`${path.split('/').map((part, index) => html`${index > 0 && new Html('/<wbr>')}${part}`)}`;
}
