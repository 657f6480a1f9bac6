/**
 * The schema of a catalog file. Every part with a value has a `description` of the expected value, which
 * errors repeat. Decimals and versions are quoted, or YAML would read "24.10" as 24.1.
 */
import { type Static, type TSchema, Type } from 'typebox';
import { LIMITS } from '../../spec/limits.ts';
import { HOST_TAG_EXPECTED, HOST_TAG_PATTERN } from '../inventory/host-placement.ts';
import { NAME_PATTERN } from '../inventory/names.ts';

const patternText = (pattern: string, description: string) => Type.String({ pattern, description });
const integer = (minimum: number, maximum: number, description: string) =>
  Type.Integer({ minimum, maximum, description });
const oneOf = <const Word extends string>(list: readonly Word[]) =>
  Type.Enum([...list], { description: `one of ${list.join(', ')}` });
const strict = { additionalProperties: false, description: 'keys and values' };
const list = <Item extends TSchema>(item: Item, options: { minItems?: number } = {}) =>
  Type.Array(item, {
    ...options,
    description: options.minItems ? 'a list with at least one entry' : 'a list',
  });

const line = patternText('^[^\\s\\p{C}][^\\p{C}]{0,99}$', 'a text of 1 to 100 characters');
const regionId = patternText('^[a-z]{3}$', 'a code of three lowercase letters, such as par');
const planId = patternText(
  '^[a-z0-9][a-z0-9-]{0,31}$',
  'a plan id of lowercase letters, digits, and dashes, such as s1',
);
const date = patternText('^\\d{4}-\\d{2}-\\d{2}$', 'a date such as 2025-08-09');
const amount = integer(1, 2_000_000_000, 'a whole number above 0');
const name = patternText(
  NAME_PATTERN,
  'a name of lowercase letters, digits, dots, and dashes, at most 63 characters',
);
const tags = Type.Array(patternText(HOST_TAG_PATTERN, HOST_TAG_EXPECTED), {
  maxItems: LIMITS.hostTags,
  uniqueItems: true,
  description: `a list of up to ${LIMITS.hostTags} different tags`,
});
const block = patternText('^[0-9a-fA-F.:]+/\\d{1,3}$', 'a block such as 203.0.113.0/24 or 2001:db8::/56');
const address = patternText('^[0-9a-fA-F.:]+$', 'an address');

const Region = Type.Object(
  {
    id: regionId,
    session_code: regionId,
    name: line,
    country: patternText('^[A-Z]{2}$', 'a country code of two uppercase letters, such as FR'),
    pop_id: line,
    tor_onion: Type.Optional(Type.Union([line, Type.Null()], { description: 'an onion address or null' })),
    volume_storage: Type.Optional(oneOf(['local', 'shared'])),
    disk_storage: Type.Optional(oneOf(['local', 'shared'])),
  },
  strict,
);

const Plan = Type.Object(
  {
    id: planId,
    category: oneOf(['vps', 'dedicated']),
    cpu: amount,
    cpu_model: line,
    ram_mb: amount,
    disk_gb: amount,
    transfer_tb: patternText('^\\d{1,7}(\\.\\d{1,2})?$', 'tebibytes in quotes, such as "2" or "0.5"'),
    price_usd_month: patternText('^\\d{1,7}(\\.\\d{1,2})?$', 'US dollars in quotes, such as "7.35"'),
    backup_percent: Type.Optional(integer(0, 100, 'a percentage from 0 to 100, such as 20')),
    host_tags: Type.Optional(tags),
    regions: list(regionId),
  },
  strict,
);

const Image = Type.Object(
  {
    family: patternText('^[a-z][a-z0-9-]{0,30}$', 'lowercase letters, digits, and dashes, such as debian'),
    version: patternText('^[A-Za-z0-9][A-Za-z0-9.-]{0,30}$', 'a version in quotes, such as "12"'),
    variant: Type.Optional(Type.Union([line, Type.Null()], { description: 'a text or null' })),
    arch: list(oneOf(['amd64', 'arm64']), { minItems: 1 }),
    size_gb: patternText('^\\d{1,6}(\\.\\d{1,2})?$', 'GiB in quotes, such as "1.5"'),
    cloud_init: Type.Boolean({ description: 'true or false' }),
    released_at: date,
    deprecated_at: Type.Optional(Type.Union([date, Type.Null()], { description: 'a date or null' })),
    deprecated_days_ago: Type.Optional(integer(0, 365, 'a whole number of days')),
  },
  strict,
);

const reserve = integer(0, 2_000_000_000, 'a whole number of 0 or more');
const Host = Type.Object(
  {
    name,
    region: regionId,
    cpu: amount,
    ram_mb: amount,
    disk_gb: amount,
    tags: Type.Optional(tags),
    reserve_ram_mb: Type.Optional(reserve),
    reserve_disk_gb: Type.Optional(reserve),
  },
  strict,
);
const Machines = Type.Object(
  { region: regionId, plan: planId, prefix: name, count: integer(1, 1_000, 'a whole number from 1 to 1000') },
  strict,
);
const Block = Type.Object({ region: regionId, block, gateway: Type.Optional(address) }, strict);

export const CatalogueFile = Type.Object(
  {
    regions: list(Region, { minItems: 1 }),
    plans: list(Plan, { minItems: 1 }),
    images: list(Image, { minItems: 1 }),
    inventory: Type.Optional(
      Type.Object(
        {
          hosts: Type.Optional(list(Host)),
          machines: Type.Optional(list(Machines)),
          ip_blocks: Type.Optional(list(Block)),
        },
        strict,
      ),
    ),
  },
  strict,
);
export type CatalogueFile = Static<typeof CatalogueFile>;

/** A path into the file: keys and list positions. */
export type FilePath = readonly (string | number)[];

/** A problem at a place in the file. */
export interface CatalogueProblem {
  readonly path: FilePath;
  readonly message: string;
}

/** Describes the value expected at a place in the file. */
export function describeExpected(path: FilePath): string {
  return schemaAt(path).description ?? 'something else';
}

/** Returns the keys allowed at a place in the file. */
export function allowedKeys(path: FilePath): string[] {
  return Object.keys(schemaAt(path).properties ?? {});
}

interface Schema {
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
}

function schemaAt(path: FilePath): Schema {
  let schema: Schema | undefined = CatalogueFile as Schema;
  for (const step of path) schema = typeof step === 'number' ? schema?.items : schema?.properties?.[step];
  return schema ?? {};
}
