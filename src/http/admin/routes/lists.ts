/** Parts of the schemas and answers of lists. */
import { Type } from 'typebox';
import { STAFF_LIMITS } from '../../../spec/staff/roles.ts';

export const CLOSED = { additionalProperties: false } as const;

/** One line with a visible character. */
export const ONE_LINE = { minLength: 1, pattern: '^\\P{C}*[^\\p{C}\\s]\\P{C}*$' } as const;

const LIST_MAX = 200;

export const LIMIT = Type.Optional(
  Type.Integer({ minimum: 1, maximum: LIST_MAX, description: `Default: ${STAFF_LIMITS.pageSize}.` }),
);

export function pageSize(limit: number | undefined): number {
  return limit ?? STAFF_LIMITS.pageSize;
}

/** The answer of a list, newest first. */
export function listOf(data: readonly object[], hasMore: boolean): object {
  return { object: 'list', data, has_more: hasMore };
}

/** Omits members without a value. */
export function given<Members extends object>(
  members: Members,
): { [Name in keyof Members]?: NonNullable<Members[Name]> } {
  return Object.fromEntries(
    Object.entries(members).filter(([, value]) => value !== undefined && value !== ''),
  ) as {
    [Name in keyof Members]?: NonNullable<Members[Name]>;
  };
}
