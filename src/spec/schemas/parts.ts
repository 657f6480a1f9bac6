/** What the fields of all resources are made of. */
import { type Static, type TSchema, type TUnsafe, Type } from 'typebox';

/** A word of a closed list. */
export function oneOf<const Words extends readonly string[]>(
  words: Words,
  about: { readonly description?: string } = {},
): TUnsafe<Words[number]> & { type: 'string' } {
  return { ...Type.Unsafe<Words[number]>({ type: 'string', enum: [...words], ...about }), type: 'string' };
}

/**
 * A field that may be null: nothing is left out of an answer, so clients need not ask whether it is there. One schema
 * with two types, which serializers and readers take better than a union.
 */
export function nullable<T extends TSchema & { type: string }>(schema: T): TUnsafe<Static<T> | null> {
  const { enum: words } = schema as { enum?: readonly unknown[] };
  return Type.Unsafe<Static<T> | null>({
    ...schema,
    type: [schema.type, 'null'],
    ...(words ? { enum: [...words, null] } : {}),
  });
}

/** An RFC 3339 time in UTC. */
export const Time = Type.String({ format: 'date-time', examples: ['2026-01-31T12:00:00Z'] });

/** A shown id: its type's prefix and opaque letters, never to be parsed. */
export const Id = (prefix: string) =>
  Type.String({ examples: [`${prefix}aaaqk3m7qzb5x2l6v4t7n8wyja`], description: 'Opaque.' });

/** US dollars with two decimals. */
export const Usd = Type.Number({ description: 'US dollars, two decimals.' });

/** Pattern of a text without controls, line ends and invisible characters: kernel/printable.ts as a schema says it. */
export const PRINTABLE = '^[^\\p{C}\\p{Zl}\\p{Zp}]*$';
