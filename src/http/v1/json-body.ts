/**
 * Request bodies of the REST surface: JSON only. Unreadable bodies are rejected here, before validation. Keys
 * and values stay exactly as sent, `__proto__` included.
 */
import type { FastifyInstance } from 'fastify';
import { InvalidRequest } from '../../kernel/fail.ts';
import { LIMITS } from '../../spec/limits.ts';

const DEPTH_MAX = 16;

export function registerJsonParser(scope: FastifyInstance): void {
  scope.removeAllContentTypeParsers();
  const options = { parseAs: 'string', bodyLimit: LIMITS.jsonBodyMaxBytes } as const;
  scope.addContentTypeParser('application/json', options, async (_request: unknown, text: string) =>
    parseJson(text),
  );
  scope.addContentTypeParser('*', options, async (_request: unknown, text: string) => {
    if (text === '') return undefined;
    throw new InvalidRequest([], 'Set the Content-Type of the body to application/json.');
  });
}

/** Returns undefined for an empty text. */
export function parseJson(text: string): unknown {
  if (text === '') return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    const position = / at position (\d+)/.exec(String(error))?.[1];
    // The parser's own message repeats parts of the body.
    throw new InvalidRequest(
      [],
      `The body is not valid JSON${position ? `. See position ${position}` : ''}.`,
    );
  }
  requireStorable(value, [], 0);
  return value;
}

/** Rejects text that the database cannot store, with its place, and nesting deeper than any schema needs. */
function requireStorable(value: unknown, path: readonly string[], depth: number): void {
  if (depth > DEPTH_MAX) throw new InvalidRequest([], 'The body is nested too deeply.');
  if (typeof value === 'string' && !isStorable(value)) rejectText(path);
  if (typeof value !== 'object' || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    if (!isStorable(name)) rejectText(path);
    requireStorable(inner, [...path, name], depth + 1);
  }
}

/** Whether the database can store the text: no NUL and no lone surrogate. */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

function rejectText(path: readonly string[]): never {
  throw new InvalidRequest([{ field: path.join('.'), issue: 'invalid_format' }]);
}
