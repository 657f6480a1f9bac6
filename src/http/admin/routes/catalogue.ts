/** Changes of plans, regions, and official images. The rules of catalog files check the values. */
import { type TProperties, type TSchema, Type } from 'typebox';
import { applyEdit, previewEdit } from '../../../domain/catalogue/edit.ts';
import { type EntryFields, editFor } from '../../../domain/catalogue/edits.ts';
import { imageName } from '../../../domain/catalogue/images.ts';
import { readPlanObject, readRegionObject } from '../../../domain/catalogue/plans.ts';
import type { Service } from '../../../domain/context.ts';
import { readImageObject } from '../../../domain/staff/images.ts';
import { invalidRequest } from '../../../kernel/fail.ts';
import { LIMITS } from '../../../spec/limits.ts';
import { CATALOGUE_EDITS, type CatalogueEditOperation } from '../../../spec/staff/catalogue.ts';
import { createChecker } from '../../v1/validation.ts';
import { type AdminRoute, adminRoute } from '../route.ts';
import { CLOSED } from './lists.ts';

const text = (title: string, description: string, maxLength = 100) =>
  Type.String({ minLength: 1, maxLength, title, description });
const clearable = (title: string, description: string) =>
  Type.Optional(Type.String({ minLength: 0, maxLength: 100, title, description }));
const amount = (title: string, description?: string) =>
  Type.Integer({
    ...{ minimum: 1, maximum: 2_000_000_000, title },
    ...(description !== undefined && { description }),
  });
const words = (title: string, description: string) =>
  Type.Array(Type.String({ minLength: 1, maxLength: 32 }), { maxItems: 100, title, description });
const storage = (title: string) =>
  Type.Optional(
    Type.Enum(['local', 'shared'], { title, description: 'Shared: in a cluster, if the region has one.' }),
  );

const PLAN = {
  category: Type.Enum(['vps', 'dedicated'], { title: 'Kind' }),
  cpu: amount('Cores'),
  cpu_model: text('CPU', 'Its name, such as AMD EPYC 9354P.'),
  ram_mb: amount('Memory', 'In MiB.'),
  disk_gb: amount('Disk', 'In GiB.'),
  transfer_tb: text('Traffic', 'TiB per month, such as 2 or 0.5.', 12),
  backup_percent: Type.Optional(
    Type.Integer({
      ...{ minimum: 0, maximum: 100, title: 'Price of backups' },
      description: 'In percent of the price. 0: they are free.',
    }),
  ),
  host_tags: Type.Optional(
    words('Tags', `Up to ${LIMITS.hostTags} tags that a host needs. Not for dedicated.`),
  ),
  regions: Type.Optional(words('Regions', 'Where it is sold, such as par fra. Empty: nowhere.')),
};
const PLAN_PRICE = { price_usd_month: text('Price', 'US dollars per month, such as 7.35.', 12) };

const REGION = {
  session_code: text('Session code', 'Three lowercase letters. Usually the same as the code.', 3),
  name: text('Name', 'Customers see it, such as Paris.'),
  country: text('Country', 'Two uppercase letters, such as FR.', 2),
  pop_id: text('Location', 'Such as PAR1.'),
  tor_onion: clearable('Onion address', 'Empty: none.'),
  volume_storage: storage('Storage of volumes'),
  disk_storage: storage('Storage of disks'),
};

const IMAGE = {
  arch: Type.Array(Type.String({ maxLength: 10 }), {
    ...{ maxItems: 2, title: 'Architectures' },
    description: 'amd64, arm64, or both.',
  }),
  size_gb: text('Size', 'In GiB, such as 1.5.', 12),
  cloud_init: Type.Boolean({ title: 'It has cloud-init' }),
  released_at: text('Released', 'A date such as 2025-08-09.', 10),
  deprecated_at: clearable('Deprecated', 'A date: no new servers with it. Empty: it is not deprecated.'),
};
const IMAGE_NAME = {
  family: text('Family', 'Such as debian.', 31),
  version: text('Version', 'Such as 13 or 24.04.', 31),
  variant: clearable('Variant', 'Such as minimal. Empty: none.'),
};

const FIELDS: Readonly<Record<CatalogueEditOperation, TProperties>> = {
  'plans.create': { id: text('Id', 'Such as s1. It cannot change.', 32), ...PLAN, ...PLAN_PRICE },
  'plans.change': optional(PLAN),
  'plans.retire': {},
  'plans.restore': {},
  'regions.create': {
    id: text('Code', 'Three lowercase letters, such as par. It cannot change.', 3),
    ...REGION,
  },
  'regions.change': optional(REGION),
  'regions.close': {},
  'regions.open': { plans: Type.Optional(words('Plans', 'Ids of the plans that are sold there again.')) },
  'images.create': { ...IMAGE_NAME, ...IMAGE },
  'images.change': optional(IMAGE),
  'images.retire': {},
  'images.restore': {},
};

function optional(fields: Readonly<Record<string, TSchema>>): TProperties {
  return Object.fromEntries(Object.entries(fields).map(([name, schema]) => [name, Type.Optional(schema)]));
}

const PREVIEW = Type.Optional(
  Type.String({
    maxLength: 16,
    description: 'The code of the preview that you saw. Another difference is refused.',
  }),
);

function entryOf(operation: CatalogueEditOperation, body: EntryFields): EntryFields {
  return Object.fromEntries(Object.entries(body).filter(([name]) => Object.hasOwn(FIELDS[operation], name)));
}

const READS: Readonly<Record<string, (service: Service, id: string) => Promise<object>>> = {
  plans: readPlanObject,
  regions: readRegionObject,
  images: readImageObject,
};

function editRoute(operation: CatalogueEditOperation): AdminRoute {
  const [kind = '', act] = operation.split('.');
  const isNew = act === 'create';
  return adminRoute({
    ...{ id: operation, method: 'POST', path: isNew ? `/${kind}` : `/${kind}/{id}/${act}` },
    ...(isNew && { status: 201 }),
    body: Type.Object({ ...FIELDS[operation], preview: PREVIEW }, CLOSED),
    run: async ({ service, params, body }) => {
      const { preview, ...rest } = body as EntryFields & { readonly preview?: string };
      const fields = entryOf(operation, rest);
      const { id = newId(kind, fields) } = params as { readonly id?: string };
      await applyEdit(service, await editFor(service.db, operation, { id, fields }), preview);
      return await READS[kind]?.(service, id);
    },
  });
}

function newId(kind: string, { id, family, version, variant }: EntryFields): string {
  if (kind !== 'images') return String(id);
  return imageName({
    family: String(family),
    version: String(version),
    variant: variant ? String(variant) : null,
  });
}

const checkers = new Map(
  CATALOGUE_EDITS.map((operation) => [operation, createChecker(Type.Object(FIELDS[operation], CLOSED))]),
);

export const CATALOGUE_ROUTES: readonly AdminRoute[] = [
  ...CATALOGUE_EDITS.map(editRoute),
  adminRoute({
    id: 'catalogue.preview',
    method: 'POST',
    path: '/catalogue/preview',
    body: Type.Object(
      {
        operation: Type.Enum([...CATALOGUE_EDITS]),
        id: Type.Optional(Type.String({ maxLength: 100, description: 'Of the entry. Not for a new one.' })),
        change: Type.Optional(
          Type.Object(
            {},
            { additionalProperties: true, description: 'The body of the operation, without its reason.' },
          ),
        ),
      },
      CLOSED,
    ),
    run: async ({ service, body: { operation, id = '', change = {} } }) => {
      const items = checkers.get(operation)?.(change) ?? [];
      if (items.length > 0) invalidRequest(items);
      return await previewEdit(
        service,
        await editFor(service.db, operation, { id, fields: change as EntryFields }),
      );
    },
  }),
];
