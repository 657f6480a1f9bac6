/** What is on a server's disk: the image and the user data that it was installed with. */
import type { Actual, ActualServer } from '../actual.ts';
import type { Placed, WantedServer } from '../desired.ts';
import type { Fault } from '../faults.ts';
import { USER_DATA_LABEL } from '../file/fields.ts';
import { formatImage, isInstalled, selectImage } from './images.ts';
import { initialLabels } from './labels.ts';
import type { Action } from './plan.ts';

export interface ServerOrder {
  readonly action: Extract<Action, { do: 'create_server' }> | undefined;
  /** `debian-13` */
  readonly image: string;
  readonly faults: readonly Fault[];
}

/** What is to be bought, or why it cannot be. */
export function orderServer(
  wanted: Placed<WantedServer>,
  actual: Actual,
  project: string,
  months: number,
): ServerOrder {
  const faults: Fault[] = [];
  const { place } = wanted;
  const plan = actual.plans.find(({ id }) => id === wanted.plan);
  const region = actual.regions.find(({ id }) => id === wanted.region);
  const usage = (field: string, message: string) =>
    faults.push({ place: `${place}.${field}`, message, exit: 'usage' });
  if (!plan) usage('plan', `there is no plan "${wanted.plan}": see \`skerry plan list\``);
  if (!region) usage('region', `there is no region "${wanted.region}": see \`skerry region list\``);
  if (plan && region && !plan.available_in.includes(region.id)) {
    const where = plan.available_in.length > 0 ? `only in ${plan.available_in.join(', ')}` : 'nowhere';
    const message = `${plan.id} is not to be had in ${region.id} now, ${where}`;
    faults.push({ place: `${place}.plan`, message, exit: 'refused' });
  }
  const { image, faults: imageFaults } = resolveImage(wanted, actual);
  faults.push(...imageFaults);
  const price = plan?.cycles.find(({ billing_months }) => billing_months === months);
  if (plan && !price) usage('billing_months', `${plan.id} is not sold for ${months} months`);
  const action =
    faults.length === 0 && image && price
      ? ({
          do: 'create_server',
          server: wanted,
          image: image.id,
          labels: initialLabels(wanted, project),
          months: price.billing_months,
          priceUsd: price.price_usd,
        } as const)
      : undefined;
  return { action, image: image ? formatImage(image.id, actual.images) : wanted.image, faults };
}

export interface InstallChange {
  /** Why the disk must be written anew; empty: it need not. */
  readonly reasons: readonly string[];
  /** The id of what would be installed. */
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
  const installed = isInstalled(wanted.image, found.image, actual.images);
  if (installed === null) {
    notes.push(
      `server ${wanted.name} has an image that is no longer offered: whether it is ${wanted.image} cannot be told`,
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
        'if it was installed with this user data, say so, and it keeps its disk:',
        `skerry server update ${found.id} --add-label ${USER_DATA_LABEL}=${after}`,
      );
    }
  }
  if (reasons.length === 0) return { reasons, image: undefined, faults: [], notes };
  if (wanted.userData === undefined && before !== undefined) {
    reasons.push('the user data that it was installed with is not in the file, and is not applied again');
  }
  // What is installed may be installed again, also when it is no longer offered for new servers.
  if (installed !== false) return { reasons, image: found.image, faults: [], notes };
  const { image, faults } = resolveImage(wanted, actual);
  return { reasons, image: image?.id, faults, notes };
}

function resolveImage(wanted: Placed<WantedServer>, actual: Actual) {
  const image = selectImage(wanted.image, actual.images);
  const place = `${wanted.place}.image`;
  const faults: Fault[] = [];
  if (!image) {
    const message = `there is no image "${wanted.image}" that can be installed: see \`skerry image list\``;
    faults.push({ place, message, exit: 'usage' });
  } else if (wanted.userData && !image.cloud_init) {
    faults.push({
      place,
      message: `${wanted.image} has no cloud-init, which reads user data`,
      exit: 'usage',
    });
  }
  return { image, faults };
}
