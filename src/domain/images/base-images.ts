/** Official images as disks: the operator imports them where the driver installs from such. */
import { formatId } from '../../kernel/ids.ts';
import { OperatorError } from '../../kernel/operator-error.ts';
import { type BaseImage, type BaseImages, ComputeError } from '../../ports/compute.ts';
import { type BaseImageRow, listBaseImages, setBaseImage } from '../../store/base-images.ts';
import { type ImageRow, listPlans } from '../../store/catalogue.ts';
import { findImageForOs } from '../catalogue/image-for-os.ts';
import type { Service } from '../context.ts';
import { recordAudit, systemActor } from '../record.ts';

export interface BaseImageImport {
  readonly path: string;
  /** In lower-case hex, when the operator knows what it must be. */
  readonly sha256: string | null;
  /** The official image that is installed from it, as the session surface names images, or by its id. */
  readonly image: string | null;
  /** Whether rescue systems boot it from now on. */
  readonly rescue: boolean;
}

export interface ImportedBaseImage {
  readonly disk: BaseImage;
  readonly image: ImageRow | null;
  /** Ids of the plans that cannot have the image: their disks are smaller. `all`: no plan can. */
  readonly tooLargeFor: readonly string[] | 'all';
}

/** Refuses a file that is no disk or another than expected, an image that there is not, and a driver that needs none. */
export async function importBaseImage(service: Service, wanted: BaseImageImport): Promise<ImportedBaseImage> {
  const images = requireBaseImages(service);
  const image = wanted.image === null ? null : await requireImage(service, wanted.image);
  const disk = await refuseOnComputeError(images.add(wanted.path, { sha256: wanted.sha256 }));
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

export interface BaseImageList {
  readonly images: readonly BaseImageRow[];
  readonly rescue: BaseImage | null;
}

export async function getBaseImages(service: Service): Promise<BaseImageList> {
  const rescue = await requireBaseImages(service).rescue();
  return { images: await listBaseImages(service.db), rescue };
}

function requireBaseImages({ compute }: Service): BaseImages {
  if (compute.images !== null) return compute.images;
  throw new OperatorError(
    'the simulator installs nothing, so there is nothing to import: set SKERRY_COMPUTE=qemu',
  );
}

async function requireImage(service: Service, os: string): Promise<ImageRow> {
  const image = await findImageForOs(service.db, os);
  if (image) return image;
  throw new OperatorError(
    'there is no such image in the catalogue, or it is deprecated: see skerryd images list',
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
