/** Samples as the reference shows them to a reader. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { openApiText } from '../../src/http/v1/openapi.ts';
import { type ApiOperation, type Document, operationsOf } from '../../src/panel/reference/document.ts';
import { tagPath } from '../../src/panel/reference/reference.ts';
import type { Sample } from '../../src/panel/reference/samples.ts';
import { decode } from '../support/panel-html.ts';

export const SHOWN_OPERATIONS: readonly ApiOperation[] = operationsOf(JSON.parse(openApiText()) as Document);

/** The text of a sample within a piece of a page; empty when there is none. */
export function sampleIn(part: string, key: Sample['key']): string {
  const found = new RegExp(`<div class="sample ${key}"><h3>[^<]*</h3>\\s*<pre[^>]*><code[^>]*>([^<]*)`).exec(
    part,
  );
  return decode(found?.[1] ?? '');
}

/** What a page says of one operation. */
export function partIn(page: string, id: string): string {
  const at = page.indexOf(`<section aria-labelledby="${id}">`);
  assert.ok(at > 0, `${id} has no part of its own`);
  return page.slice(at, page.indexOf('</section>', at));
}

/** What the page of a resource shows of one operation, and once for all of them. */
export async function shownAt(url: string, { id, tag }: ApiOperation, key: Sample['key']) {
  const response = await fetch(`${url}${tagPath(tag)}`);
  const page = await response.text();
  return { before: sampleIn(page, key), sample: sampleIn(partIn(page, id), key) };
}

export interface Block {
  /** What stands behind the fence: `sh`, `js`. */
  readonly language: string;
  readonly text: string;
}

export function guideText(name: string): string {
  return readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8');
}

/** The fenced blocks of a guide, or of the part of it below one heading; those of lists without their indent. */
export function blocksOf(guide: string, heading?: string): readonly Block[] {
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
