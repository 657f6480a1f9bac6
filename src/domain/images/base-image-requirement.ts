/** Which official images can be installed where the driver installs from disks that the operator imports. */
import { fail } from '../../kernel/fail.ts';
import type { Service } from '../context.ts';

type Category = 'vps' | 'dedicated';

/** Of hardware that is sold by hand, the operator installs what he likes. */
export function requiresBaseImage({ compute }: Pick<Service, 'compute'>, category: Category): boolean {
  return compute.images !== null && compute.capabilities[category] !== null;
}

/** Why a plan cannot have the image; undefined where it can. */
export function baseImageProblem(
  service: Pick<Service, 'compute'>,
  plan: { readonly category: Category; readonly disk_gb: number },
  image: { readonly base_disk_gb: number | null },
): string | undefined {
  if (!requiresBaseImage(service, plan.category)) return undefined;
  if (image.base_disk_gb === null) return 'This image is not offered yet; choose another one.';
  if (image.base_disk_gb <= plan.disk_gb) return undefined;
  return `This image needs a disk of ${image.base_disk_gb} GiB; choose a larger plan, or another image.`;
}

/** Refuses with `unavailable` an official image that the plan cannot have. */
export function requireBaseImage(...args: Parameters<typeof baseImageProblem>): void {
  const problem = baseImageProblem(...args);
  if (problem !== undefined) fail('unavailable', { field: 'image' }, problem);
}
