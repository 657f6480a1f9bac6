/** Images as one customer sees them: the offered official images, and their own. */
import type { Sql } from '../../kernel/sql.ts';
import type { PageRequest } from '../../spec/lists.ts';
import type { Reach } from '../../spec/token-limits.ts';
import type { ImageRow } from '../catalogue/catalogue.ts';
import { insideSql, reachValues } from '../customers/reach.ts';
import { type Page, type PageSource, readPage } from '../page.ts';

export interface VisibleImageRow extends Omit<ImageRow, 'active'> {
  readonly type: 'official' | 'custom';
  /** Only of custom images; null without a name. */
  readonly name: string | null;
}

const COLUMNS = `id, type, name, family, version, variant, arch, size_gb, cloud_init, released_at,
  deprecated_at`;

/** The customer, and the conditions for official images to be visible. */
export interface ImageViewer {
  readonly customerId: string;
  /** Images deprecated on this date or earlier are hidden. */
  readonly deprecationCutoff: string;
  /** Hides official images without an imported disk. */
  readonly importedOnly: boolean;
  /** The custom images that a limited token can reach. */
  readonly reach?: Reach | null | undefined;
}

const OFFICIAL = `type = 'official' and active
  and (deprecated_at is null or deprecated_at > $deprecationCutoff::date)
  and (base_sha256 is not null or not $importedOnly::boolean)`;
const OWN = `type = 'custom' and customer_id = $customerId and deleted_at is null`;

/** Two halves, so that each uses its own index, regardless of how many images other customers have. */
const VISIBLE = {
  columns: COLUMNS,
  from: `(select ${COLUMNS} from images where ${OFFICIAL} union all
          select ${COLUMNS} from images where ${OWN}) as shown`,
  where: 'true',
  // An id begins with its creation time.
  sorts: {
    id: { column: 'id', type: 'uuid' },
    created_at: { column: 'id', type: 'uuid' },
    name: { column: "coalesce(name, '')", type: 'text' },
  },
  filters: {
    family: { where: 'family = $family' },
    arch: { where: '$arch = any(arch)' },
    type: { where: 'type = $type' },
  },
} as const satisfies Omit<PageSource, 'values'>;

export async function pageVisibleImages(
  tx: Sql,
  viewer: ImageViewer,
  request: PageRequest,
): Promise<Page<VisibleImageRow>> {
  const { reach } = viewer;
  const isShown = `(type = 'official' or ${insideSql('customImage')})`;
  const source = reach
    ? { ...VISIBLE, where: isShown, values: { ...viewer, ...reachValues(reach) } }
    : { ...VISIBLE, values: viewer };
  return await readPage<VisibleImageRow>(tx, source, request);
}

export async function findVisibleImage(
  tx: Sql,
  viewer: ImageViewer,
  image: { readonly id: string; readonly type: 'official' | 'custom' },
): Promise<VisibleImageRow | undefined> {
  return await tx.row<VisibleImageRow>(
    `select ${COLUMNS} from images
      where id = $id and type = $type and ((${OFFICIAL}) or (${OWN}))`,
    { ...viewer, ...image },
  );
}
