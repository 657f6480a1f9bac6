/** Compares a server's disk: its user data, and its image, which a file names by ID, version, or family. */
import type { Actual, ActualImage, ActualServer, ActualVolume } from '../actual.ts';
import { orderKey } from '../backups.ts';
import { type Desired, isWanted, type Placed, type WantedServer } from '../desired.ts';
import type { Fault } from '../faults.ts';
import { isImageId, matchesImage, namedSnapshots } from '../images.ts';
import { initialLabels, USER_DATA_LABEL } from '../labels.ts';
import type { Action } from './plan.ts';

interface ServerOrder {
  readonly action: Extract<Action, { do: 'create_server' }> | undefined;
  /** `debian-13`, or `snapshot golden`. */
  readonly image: string;
  readonly faults: readonly Fault[];
}

/** Returns the order of a new server, or the reasons why it is not possible. */
export function orderServer(
  wanted: Placed<WantedServer>,
  actual: Actual,
  desired: Desired,
  months: number,
): ServerOrder {
  const faults: Fault[] = [];
  const { place } = wanted;
  const plan = actual.plans.find(({ id }) => id === wanted.plan);
  const region = actual.regions.find(({ id }) => id === wanted.region);
  const usage = (field: string, message: string) =>
    faults.push({ place: `${place}.${field}`, message, exit: 'usage' });
  if (!plan) usage('plan', `plan "${wanted.plan}" not found; see \`skerry plan list\``);
  if (!region) usage('region', `region "${wanted.region}" not found; see \`skerry region list\``);
  if (plan && region && !plan.available_in.includes(region.id)) {
    const where = plan.available_in.length > 0 ? `; available in ${plan.available_in.join(', ')}` : '';
    const message = `plan ${plan.id} is unavailable in ${region.id}${where}`;
    faults.push({ place: `${place}.plan`, message, exit: 'refused' });
  }
  const { image, faults: imageFaults } = resolveSource(wanted, actual);
  faults.push(...imageFaults);
  const price = plan?.cycles.find(({ billing_months }) => billing_months === months);
  if (plan && !price) usage('billing_months', `plan ${plan.id} has no billing cycle of ${months} months`);
  const action =
    faults.length === 0 && image && price
      ? ({
          do: 'create_server',
          server: wanted,
          image: image.id,
          labels: initialLabels(wanted, desired.project),
          volumes: orderedVolumes(wanted.name, desired, actual),
          groups: desired.groups
            .filter((group) => isWanted(group) && group.servers?.includes(wanted.name))
            .map(({ name }) => name),
          months: price.billing_months,
          priceUsd: orderPrice(wanted, price, actual),
        } as const)
      : undefined;
  return { action, image: image?.title ?? wanted.image, faults };
}

function orderPrice(
  { plan, region, backups }: WantedServer,
  { billing_months: months, price_usd: usd }: Actual['plans'][number]['cycles'][number],
  { pricesWithBackups }: Actual,
): number {
  const isBackedUp = backups !== undefined && backups.enabled !== false;
  return (isBackedUp && pricesWithBackups?.get(orderKey(plan, region, months))) || usd;
}

/** Names of the volumes that are attached with the order: they are new, or not attached. */
function orderedVolumes(server: string, desired: Desired, actual: Actual): string[] {
  return desired.volumes
    .filter((volume) => isWanted(volume) && volume.server === server)
    .map(({ name }) => name)
    .filter((name) => isDetached(actual.volumes.find((volume) => volume.name === name)));
}

/** Undefined: a volume that does not exist yet. */
export function isDetached(volume: ActualVolume | undefined): boolean {
  return volume === undefined || volume.attached_to === null;
}

/** Finds the image or the snapshot that a new server is installed from. */
function resolveSource(wanted: Placed<WantedServer>, actual: Actual) {
  const [snapshot, another] = namedSnapshots(wanted.image, actual);
  if (!snapshot) {
    const { image, faults } = resolveImage(wanted, actual);
    return { image: image && { id: image.id, title: formatImage(image.id, actual.images) }, faults };
  }
  const message = another
    ? `more than one snapshot is named "${wanted.image}"; use its ID`
    : snapshot.region !== wanted.region
      ? `snapshot ${snapshot.name} is in ${snapshot.region}, but the server is in ${wanted.region}`
      : snapshot.status !== 'ready'
        ? `snapshot ${snapshot.name} is not ready (status: ${snapshot.status})`
        : null;
  const exit = snapshot.status === 'ready' ? 'usage' : 'conflict';
  const faults: Fault[] = message === null ? [] : [{ place: `${wanted.place}.image`, message, exit }];
  return { image: { id: snapshot.id, title: `snapshot ${snapshot.name}` }, faults };
}

interface InstallChange {
  /** Why a rebuild is needed; empty: it is not. */
  readonly reasons: readonly string[];
  /** The ID of the image that would be installed. */
  readonly image: string | undefined;
  readonly faults: readonly Fault[];
  readonly notes: readonly string[];
}

export function compareInstall(
  wanted: Placed<WantedServer>,
  found: ActualServer,
  actual: Actual,
): InstallChange {
  const reasons: string[] = [];
  const notes: string[] = [];
  const isSnapshot = wanted.image.startsWith('snap_') || namedSnapshots(wanted.image, actual).length > 0;
  // The service does not show the snapshot that a server was installed from.
  const installed = isSnapshot || isInstalled(wanted.image, found.image, actual.images);
  if (installed === null) {
    notes.push(
      `the image of server ${wanted.name} is no longer offered; ` +
        `cannot determine whether it is ${wanted.image}`,
    );
  }
  if (installed === false)
    reasons.push(`image: ${formatImage(found.image, actual.images)} → ${wanted.image}`);
  const before = found.labels[USER_DATA_LABEL];
  const after = wanted.userData === undefined ? before : wanted.userData?.digest;
  if (before !== after) {
    reasons.push(`user data: ${before ?? 'none'} → ${after ?? 'none'}`);
    if (before === undefined) {
      reasons.push(
        'if it was installed with this user data, set the label to keep its disk:',
        `skerry server update ${found.id} --add-label ${USER_DATA_LABEL}=${after}`,
      );
    }
  }
  if (reasons.length === 0) return { reasons, image: undefined, faults: [], notes };
  if (isSnapshot) {
    const message = 'a server from a snapshot cannot be rebuilt with other user data; name an image instead';
    const fault: Fault = { place: `${wanted.place}.image`, message, exit: 'conflict' };
    return { reasons, image: undefined, faults: [fault], notes };
  }
  if (wanted.userData === undefined && before !== undefined) {
    reasons.push('the user data that it was installed with is not in the file and will not be reused');
  }
  // The installed image can be reinstalled even if it is no longer offered for new servers.
  if (installed !== false) return { reasons, image: found.image, faults: [], notes };
  const { image, faults } = resolveImage(wanted, actual);
  return { reasons, image: image?.id, faults, notes };
}

function resolveImage(wanted: Placed<WantedServer>, actual: Actual) {
  const image = selectImage(wanted.image, actual.images);
  const place = `${wanted.place}.image`;
  const faults: Fault[] = [];
  if (!image) {
    const message = `no available image matches "${wanted.image}"; see \`skerry image list\``;
    faults.push({ place, message, exit: 'usage' });
  } else if (wanted.userData && !image.cloud_init) {
    faults.push({
      place,
      message: `${wanted.image} has no cloud-init, which user data requires`,
      exit: 'usage',
    });
  }
  return { image, faults };
}

/** Returns the image that would be installed now: the newest match; undefined: there is none. */
function selectImage(stated: string, images: readonly ActualImage[]): ActualImage | undefined {
  const fitting = images.filter((image) => !image.deprecated_at && matchesImage(stated, image));
  return [...fitting].sort((one, other) => other.released_at.localeCompare(one.released_at))[0];
}

/**
 * Whether the installed image matches the file; null if the installed image is no longer known. A family
 * alone matches every version: a newer version is no reason to erase a disk.
 */
export function isInstalled(stated: string, imageId: string, images: readonly ActualImage[]): boolean | null {
  if (stated === imageId) return true;
  if (isImageId(stated)) return false;
  const image = images.find(({ id }) => id === imageId);
  return image === undefined ? null : matchesImage(stated, image);
}

/** `debian-12`, or the ID of an unknown image. */
function formatImage(imageId: string, images: readonly ActualImage[]): string {
  const image = images.find(({ id }) => id === imageId);
  return image ? `${image.family}-${image.version}` : imageId;
}
