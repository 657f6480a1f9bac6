/** Samples as the API reference displays them, and the contents of guides. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { openApiText } from '../../src/http/v1/openapi/document.ts';
import { type ApiOperation, type Document, listOperations } from '../../src/panel/docs/reference/document.ts';
import { tagPath } from '../../src/panel/docs/reference/reference.ts';
import type { Sample } from '../../src/panel/docs/reference/samples.ts';
import { decodeEntities } from '../support/panel-html.ts';

export const REFERENCE_OPERATIONS: readonly ApiOperation[] = listOperations(
  JSON.parse(openApiText()) as Document,
);

/** The code of a block as a reader copies it, without highlighting. */
export function codeText(block: string): string {
  const code = /<code[^>]*>([\s\S]*?)<\/code>/.exec(block)?.[1] ?? '';
  return decodeEntities(code.replace(/<[^>]+>/g, ''));
}

/** Returns the text of a sample in part of a page; empty if it has none. */
export function extractSample(part: string, key: Sample['key']): string {
  const block = new RegExp(`<div class="sample ${key}"><h3>[^<]*</h3>\\s*(<pre[\\s\\S]*?</pre>)`).exec(part);
  return codeText(block?.[1] ?? '');
}

/** Returns the section of one operation. */
export function operationSection(page: string, id: string): string {
  const at = page.indexOf(`<section aria-labelledby="${id}">`);
  assert.ok(at > 0, `${id} has no section`);
  return page.slice(at, page.indexOf('</section>', at));
}

/** Returns the sample of one operation from its resource page, and the preamble that all of them share. */
export async function fetchSample(url: string, { id, tag }: ApiOperation, key: Sample['key']) {
  const response = await fetch(`${url}${tagPath(tag)}`);
  const page = await response.text();
  return { before: extractSample(page, key), sample: extractSample(operationSection(page, id), key) };
}

export interface CodeBlock {
  /** The language of the fence, such as `sh` or `js`. */
  readonly language: string;
  readonly text: string;
}

export function readGuide(name: string): string {
  return readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8');
}

/** Returns the code blocks of a guide or of one section, without the indentation of blocks in lists. */
export function codeBlocks(guide: string, heading?: string): readonly CodeBlock[] {
  const from = heading === undefined ? 0 : guide.indexOf(`\n## ${heading}\n`);
  assert.ok(from >= 0, `section "${heading}" not found`);
  const to = heading === undefined ? -1 : guide.indexOf('\n## ', from + 1);
  const part = guide.slice(from, to < 0 ? undefined : to);
  return [...part.matchAll(/^( *)```(\w+)\n([\s\S]*?)^\1```/gm)].map(
    ([, indent = '', language = '', text = '']) => ({
      language,
      text: text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  );
}
