/** Samples as the reference shows them to a reader. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { openApiText } from '../../src/http/v1/openapi.ts';
import { type ApiOperation, type Document, listOperations } from '../../src/panel/reference/document.ts';
import { tagPath } from '../../src/panel/reference/reference.ts';
import type { Sample } from '../../src/panel/reference/samples.ts';
import { decodeEntities } from '../support/panel-html.ts';

export const REFERENCE_OPERATIONS: readonly ApiOperation[] = listOperations(
  JSON.parse(openApiText()) as Document,
);

/** The text of a sample within a piece of a page; empty when there is none. */
export function extractSample(part: string, key: Sample['key']): string {
  const match = new RegExp(`<div class="sample ${key}"><h3>[^<]*</h3>\\s*<pre[^>]*><code[^>]*>([^<]*)`).exec(
    part,
  );
  return decodeEntities(match?.[1] ?? '');
}

/** What a page says of one operation. */
export function operationSection(page: string, id: string): string {
  const at = page.indexOf(`<section aria-labelledby="${id}">`);
  assert.ok(at > 0, `${id} has no part of its own`);
  return page.slice(at, page.indexOf('</section>', at));
}

/** What the page of a resource shows of one operation, and once for all of them. */
export async function fetchSample(url: string, { id, tag }: ApiOperation, key: Sample['key']) {
  const response = await fetch(`${url}${tagPath(tag)}`);
  const page = await response.text();
  return { before: extractSample(page, key), sample: extractSample(operationSection(page, id), key) };
}

export interface CodeBlock {
  /** What stands behind the fence: `sh`, `js`. */
  readonly language: string;
  readonly text: string;
}

export function readGuide(name: string): string {
  return readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8');
}

/** The fenced blocks of a guide, or of the part of it below one heading; those of lists without their indent. */
export function codeBlocks(guide: string, heading?: string): readonly CodeBlock[] {
  const from = heading === undefined ? 0 : guide.indexOf(`\n## ${heading}\n`);
  assert.ok(from >= 0, `there is no part "${heading}"`);
  const to = heading === undefined ? -1 : guide.indexOf('\n## ', from + 1);
  const part = guide.slice(from, to < 0 ? undefined : to);
  return [...part.matchAll(/^( *)```(\w+)\n([\s\S]*?)^\1```/gm)].map(
    ([, indent = '', language = '', text = '']) => ({
      language,
      text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  );
}
