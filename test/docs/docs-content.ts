/** Reads samples from the reference as a reader sees them. */
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

/** The code of a block as a reader copies it, without highlighting. */
export function codeText(block: string): string {
  const code = /<code[^>]*>([\s\S]*?)<\/code>/.exec(block)?.[1] ?? '';
  return decodeEntities(code.replace(/<[^>]+>/g, ''));
}

/** The text of a sample within a piece of a page; empty when there is none. */
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

/** Returns the setup of a page, and the sample of one operation. */
export async function fetchSample(url: string, { id, tag }: ApiOperation, key: Sample['key']) {
  const response = await fetch(`${url}${tagPath(tag)}`);
  const page = await response.text();
  return { before: extractSample(page, key), sample: extractSample(operationSection(page, id), key) };
}

export interface CodeBlock {
  /** As after the fence: `sh`, `js`. */
  readonly language: string;
  readonly text: string;
}

export function readGuide(name: string): string {
  return readFileSync(new URL(`../../docs/${name}.md`, import.meta.url), 'utf8');
}

/** Returns the fenced blocks of a guide, or of one of its sections. Blocks in lists lose their indent. */
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
