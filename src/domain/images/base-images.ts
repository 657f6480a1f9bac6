/**
 * Base images: the disks of official images, which the operator imports for drivers that install from them.
 */
import { formatId } from '../../kernel/ids.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { type BaseImage, type BaseImages, ComputeError } from '../../ports/compute.ts';
import { type ImageRow, listPlans } from '../../store/catalogue/catalogue.ts';
import { type BaseImageRow, listBaseImages, setBaseImage } from '../../store/images/images.ts';
import { findImageForOs } from '../catalogue/offers.ts';
import type { Service } from '../context.ts';
import { recordAudit, systemActor } from '../record.ts';

interface BaseImageImport {
  readonly path: string;
  /** Expected digest in lowercase hex, if the operator knows it. */
  readonly sha256: string | null;
  /** The official image to install from it, by its name on the session surface or by its id. */
  readonly image: string | null;
  /** Whether rescue systems boot from it from now on. */
  readonly rescue: boolean;
}

export interface ImportedBaseImage {
  readonly disk: BaseImage;
  readonly image: ImageRow | null;
  /** Ids of the plans whose disks are too small for the image; `all` if no plan fits. */
  readonly tooLargeFor: readonly string[] | 'all';
}

/**
 * Refuses a file that is not the expected disk, an unknown image, a driver that needs no base images, and one
 * disk for both an image and the rescue system.
 */
export async function importBaseImage(service: Service, wanted: BaseImageImport): Promise<ImportedBaseImage> {
  const images = requireBaseImages(service);
  const image = wanted.image === null ? null : await requireImage(service, wanted.image);
  const disk = await refuseOnComputeError(images.add(wanted.path, { sha256: wanted.sha256 }));
  if (wanted.rescue) await requireOwnDisk(service, disk);
  else await requireNotRescue(images, disk);
  const now = service.clock.now();
  const actor = systemActor(now);
  if (image !== null) {
    await service.db.transaction(async (tx) => {
      await setBaseImage(tx, image.id, disk);
      await recordAudit(tx, { actor, action: 'image.import', resource: formatId('image', image.id) }, now);
    });
  }
  if (wanted.rescue) {
    await refuseOnComputeError(images.setRescue(disk.sha256));
    await recordAudit(service.db, { actor, action: 'image.import', resource: 'rescue' }, now);
  }
  return { disk, image, tooLargeFor: image === null ? [] : await plansWithSmallerDisk(service, disk.diskGb) };
}

export async function getBaseImages(
  service: Service,
): Promise<{ readonly images: readonly BaseImageRow[]; readonly rescue: BaseImage | null }> {
  const rescue = await requireBaseImages(service).rescue();
  return { images: await listBaseImages(service.db), rescue };
}

function requireBaseImages({ compute }: Service): BaseImages {
  if (compute.images !== null) return compute.images;
  throw new OperatorError(
    'the simulator needs no base images: set SKERRY_COMPUTE to qemu or hosts to install real machines',
  );
}

async function requireImage(service: Service, os: string): Promise<ImageRow> {
  const image = await findImageForOs(service.db, os);
  if (image) return image;
  throw new OperatorError(
    'image not found in the catalog, or deprecated: run skerryd images list to see the images',
  );
}

/**
 * A rescue system runs next to the disk of the server. With the same disk image, both have the same file
 * system IDs, so it could start the server's system instead.
 */
async function requireOwnDisk({ db }: Service, { sha256 }: BaseImage): Promise<void> {
  const taken = (await listBaseImages(db)).find((image) => image.base_sha256 === sha256);
  if (!taken) return;
  throw new OperatorError(
    `${taken.family}-${taken.version} installs from this disk, and the rescue system needs a disk of its ` +
      'own: import another one with --rescue',
  );
}

async function requireNotRescue(images: BaseImages, { sha256 }: BaseImage): Promise<void> {
  if ((await images.rescue())?.sha256 !== sha256) return;
  throw new OperatorError(
    'rescue systems boot this disk, and an image needs a disk of its own: import another one with --image',
  );
}

async function plansWithSmallerDisk(service: Service, diskGb: number): Promise<readonly string[] | 'all'> {
  const plans = (await listPlans(service.db)).filter(({ active, category }) => active && category === 'vps');
  const below = plans.filter((plan) => plan.disk_gb < diskGb).map(({ id }) => id);
  return plans.length > 0 && below.length === plans.length ? 'all' : below;
}

async function refuseOnComputeError<T>(work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof ComputeError) throw new OperatorError(error.message);
    throw error;
  }
}
