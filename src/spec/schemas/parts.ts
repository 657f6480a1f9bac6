/** Schema parts shared by all resources. */
import { type Static, type TSchema, type TUnsafe, Type } from 'typebox';
import { LIMITS } from '../limits.ts';
import { PATTERNS } from '../patterns.ts';

/** A string from a closed list. */
export function oneOf<const Words extends readonly string[]>(
  words: Words,
  about: { readonly description?: string } = {},
): TUnsafe<Words[number]> & { type: 'string' } {
  return { ...Type.Unsafe<Words[number]>({ type: 'string', enum: [...words], ...about }), type: 'string' };
}

/**
 * A field that may be null. Responses never omit a field, so clients need not check for its presence. One
 * schema with two types: serializers and readers handle it better than a union.
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

/** A public id: a type prefix and opaque letters. Never parse it. */
export const Id = (prefix: string) =>
  Type.String({ examples: [`${prefix}aaaqk3m7qzb5x2l6v4t7n8wyja`], description: 'Opaque.' });

/** A name that a customer gives a resource. SPEC calls it a display name: only the ID identifies. */
export const DisplayName = Type.String({
  minLength: 1,
  maxLength: LIMITS.nameMaxChars,
  description: 'Need not be unique.',
});

const DELETE_PROTECTION = Type.Boolean({ description: 'Refuses DELETE with 409.' });
const REBUILD_PROTECTION = Type.Boolean({ description: 'Refuses rebuild and restore with 409.' });

/** Protection of a resource against deletion (`protection`). */
export const Protection = Type.Object({ delete: DELETE_PROTECTION });

/** Changes only the members that it names. */
export const ProtectionPatch = Type.Object(
  { delete: Type.Optional(DELETE_PROTECTION) },
  { additionalProperties: false },
);

/** Protection of a server, also of its disk. */
export const ServerProtection = Type.Object({ delete: DELETE_PROTECTION, rebuild: REBUILD_PROTECTION });
export const ServerProtectionPatch = Type.Object(
  { delete: Type.Optional(DELETE_PROTECTION), rebuild: Type.Optional(REBUILD_PROTECTION) },
  { additionalProperties: false },
);
export const Labels = Type.Record(
  Type.String({ pattern: PATTERNS.labelKey.pattern }),
  Type.String({ maxLength: LIMITS.labelValueMaxChars, pattern: PATTERNS.printable.pattern }),
  {
    additionalProperties: false,
    maxProperties: LIMITS.labelPairsMax,
    description: 'Key-value pairs. Replaces the whole set.',
    examples: [{ env: 'prod' }],
  },
);

/** Pairs of labels that must all match, as `parseLabelSelector` reads them. */
export const LabelSelector = Type.String({
  maxLength: LIMITS.labelSelectorMaxChars,
  examples: ['env=ci,team=web'],
});

/** Labels in a response. */
export const ShownLabels = Type.Record(Type.String(), Type.String());

/** US dollars with two decimals. */
export const Usd = Type.Number({ description: 'US dollars, two decimals.' });

/** How a request that is charged limits its price. */
export const PRICE_LIMITS = {
  quote: Type.Optional(
    Type.String({ description: 'Id of a quote. Above its price, nothing is charged (409).' }),
  ),
  max_price_usd: Type.Optional(
    Type.Number({ minimum: 0, description: 'Above this price in US dollars, nothing is charged (409).' }),
  ),
};
