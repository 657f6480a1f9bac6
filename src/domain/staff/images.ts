/** Images as staff read them: the official ones with their disks, and those of customers. */
import { formatId, parseId } from '../../kernel/ids.ts';
import { type BaseImageRow, listBaseImages } from '../../store/images/images.ts';
import { listOperatorImages, type OperatorImageRow } from '../../store/images/operator.ts';
import type { Service } from '../context.ts';
import { requireCustomer } from '../customers/operator.ts';
import { readDistribution } from '../images/distribute.ts';

export type BaseImageObject = ReturnType<typeof toBaseImageObject>;
export type CustomImageObject = ReturnType<typeof toCustomImageObject>;

type Counts = Awaited<ReturnType<typeof readDistribution>>['counts'];

/** Simulated machines have no disks. */
export async function listImageObjects(service: Pick<Service, 'db'>): Promise<BaseImageObject[]> {
  const images = await listBaseImages(service.db);
  const { counts, unfinished } = await readDistribution(service);
  return images.map((row) => toBaseImageObject(row, counts, unfinished));
}

function toBaseImageObject(
  row: BaseImageRow,
  counts: Counts,
  unfinished: readonly { readonly image: string; readonly host: string; readonly progress: string }[],
) {
  const name = `${row.family}-${row.version}`;
  const count = row.base_sha256 === null ? undefined : counts.get(row.base_sha256);
  return {
    object: 'image' as const,
    id: formatId('image', row.id),
    name: row.variant === null ? name : `${name}-${row.variant}`,
    sha256: row.base_sha256,
    disk_gb: row.base_disk_gb,
    deprecated: row.deprecated,
    /** Other machines that have its disk, and that should have it. */
    hosts_ready: count?.ready ?? 0,
    hosts_wanted: count?.all ?? 0,
    /** Such as `par-2: 12/400 MB`. */
    transfers: unfinished
      .filter(({ image }) => image === name)
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
