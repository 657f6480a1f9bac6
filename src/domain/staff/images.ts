/** Images as staff read them: the official ones with their disks, and those of customers. */
import { formatId, parseId } from '../../kernel/ids.ts';
import { countUsers, type ImageRow, listOfficialImages } from '../../store/catalogue/catalogue.ts';
import { type BaseImageRow, listBaseImages } from '../../store/images/images.ts';
import { listOperatorImages, type OperatorImageRow } from '../../store/images/operator.ts';
import { imageName, requireOfficialImage } from '../catalogue/images.ts';
import type { Service } from '../context.ts';
import { requireCustomer } from '../customers/operator.ts';
import { readDistribution } from '../images/distribute.ts';

export type BaseImageObject = ReturnType<typeof toBaseImageObject>;
export type CustomImageObject = ReturnType<typeof toCustomImageObject>;

type Counts = Awaited<ReturnType<typeof readDistribution>>['counts'];

/** Also retired ones. Simulated machines have no disks. */
export async function listImageObjects(service: Pick<Service, 'db'>): Promise<BaseImageObject[]> {
  const disks = new Map((await listBaseImages(service.db)).map((row) => [row.id, row]));
  const { counts, unfinished } = await readDistribution(service);
  const images = await listOfficialImages(service.db);
  return images.map((row) => toBaseImageObject(row, disks.get(row.id), counts, unfinished));
}

/** Finds it by `img_…` or its name. Fails with an OperatorError. */
export async function readImageObject(
  service: Pick<Service, 'db'>,
  name: string,
): Promise<BaseImageObject & { readonly servers: number; readonly customers: number }> {
  const row = await requireOfficialImage(service.db, name);
  const id = formatId('image', row.id);
  const found = (await listImageObjects(service)).find((image) => image.id === id);
  if (!found) throw new Error('a listed image was not found');
  const users = await countUsers(service.db, { kind: 'images', id: row.id });
  return { ...found, servers: Number(users.servers), customers: Number(users.customers) };
}

function toBaseImageObject(
  row: ImageRow,
  disk: BaseImageRow | undefined,
  counts: Counts,
  unfinished: readonly { readonly image: string; readonly host: string; readonly progress: string }[],
) {
  const sha256 = disk?.base_sha256 ?? null;
  const count = sha256 === null ? undefined : counts.get(sha256);
  return {
    object: 'image' as const,
    id: formatId('image', row.id),
    name: imageName(row),
    arch: row.arch,
    size_gb: row.size_gb,
    cloud_init: row.cloud_init,
    released_at: row.released_at,
    deprecated_at: row.deprecated_at,
    /** False: it is retired. */
    active: row.active,
    sha256,
    disk_gb: disk?.base_disk_gb ?? null,
    deprecated: row.deprecated_at !== null,
    /** Other machines that have its disk, and that should have it. */
    hosts_ready: count?.ready ?? 0,
    hosts_wanted: count?.all ?? 0,
    /** Such as `par-2: 12/400 MB`. */
    transfers: unfinished
      .filter(({ image }) => image === `${row.family}-${row.version}`)
      .map(({ host, progress }) => `${host}: ${progress}`),
  };
}

export interface CustomImageQuery {
  /** An email address, or `cus_…`. */
  readonly customer?: string;
  /** `custom_…`: only older images. */
  readonly before?: string;
  readonly limit: number;
}

/** Newest first, and whether there are more. A malformed id matches nothing. */
export async function listCustomImageObjects(
  { db }: Pick<Service, 'db'>,
  { customer, before, limit }: CustomImageQuery,
): Promise<{ readonly images: readonly CustomImageObject[]; readonly hasMore: boolean }> {
  const beforeId = before === undefined ? undefined : parseId('customImage', before);
  if (before !== undefined && beforeId === undefined) return { images: [], hasMore: false };
  const filter = {
    ...(customer !== undefined && { customerId: (await requireCustomer(db, customer)).id }),
    ...(beforeId !== undefined && { beforeId }),
  };
  const rows = await listOperatorImages(db, filter, limit + 1);
  return { images: rows.slice(0, limit).map(toCustomImageObject), hasMore: rows.length > limit };
}

function toCustomImageObject(row: OperatorImageRow) {
  return {
    object: 'custom_image' as const,
    id: formatId('customImage', row.id),
    name: row.name,
    customer: row.email,
    size_bytes: Number(row.size_bytes),
    servers: Number(row.servers),
  };
}
